/** Every process that a projection needs is killed while it works; nothing may be lost and nothing taken twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { EventStore, Position } from '@ledger/event-store/event-store.ts';
import { candidaciesFor } from '@ledger/postgres/leader-locks.ts';
import test, { type ExecutionContext } from 'ava';
import { payments } from '../../src/projections/payments/projection.ts';
import { createPaymentQueries } from '../../src/projections/payments/queries.ts';
import { postgresPids, query, until } from '../embedded/helpers.ts';
import { personalData } from '../support/personal-data.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { eventCounts, seen } from './event-counts.ts';
import {
  append,
  type Database,
  emptyDatabase,
  end,
  foldAfresh,
  methodChosen,
  paymentRequested,
  reached,
  run,
  startRunner,
  startStoreProcess,
  startStores,
  statusOf,
} from './helpers.ts';

const postgres = await startOwnPostgres();

const streams = 4;
const eventsEach = 30;

/** Appends one event to each stream in turn, without haste, so that outages fall between and within batches. */
async function appendSlowly(eventStore: EventStore): Promise<Position> {
  let position: Position = { commit: 0n, prepare: 0n };
  for (let revision = 0; revision < eventsEach; revision += 1) {
    const event = revision === 0 ? paymentRequested() : methodChosen(revision);
    const expected = revision === 0 ? 'no_stream' : revision - 1;
    const appended = await Promise.all(
      Array.from({ length: streams }, (_, stream) => append(eventStore, `P${stream}`, [event], expected)),
    );
    position = appended.reduce((last, one) => (one.commit > last.commit ? one : last), position);
    await sleep(40);
  }
  return position;
}

/** Both projections have taken every event, and each once. */
async function allTakenOnce(t: ExecutionContext, { db }: Database, eventStore: EventStore, last: Position) {
  await Promise.all([reached(db, 'event_counts', last), reached(db, 'payments', last)]);
  const expected = Array.from({ length: streams }, (_, stream) =>
    Array.from({ length: eventsEach }, (_, revision) => `payment-P${stream} ${revision}`),
  ).flat();
  t.deepEqual(await seen(db), expected);
  const { findPayment } = createPaymentQueries(db, personalData, async () => {});
  for (let stream = 0; stream < streams; stream += 1) {
    t.deepEqual<unknown, unknown>(
      await findPayment(`P${stream}`),
      await foldAfresh(eventStore, `P${stream}`),
    );
  }
}

test.serial('kill -9 of the projections, again and again', async (t) => {
  const { database, store } = await startStores(t, postgres);
  let over = false;
  const appending = appendSlowly(store.eventStore).finally(() => {
    over = true;
  });
  for (let kills = 0; kills < 3; kills += 1) {
    const before = (await statusOf(database.db, 'event_counts'))?.position?.commit;
    const runner = startRunner(t, store, database);
    // At the earliest when it has begun to move, and then anywhere.
    await until(
      async () => over || (await statusOf(database.db, 'event_counts'))?.position?.commit !== before,
    );
    await sleep(Math.random() * 100);
    await end(runner);
  }
  startRunner(t, store, database);
  await allTakenOnce(t, database, store.eventStore, await appending);
});

test.serial('kill -9 of the event store and of Postgres', async (t) => {
  const [database, store] = await Promise.all([emptyDatabase(postgres), startStoreProcess(t)]);
  const { eventStore } = store;
  for (const projection of [payments, eventCounts]) run(t, projection, store, database);
  const appending = appendSlowly(eventStore);
  await until(async () => (await statusOf(database.db, 'payments'))?.position);
  await store.kill();
  await sleep(200);
  const { postmaster } = await postgresPids(postgres.dataDir);
  process.kill(postmaster, 'SIGKILL');
  await until(async () => (await statusOf(database.db, 'payments')) !== undefined);
  await store.kill();
  await allTakenOnce(t, database, eventStore, await appending);
});

test.serial('sessions that Postgres ends, that of the lock too', async (t) => {
  const { database, store, eventStore } = await startStores(t, postgres);
  for (const projection of [payments, eventCounts]) run(t, projection, store, database);
  const appending = appendSlowly(eventStore);
  for (let round = 0; round < 5; round += 1) {
    await sleep(200);
    await query(
      database.url,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ledger%'`,
    );
  }
  await allTakenOnce(t, database, eventStore, await appending);
});

test.serial('one process leads; the other takes over when it is killed', async (t) => {
  const { database, store } = await startStores(t, postgres);
  const candidacies = () => candidaciesFor(database.db, ['event_counts', 'payments']);
  const led = async () => (await candidacies()).filter(({ leads }) => leads).map(({ name }) => name);
  const both = ['event_counts', 'payments'];
  // Not at every moment: the processes share the leaderships, and one that is given up is taken a little later.
  const bothAreLed = () => until(async () => isDeepStrictEqual((await led()).toSorted(), both));

  const first = startRunner(t, store, database);
  await bothAreLed();
  startRunner(t, store, database);
  await until(async () => new Set((await candidacies()).map(({ process }) => process)).size === 2);
  const appending = appendSlowly(store.eventStore);
  await until(async () => (await statusOf(database.db, 'payments'))?.position);
  await bothAreLed();
  await end(first);
  await allTakenOnce(t, database, store.eventStore, await appending);
  await bothAreLed();
});

test.serial(
  'a frozen Postgres: reads are refused while it lasts, and everything goes on after it',
  async (t) => {
    const { database, store, eventStore } = await startStores(t, postgres);
    const { db, url } = database;
    run(t, payments, store, database);
    await reached(db, 'payments', await append(eventStore, 'A', [paymentRequested()]));
    const { postmaster } = await postgresPids(postgres.dataDir);
    const processes = [
      postmaster,
      ...(await query(url, 'select pid from pg_stat_activity')).map(({ pid }) => Number(pid)),
    ];
    const send = (signal: NodeJS.Signals) => {
      for (const pid of processes) tryKill(pid, signal);
    };
    t.teardown(() => send('SIGCONT'));
    send('SIGSTOP');
    await t.throwsAsync(createPaymentQueries(db, personalData, async () => {}).findPayment('A'));
    const position = await append(eventStore, 'A', [methodChosen()], 0);
    send('SIGCONT');
    await reached(db, 'payments', position);
    t.is((await createPaymentQueries(db, personalData, async () => {}).findPayment('A'))?.revision, 1);
  },
);

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // That session has ended since.
  }
}
