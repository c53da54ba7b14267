import { execFileSync, spawnSync } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { briefReasonOf, isConnectionFailure, reasonWithoutValues } from '@ledger/postgres/error-codes.ts';
import { connectPostgres, createClient } from '@ledger/postgres/pool.ts';
import test from 'ava';
import createKnex from 'knex';
import { freePort } from '../../packages/embedded/free-port.ts';
import { query, temporaryFolder, until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';

const { url: sharedUrl } = await createDatabase();

test('a whole number that JavaScript cannot hold is refused, not rounded', async (t) => {
  const db = connectPostgres({ url: sharedUrl, log });
  t.teardown(() => db.destroy());
  const numberOf = async (text: string) => (await db.raw('select ?::bigint as n', [text])).rows[0].n;
  t.is(await numberOf('-9007199254740991'), Number.MIN_SAFE_INTEGER);
  await t.throwsAsync(numberOf('9007199254740993'), { instanceOf: RangeError });
});

test('times are read in whatever style the database shows them', async (t) => {
  const { url } = await createDatabase();
  const name = new URL(url).pathname.slice(1);
  await query(url, `alter database ${name} set datestyle = 'SQL, DMY'`);
  const db = connectPostgres({ url, log });
  t.teardown(() => db.destroy());
  const { rows } = await db.raw(`select timestamptz '2026-11-05 12:00:00Z' as at`);
  t.deepEqual(rows[0].at, new Date('2026-11-05T12:00:00Z'));
});

test('the reason for a log line is what PostgreSQL answered, without the statement', async (t) => {
  const url = sharedUrl;
  const db = connectPostgres({ url, log });
  t.teardown(() => db.destroy());
  const error = await t.throwsAsync(
    db.transaction(async (trx) => {
      await trx.raw('set transaction read only');
      await trx.raw('create table anything (id integer)');
    }),
  );
  t.is(briefReasonOf(error), 'cannot execute CREATE TABLE in a read-only transaction');
  const broken = new Error('select 1 - Connection terminated unexpectedly');
  t.is(briefReasonOf(broken), 'Connection terminated unexpectedly');
  t.is(briefReasonOf(new Error('refused - for now')), 'refused - for now');
  t.is(reasonWithoutValues(broken), 'Connection terminated unexpectedly');
  t.is(reasonWithoutValues(error), '25006');
});

test('that all connections were in use is said without advice to programmers', async (t) => {
  const db = createKnex({
    client: 'pg',
    connection: sharedUrl,
    pool: { min: 0, max: 1 },
    acquireConnectionTimeout: 2_000,
  });
  t.teardown(() => db.destroy());
  const error = await db.transaction(() => t.throwsAsync(db.raw('select 1')));
  t.true(isConnectionFailure(error));
  t.is(briefReasonOf(error), 'no connection was free in time');
});

/** The sessions in the database of which a condition is true. */
async function countSessions(url: string, condition: string): Promise<number> {
  const sql = `select pid from pg_stat_activity where datname = current_database() and ${condition}`;
  return (await query(url, sql)).length;
}

test.serial('of the connections that a burst has opened, one stays', async (t) => {
  const { url } = await createDatabase();
  const db = connectPostgres({ url, log });
  t.teardown(() => db.destroy());
  // What a pool looks at its idle connections by.
  mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
  t.teardown(() => mock.timers.reset());
  const connections = () => countSessions(url, `application_name = 'ledger'`);
  await Promise.all([1, 2, 3].map(() => db.raw('select pg_sleep(0.2)')));
  t.is(await connections(), 3);
  mock.timers.tick(10_000);
  await until(async () => (await connections()) === 1);
});

test('queries that timed out while they waited for a lock leave no sessions behind', async (t) => {
  const { url } = await createDatabase();
  await query(url, 'create table rows (id integer)');
  const [db, holder] = [connectPostgres({ url, log }), connectPostgres({ url, log })];
  t.teardown(() => Promise.all([db.destroy(), holder.destroy()]));
  const waiting = () => countSessions(url, `wait_event_type = 'Lock'`);
  await holder.transaction(async (trx) => {
    await trx.raw('lock table rows');
    const errors = await Promise.all([1, 2, 3].map(() => t.throwsAsync(db('rows').timeout(300))));
    t.is(briefReasonOf(errors[0]), 'no answer within 300 ms');
    t.is(reasonWithoutValues(errors[0]), 'no answer within 300 ms');
    const isOver = async () => {
      // What times out stays in the pool until the next query; a transaction that does nothing is ended.
      await Promise.all([db.raw('select 1'), trx.raw('select 1')]);
      return (await waiting()) === 0;
    };
    const beganMs = performance.now();
    await until(isOver);
    t.true(performance.now() - beganMs < 20_000, 'not only after the 25 s that a statement may take');
  });
});

/** A log, and all that is written to it. */
function keepLines() {
  const lines: unknown[] = [];
  const writes = (line: unknown) => lines.push(line);
  return { lines, log: { warn: writes, error: writes } as unknown as typeof log };
}

test('a query that finds no server rejects, and writes no line', async (t) => {
  const { lines, log } = keepLines();
  const db = connectPostgres({ url: `postgres://127.0.0.1:${await freePort()}/ledger`, log });
  t.teardown(() => db.destroy());
  t.true(isConnectionFailure(await t.throwsAsync(db.raw('select 1'))));
  t.deepEqual(lines, []);
});

test.serial('a name server that does not answer is a failed connection', async (t) => {
  const error = Object.assign(new Error('getaddrinfo EAI_AGAIN db.internal'), { code: 'EAI_AGAIN' });
  const lookup = mock.method(dns, 'lookup', (...given: unknown[]) =>
    (given.at(-1) as (error: Error) => void)(error),
  );
  const db = connectPostgres({ url: 'postgres://db.internal/ledger', log });
  t.teardown(() => db.destroy());
  t.true(isConnectionFailure(await t.throwsAsync(db.raw('select 1'))));
  t.true(lookup.mock.callCount() > 0);
  lookup.mock.restore();
});

const withOpenssl = spawnSync('openssl', ['version']).status === 0 ? test : test.skip;
withOpenssl('a certificate that is not trusted is a failed connection', async (t) => {
  const folder = await temporaryFolder(t);
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-nodes', '-subj', '/CN=127.0.0.1', ...made], { stdio: 'ignore' });
  const secure = { isServer: true, key: readFileSync(key), cert: readFileSync(cert) };
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, secure).on('error', () => {});
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const encrypted = connectPostgres({ url: `postgres://127.0.0.1:${port}/ledger?sslmode=verify-full`, log });
  t.teardown(() => encrypted.destroy());
  const refused = await t.throwsAsync(encrypted.raw('select 1'));
  t.regex(briefReasonOf(refused), /^self-signed certificate/);
  t.true(isConnectionFailure(refused));
});

/** The time until the kernel asks whether the other side is still there; null if it never asks. */
function keepAliveMs(localPort: number): number | null {
  const isOurs = (line: string) =>
    line
      .trim()
      .split(/\s+/)[1]
      ?.endsWith(`:${hex(localPort)}`);
  const line = ['tcp', 'tcp6']
    .flatMap((file) => readFileSync(`/proc/net/${file}`, 'utf8').split('\n'))
    .find(isOurs);
  // `02:` is the timer of keep-alive, in hundredths of a second.
  const [, hundredths] = / 02:([0-9A-F]{8}) /.exec(line ?? '') ?? [];
  return hundredths === undefined ? null : Number.parseInt(hundredths, 16) * 10;
}

const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

/** After a failover, what listens has to connect again: keys of personal data that the old server took alone are lost. */
const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux(
  'a connection that only listens notices soon that the machine of the server has vanished',
  async (t) => {
    const { url } = await createDatabase();
    const client = createClient(url, 'ledger test');
    await client.connect();
    t.teardown(() => client.end());
    await client.query('listen anything');
    await until(async () => keepAliveMs(Reflect.get(client.connection.stream, 'localPort')) !== null);
    const ms = keepAliveMs(Reflect.get(client.connection.stream, 'localPort')) ?? Number.POSITIVE_INFINITY;
    t.true(ms <= 10_000, `${ms} ms`);
  },
);

test('a connection that breaks in a statement is a failed connection and no bug, and writes no line', async (t) => {
  const { lines, log } = keepLines();
  const { url: direct } = await createDatabase();
  const { hostname, port } = new URL(direct);
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    sockets.push(client, server);
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.pipe(server).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => proxy.close());
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const url = new URL(direct);
  url.host = `127.0.0.1:${address.port}`;
  const db = connectPostgres({ url: url.href, log });
  t.teardown(() => db.destroy());
  await db.raw('select 1');
  const sleeping = "select 1 from pg_stat_activity where query = 'select pg_sleep(60)'";
  const broken = db.raw('select pg_sleep(60)').then(
    () => null,
    (error: unknown) => error,
  );
  await until(() => query(direct, sleeping).then(({ length }) => length > 0));
  for (const socket of sockets) socket.destroy();
  t.true(isConnectionFailure(await broken));
  await db.raw('select 1');
  t.deepEqual(lines, []);
});

test('a connection that breaks between two statements of a transaction is a failed connection, too', async (t) => {
  const { url } = await createDatabase();
  const db = connectPostgres({ url, log });
  t.teardown(() => db.destroy());
  const broken = await db
    .transaction(async (trx) => {
      const { rows } = await trx.raw('select pg_backend_pid() as pid');
      await query(url, `select pg_terminate_backend(${rows[0].pid})`);
      await sleep(200);
      await trx.raw('select 1');
    })
    .catch((error: unknown) => error);
  t.true(isConnectionFailure(broken), String(broken));
});

test('a bug in which a statement speaks of connections is no failed connection', (t) => {
  for (const message of [
    `select 'timeout expired' - undefined binding(s) detected`,
    'insert into notes - the column has no default: timeout expired',
  ])
    t.false(isConnectionFailure(new Error(message)), message);
});
