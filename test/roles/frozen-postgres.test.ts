// A role that is asked to stop while PostgreSQL is frozen: it must not wait for answers that never come.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres, cutIfFrozen } from '@ledger/postgres/pool.ts';
import { RebuildInterrupted } from '@ledger/projections/rebuild/rebuild.ts';
import test from 'ava';
import { rebuildInProcess } from '../../src/roles/children.ts';
import { startRole } from '../e2e/ledger.ts';
import { signalPostgres, temporaryFolder, until } from '../embedded/helpers.ts';
import { append, emptyDatabase, log, paymentRequested, startStore } from '../projections/helpers.ts';
import { settingsFor } from '../support/ledger.ts';
import { createDatabase, startOwnPostgres } from '../support/postgres.ts';

const postgres = await startOwnPostgres();

test('every role ends, and waits for no answer', async (t) => {
  const store = await startStore(t);
  const environment = {
    ...settingsFor({ esdbUrl: store.url, databaseUrl: postgres.url }),
    SEAL_KEY: '5'.repeat(64),
    DATA_DIR: await temporaryFolder(t),
    PORT: '0',
  };
  const running = await Promise.all(
    ['http', 'projections', 'reactors'].map((name) =>
      startRole(t, [name], environment, (output) => output.includes('"msg":"started"')),
    ),
  );
  await sleep(3_000);
  const db = connectPostgres({ url: postgres.url, log });
  t.teardown(() => db.destroy());
  await db.raw('select 1');
  // Given up after 30 s, sooner than what they ask from now on.
  const unanswered = db.raw('select pg_sleep(5)').catch(() => 'a query');
  t.teardown(() => signalPostgres(postgres.dataDir, 'SIGCONT'));
  await signalPostgres(postgres.dataDir, 'SIGSTOP');
  // What it leads to in the tables is asked for, and never answered.
  await append(store.eventStore, 'A', [paymentRequested()]);
  await sleep(1_500);
  const stops = Promise.all(running.map((role) => role.stop()));
  const end = await Promise.race([stops.then(() => 'the roles'), unanswered]);
  await signalPostgres(postgres.dataDir, 'SIGCONT');
  t.is(end, 'the roles');
  t.deepEqual(await stops, [0, 0, 0], running.map((role) => role.output()).join('\n'));
});

test('the process of a rebuild that does not stop when it is asked to is killed', async (t) => {
  const { url: databaseUrl } = await createDatabase();
  const stopping = new AbortController();
  let begun: ChildProcess | undefined;
  const onChild = (message: unknown) => {
    begun = (message as { process: ChildProcess }).process;
  };
  subscribe('child_process', onChild);
  t.teardown(() => unsubscribe('child_process', onChild));
  const { signal } = stopping;
  const rebuild = rebuildInProcess({ databaseUrl, name: 'payments', runtime: systemRuntime, signal });
  // As soon as it is there: without a configuration, it ends soon.
  const pid = await until(() => begun?.pid);
  process.kill(pid, 'SIGSTOP');
  const stateOf = () => spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  await until(() => stateOf().startsWith('T'));
  stopping.abort();
  await t.throwsAsync(rebuild, { instanceOf: RebuildInterrupted, message: /SIGKILL/ });
});

test.serial('connections are cut only if the server does not answer', async (t) => {
  const { db, url } = await emptyDatabase(postgres);
  const slow = db.raw('select pg_sleep(1)');
  await cutIfFrozen(url);
  await t.notThrowsAsync(slow);
  const waiting = db.raw('select pg_sleep(1)').then(
    () => 'an answer',
    () => 'an error',
  );
  await sleep(200);
  await signalPostgres(postgres.dataDir, 'SIGSTOP');
  await cutIfFrozen(url);
  const end = await waiting;
  await signalPostgres(postgres.dataDir, 'SIGCONT');
  t.is(end, 'an error');
});
