// What every command says while a store is away: one sentence, exit code 75.
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test from 'ava';
import { pino } from 'pino';
import { startEventStore } from '../../packages/embedded/eventstore/server.ts';
import { everyEvents, sealByRunningHash } from '../audit/ledger.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { newEvent, open, range, startServer } from '../event-store/helpers.ts';
import { runLedger, settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';

const nothing = { esdbUrl: 'esdb://127.0.0.1:9?tls=false', databaseUrl: 'postgres://127.0.0.1:9/nothing' };
const eventStoreIsAway = 'ESDB_URL: the event store does not answer.\n';
const postgresIsAway = 'PostgreSQL does not answer: connect ECONNREFUSED 127.0.0.1:9';

for (const [command, ...args] of [
  ['users', 'list'],
  ['history', 'INV-1'],
  ['proof', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ['seals'],
])
  test(`${command}: the event store is away, and PostgreSQL is not needed`, async (t) => {
    const env = { ...settingsFor(nothing), DATA_DIR: await temporaryFolder(t) };
    t.like(await runLedger([`${command}`, ...args], env), { code: 75, stdout: '', stderr: eventStoreIsAway });
  });

for (const [command, ...args] of [
  ['verify'],
  ['rebuild', 'payments'],
  ['balances'],
  ['export', '--from', '2026-11-20', '--to', '2026-11-20'],
  ['send-again', '--from', '2026-11-20'],
  ['subject-access', '--payer', 'aminah@agency.example'],
  ['database', 'grants', '--run'],
]) {
  test(`${command}: both stores are away`, async (t) => {
    const env = { ...settingsFor(nothing), DATA_DIR: await temporaryFolder(t) };
    const stderr =
      command === 'database'
        ? `${postgresIsAway}\n`
        : `${eventStoreIsAway}DATABASE_URL: ${postgresIsAway}.\n`;
    t.like(await runLedger([`${command}`, ...args], env), { code: 75, stdout: '', stderr });
  });
}

test('export: the merchants file, which has keys, is needed only to know a merchant by', async (t) => {
  const env = { ...settingsFor(nothing), MERCHANTS_FILE: '/nowhere', DATA_DIR: await temporaryFolder(t) };
  const days = ['export', '--from', '2026-11-20', '--to', '2026-11-20'];
  t.like(await runLedger(days, env), { code: 75 });
  t.like(await runLedger([...days, '--merchant', '12'], env), { code: 78 });
});

test('load: no ledger answers where payments would be asked for', async (t) => {
  const env = { ...settingsFor(nothing), BASE_URL: 'http://127.0.0.1:9', DATA_DIR: await temporaryFolder(t) };
  const stderr = 'No ledger answers at http://127.0.0.1:9; PORT names another port.\n';
  t.like(await runLedger(['load', '--payments', '1'], env), { code: 75, stdout: '', stderr });
});

test('load: what answers is no ledger', async (t) => {
  for (const body of ['<h1>Hello</h1>', '{"status":true}', 'null']) {
    const other = createHttpServer((_, answer) => answer.end(body)).listen(0, '127.0.0.1');
    t.teardown(() => void other.close());
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const env = { ...settingsFor(nothing), BASE_URL: url, DATA_DIR: await temporaryFolder(t) };
    const stderr = `What answers at ${url} is not a ledger.\n`;
    t.like(await runLedger(['load', '--payments', '1'], env), { code: 1, stdout: '', stderr });
  }
});

test('a port that accepts and never answers is noticed', async (t) => {
  const mute = createServer().listen(0, '127.0.0.1');
  t.teardown(() => void mute.close());
  await once(mute, 'listening');
  const host = `127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const urls = { esdbUrl: `esdb://${host}?tls=false`, databaseUrl: `postgres://${host}/nothing` };
  const env = { ...settingsFor(urls), DATA_DIR: await temporaryFolder(t) };
  const ended = await Promise.all(['status', 'verify', 'seals'].map((name) => runLedger([name], env)));
  t.deepEqual(
    ended.map(({ code }) => code),
    [75, 75, 75],
  );
});

test('a ledger that does not run is named, and how to start it', async (t) => {
  const folder = await temporaryFolder(t);
  const { code, stderr } = await runLedger(['balances'], { DATA_DIR: folder });
  t.is(code, 75);
  t.is(
    stderr,
    `No ledger runs in ${folder}: run npm start, or set DATA_DIR to its folder, or ESDB_URL and DATABASE_URL.\n`,
  );
});

test('a command that reads the log needs no PostgreSQL', async (t) => {
  const { port } = await startServer(t);
  const esdbUrl = `esdb://127.0.0.1:${port}?tls=false`;
  const env = { ...settingsFor({ ...nothing, esdbUrl }), DATA_DIR: await temporaryFolder(t) };
  t.like(await runLedger(['users', 'list'], env), { code: 0, stderr: '' });
  t.like(await runLedger(['balances'], env), { code: 75, stderr: `DATABASE_URL: ${postgresIsAway}.\n` });
});

test('a backup of stores that are elsewhere needs no data folder, and says what is missing without one', async (t) => {
  const [{ port }, { url: databaseUrl }] = [await startServer(t), await createDatabase()];
  const folder = await temporaryFolder(t);
  const [backup, DATA_DIR] = [join(folder, 'backup'), join(folder, 'data')];
  const env = { ...settingsFor({ esdbUrl: `esdb://127.0.0.1:${port}?tls=false`, databaseUrl }), DATA_DIR };
  const made = await runLedger(['backup', backup], env);
  t.is(made.code, 0, made.output);
  t.regex(made.stdout, /^The backup is in .*\n.*\n`ledger status` will not show it: ENOENT/);
  t.true((await readdir(backup)).includes('eventstore.db'));
});

test('a log whose file the disk has damaged is not backed up', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'events.db');
  const start = () => startEventStore({ file, host: '127.0.0.1', port: 0 });
  await (await start()).close();
  const bytes = await readFile(file);
  const pageBytes = bytes.readUInt16BE(16);
  const leafOfIndex = 10;
  const pages = Array.from({ length: bytes.length / pageBytes }, (_, number) => number * pageBytes);
  const damaged = pages.findLast((at) => bytes[at] === leafOfIndex) ?? 0;
  await writeFile(file, bytes.fill(7, damaged, damaged + 8));
  const { port, close } = await start();
  t.teardown(close);
  const urls = { esdbUrl: `esdb://127.0.0.1:${port}?tls=false`, databaseUrl: (await createDatabase()).url };
  const env = { ...settingsFor(urls), DATA_DIR: folder };
  const { code, stderr } = await runLedger(['backup', join(folder, 'backup')], env);
  t.is(code, 1);
  t.regex(stderr, /^The file of the event store is damaged \(.*\), so a copy of it is no backup\./);
  t.false((await readdir(folder)).some((name) => name.startsWith('backup')));
});

test('status says what it can find out while a store is away', async (t) => {
  const { url: databaseUrl } = await createDatabase();
  const env = { ...settingsFor({ ...nothing, databaseUrl }), DATA_DIR: await temporaryFolder(t) };
  const { code, stdout, stderr } = await runLedger(['status'], env);
  t.deepEqual([code, stderr], [75, '']);
  for (const line of [
    'Event store  down',
    'PostgreSQL   up, ',
    'Process      none follows the log',
    'Last seal    not known',
    'Last check   none yet',
    'Last backup  none',
  ])
    t.true(stdout.includes(`\n${line}`), stdout);
  const bothAway = await runLedger(['status', '--json'], { ...settingsFor(nothing), DATA_DIR: env.DATA_DIR });
  t.like(JSON.parse(bothAway.stdout), {
    status: 'error',
    postgres: 'down',
    exceptions: null,
    processes: null,
  });
  t.is(bothAway.code, 75);
});

test('status says when the last seal was made, and why the sealer refuses', async (t) => {
  const [{ port }, { url: databaseUrl }] = [await startServer(t), await createDatabase()];
  const db = connectPostgres({ url: databaseUrl, log: pino({ level: 'silent' }) });
  t.teardown(() => db.destroy());
  await db.raw('create table log_checkpoint (id integer primary key, checkpoint text, refused text)');
  await db.raw(`insert into log_checkpoint values (1, null, 'The log does not agree with seal 3')`);
  const env = {
    ...settingsFor({ esdbUrl: `esdb://127.0.0.1:${port}?tls=false`, databaseUrl }),
    DATA_DIR: await temporaryFolder(t),
  };
  const eventStore = open(t, port);
  await eventStore.append('user-1', range(everyEvents).map(newEvent), 'no_stream');
  await sealByRunningHash(eventStore);
  const { code, stdout, stderr } = await runLedger(['status'], env);
  t.is(code, 1, stdout + stderr);
  t.regex(stdout, /^Last seal {4}2026-11-20T10:00:00\+08:00, 5 events$/m);
  t.regex(stdout, /^Not sealed {3}The log does not agree with seal 3: run `ledger verify`$/m);
});

test('rebuild: PostgreSQL that takes no writes is a store that is away', async (t) => {
  const [{ port }, { url: databaseUrl }] = [await startServer(t), await createDatabase()];
  const db = connectPostgres({ url: databaseUrl, log: pino({ level: 'silent' }) });
  t.teardown(() => db.destroy());
  await db.raw(
    `alter database "${new URL(databaseUrl).pathname.slice(1)}" set default_transaction_read_only = on`,
  );
  const env = {
    ...settingsFor({ esdbUrl: `esdb://127.0.0.1:${port}?tls=false`, databaseUrl }),
    DATA_DIR: await temporaryFolder(t),
  };
  const { code, stderr } = await runLedger(['rebuild', '--dry-run', 'projects'], env);
  t.is(code, 75, stderr);
  t.regex(stderr, /^projects: PostgreSQL takes no writes at present\.$/m);
});

test('status before any role has run is degraded, even if PostgreSQL is slow', async (t) => {
  const { port } = await startServer(t);
  const databaseUrl = new URL((await createDatabase()).url);
  const to = Number(databaseUrl.port);
  const slow = createServer((near) => {
    near.on('error', () => {});
    setTimeout(() => near.pipe(connect(to, '127.0.0.1').on('error', () => {})).pipe(near), 1_000);
  }).listen(0, '127.0.0.1');
  t.teardown(() => void slow.close());
  await once(slow, 'listening');
  databaseUrl.port = String((slow.address() as AddressInfo).port);
  const env = {
    ...settingsFor({ esdbUrl: `esdb://127.0.0.1:${port}?tls=false`, databaseUrl: databaseUrl.href }),
    DATA_DIR: await temporaryFolder(t),
  };
  const { code, stdout } = await runLedger(['status'], env);
  t.is(code, 1, stdout);
  t.regex(stdout, /^Projection {3}payments: stopped, .*It has never run$/m);
});
