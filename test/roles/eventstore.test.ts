// `ledger eventstore` and the roles with wrong arguments or a wrong environment: a sentence each, never a stack.
import { once } from 'node:events';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test from 'ava';
import { UsageError } from '../../src/cli/command.ts';
import { command as eventstore } from '../../src/roles/eventstore.ts';
import { startRole } from '../e2e/ledger.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { type Environment, runLedger, settingsFor } from '../support/ledger.ts';

/** Runs a command to its end. */
const run = (args: readonly string[], environment: Environment = {}, cwd = process.cwd()) =>
  runLedger(args, environment, { cwd });

test('an invalid port is a usage error', async (t) => {
  for (const port of ['abc', '70000', '-1', ''])
    await t.throwsAsync(eventstore({ port }, []), {
      instanceOf: UsageError,
      message: '--port must be a number from 0 to 65535',
    });
});

/** What it says of a configuration that it refuses, which it reads before anything else. */
async function refusalOf(
  options: Parameters<typeof eventstore>[0],
  environment: Environment = {},
): Promise<string> {
  const before = { ...process.env };
  Object.assign(process.env, environment);
  const refused = Promise.resolve(eventstore({ port: '0', ...options }, [])).then(
    () => 'nothing',
    (error: unknown) => String((error as ConfigError).message),
  );
  for (const name of Object.keys(environment)) delete process.env[name];
  Object.assign(process.env, before);
  return await refused;
}

test('acl prints the rights of a user who is no administrator', async (t) => {
  const { code, stdout } = await runLedger(['eventstore', 'acl', '--user', 'pay'], {});
  t.is(code, 0);
  const rights = JSON.parse(stdout);
  t.deepEqual(rights.$$$all, { $acl: { $r: ['pay', '$admins'] } });
  t.like(rights.$settings.$userStreamAcl, { $r: ['pay', '$admins'], $w: ['pay'], $d: '$admins' });
  t.like(rights.$settings.$systemStreamAcl, { $r: '$admins', $w: '$admins' });
});

test('production refuses a store without a password, and nobody gets one by a file without a password; a missing folder is created; a file or a port in use is reported in a sentence', async (t) => {
  t.timeout(60_000);
  const folder = join(await temporaryFolder(t), 'not', 'there');
  const file = join(folder, 'events.db');
  const isUp = (output: string) => output.includes('event store listening');
  const production = { NODE_ENV: 'production' };
  const args = ['eventstore', '--port', '0', '--data', file];
  const open = await run(args, production);
  t.is(open.code, 78);
  t.is(
    open.output,
    `The configuration is invalid:
  - --password-file must name a file that holds a password in production, unless ALLOW_INSECURE names eventstore
`,
  );
  const short = join(await temporaryFolder(t), 'password');
  await writeFile(short, 'a short one');
  const exposed = { data: file, host: '0.0.0.0', 'password-file': short };
  t.is(
    await refusalOf(exposed, production),
    `The configuration is invalid:
  - --password-file must have at least 32 characters in production, unless ALLOW_INSECURE names short-secrets
  - --host must be this machine, as there is no TLS, in production, unless ALLOW_INSECURE names eventstore`,
  );
  const empty = join(await temporaryFolder(t), 'password');
  await writeFile(empty, '\n');
  const zeros = join(await temporaryFolder(t), 'password');
  await writeFile(zeros, Buffer.alloc(64));
  for (const passwordFile of [empty, zeros, join(folder, 'missing')])
    t.regex(
      await refusalOf({ data: file, 'password-file': passwordFile }),
      /- --password-file must name a file that can be read and holds a password$/,
    );
  const first = await startRole(t, args, { ...production, ALLOW_INSECURE: 'eventstore' }, isUp);
  t.is(first.output().match(/an insecure setting that ALLOW_INSECURE names/g)?.length, 1);
  t.is((await stat(folder)).mode & 0o777, 0o700);
  t.is((await stat(file)).mode & 0o777, 0o600);

  // Nothing to read again, as with `systemctl reload`: it goes on.
  first.signal('SIGHUP');
  const second = await run(['eventstore', '--port', '0', '--data', file]);
  t.is(second.code, 1);
  t.regex(second.output, /it is in use by another event store\n$/);
  const [, port = ''] = /esdb:\/\/127\.0\.0\.1:(\d+)/.exec(first.output()) ?? [];
  const third = await run(['eventstore', '--port', port, '--data', join(folder, 'other.db')]);
  t.is(third.code, 1);
  t.regex(third.output, /The event store cannot listen on 127\.0\.0\.1:/);
  for (const { output } of [second, third]) t.notRegex(output, /\n\s+at /);
});

test('a store that cannot be opened ends its process also under a supervisor, which starts it again or says why', async (t) => {
  t.timeout(60_000);
  const file = join(await temporaryFolder(t), 'events.db');
  await writeFile(file, 'no database, but longer than the header of one'.repeat(100));
  const args = ['eventstore', '--port', '0', '--data', file];
  const { code, output } = await runLedger(args, {}, { channel: true });
  t.is(code, 1);
  t.regex(output, /Cannot open the event store .*: file is not a database\n$/);
});

test('an empty DATA_DIR or NODE_COMPILE_CACHE counts as not set', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'data/keys.json'), '{"TRANSACTION_ID_KEY":"a key"}');
  const stores = { ESDB_URL: 'esdb://127.0.0.1:9?tls=false', DATABASE_URL: 'postgres://127.0.0.1:9/nowhere' };
  const { output } = await run(['http'], { DATA_DIR: '', NODE_COMPILE_CACHE: '', ...stores }, folder);
  t.regex(output, /GATEWAY_URL is not set/);
  t.notRegex(output, /TRANSACTION_ID_KEY is not set/);
  t.deepEqual(await readdir(folder), ['data'], 'compiled code is not kept here');
});

test('http that cannot listen ends, also while its stores are away', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const stores = { esdbUrl: 'esdb://127.0.0.1:9?tls=false', databaseUrl: 'postgres://127.0.0.1:9/nowhere' };
  const { code, output } = await run(['http'], {
    ...settingsFor(stores),
    PORT: String((taken.address() as AddressInfo).port),
    ADMIN_PORT: '0',
    DATA_DIR: await temporaryFolder(t),
  });
  t.is(code, 1);
  t.regex(output, /EADDRINUSE/);
});
