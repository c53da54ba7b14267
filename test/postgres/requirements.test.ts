import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { PostgresUnavailable, unsuitability } from '@ledger/postgres/requirements.ts';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { createDatabase } from '../support/postgres.ts';

test('an old version, a refusal and an unknown database are named; a server that serves is not', async (t) => {
  const { url } = await createDatabase();
  t.is(await unsuitability(url), null);
  t.regex((await unsuitability(url, 99)) ?? '', /^it is PostgreSQL \d.*; version 99 or newer is needed$/);
  await t.throwsAsync(unsuitability('postgres://127.0.0.1:9/nothing'), {
    instanceOf: PostgresUnavailable,
    message: 'PostgreSQL does not answer: connect ECONNREFUSED 127.0.0.1:9',
  });
  t.is(
    await unsuitability(url.replace('//ledger@', '//somebody@')),
    'PostgreSQL does not accept the user or the password',
  );
  t.is(await unsuitability(url.replace(/[^/]*$/, 'elsewhere')), 'PostgreSQL has no database of this name');
  t.is(
    await unsuitability(`${url}?sslmode=verify-full`),
    'there is no TLS connection to trust: The server does not support SSL connections',
  );
  t.is(
    await unsuitability(`${url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`),
    "it cannot be used: ENOENT: no such file or directory, open '/nowhere/ca.pem'",
    'waiting does not help',
  );
});

test('a server that knows no such host, user and database together says which', async (t) => {
  const message = 'no pg_hba.conf entry for host "10.0.0.7", user "ledger", database "ledger", no encryption';
  const fields = Buffer.from(`SFATAL\0C28000\0M${message}\0\0`);
  const server = createServer((socket) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + fields.length);
    socket
      .on('error', () => {})
      .on('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  t.is(
    await unsuitability(`postgres://ledger:secret@127.0.0.1:${port}/ledger`),
    `PostgreSQL does not let this user in from here: ${message}`,
  );
});

const hasBouncer = (() => {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const ignored = 'options,statement_timeout,idle_in_transaction_session_timeout';
const refused = 'it is a pooler that refuses what is needed:';

for (const [mode, ignores, expected] of [
  ['session', ignored, null],
  ['session', 'options', `${refused} unsupported startup parameter: statement_timeout`],
  ['statement', ignored, `${refused} transaction blocks not allowed in statement pooling mode`],
  ['transaction', ignored, 'it is a pooler in transaction mode; locks and notifications need session mode'],
] as const)
  (hasBouncer ? test : test.skip)(`PgBouncer in ${mode} mode that ignores ${ignores}`, async (t) => {
    const { url } = await createDatabase();
    const { hostname, port, pathname, username } = new URL(url);
    const folder = await temporaryFolder(t);
    chmodSync(folder, 0o755);
    const own = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(
      file,
      `[databases]\n* = host=${hostname} port=${port} user=${username}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${own}
auth_type = any\npool_mode = ${mode}\nunix_socket_dir =\nignore_startup_parameters = ${ignores}
`,
    );
    const isRoot = process.getuid?.() === 0;
    const bouncer = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), file], { stdio: 'ignore' });
    t.teardown(() => bouncer.kill('SIGKILL'));
    const through = `postgres://${username}@127.0.0.1:${own}${pathname}`;
    await until(async () => {
      const { Client } = (await import('pg')).default;
      const client = new Client({ connectionString: through });
      client.on('error', () => {});
      return await client.connect().then(
        () => client.end().then(() => true),
        () => false,
      );
    });
    t.is(await unsuitability(through), expected);
  });
