import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { readBatches } from '@ledger/projections/runtime/batches.ts';
import test from 'ava';
import { until } from '../../embedded/helpers.ts';
import { electionOn } from '../../support/leader-election.ts';
import { createDatabase } from '../../support/postgres.ts';
import { eventCounts, seen } from '../event-counts.ts';
import {
  append,
  methodChosen,
  paymentRequested,
  reached,
  run,
  startStore,
  startStores,
  startStoresApart,
  statusOf,
} from '../helpers.ts';

const postgres = await createDatabase();

test.serial('a long log is taken in order, once, and a stopped run goes on where it stood', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  const start = () => run(t, eventCounts, store, database);
  await append(eventStore, 'A', [paymentRequested()]);
  const attempts = Array.from({ length: 1_300 }, () => methodChosen());
  const first = await append(eventStore, 'A', attempts, 0);
  const running = start();
  await reached(db, 'event_counts', first);
  await running.stop();
  t.is((await statusOf(db, 'event_counts'))?.position?.commit, first.commit);

  const second = await append(eventStore, 'B', [paymentRequested(), methodChosen()]);
  const next = start();
  await reached(db, 'event_counts', second);
  await next.stop();
  const expected = [
    ...Array.from({ length: 1_301 }, (_, revision) => `payment-A ${revision}`),
    'payment-B 0',
    'payment-B 1',
  ];
  t.deepEqual(await seen(db), expected);
});

test.serial(
  'a reader takes full batches until it has caught up, then each event at once, or after a rest',
  async (t) => {
    const { eventStore } = await startStores(t, postgres);
    const attempts = Array.from({ length: 1_300 }, () => methodChosen());
    await append(eventStore, 'A', [paymentRequested(), ...attempts]);
    const stopping = new AbortController();
    let rest = Promise.resolve();
    const batches = readBatches({
      eventStore,
      selection: { streamPrefixes: ['payment-'] },
      maxEvents: 1_000,
      after: null,
      // Without a timer: nothing waits for one.
      runtime: { ...systemRuntime, setTimer: () => () => {}, sleep: () => rest },
      everyMs: 100,
      signal: stopping.signal,
    });
    const next = async () => {
      const { value } = await batches.next();
      return value?.events.map(({ revision }) => revision) ?? [];
    };
    t.is((await next()).length, 1_000);
    t.is((await next()).length, 301);
    await append(eventStore, 'B', [paymentRequested()]);
    const { promise, resolve: endRest } = Promise.withResolvers<void>();
    rest = promise;
    t.deepEqual(await next(), [0]);
    await append(eventStore, 'C', [paymentRequested()]);
    const rested = next();
    t.is(await Promise.race([rested, systemRuntime.sleep(200)]), undefined);
    endRest();
    t.deepEqual(await rested, [0]);
    stopping.abort();
    t.deepEqual(await next(), []);
  },
);

test.serial('an event that can wait is taken with the next one that cannot, or after a moment', async (t) => {
  const { eventStore } = await startStores(t, postgres);
  await append(eventStore, 'A', [paymentRequested()]);
  const stopping = new AbortController();
  const timers: { ms: number; run: () => void }[] = [];
  const batches = readBatches({
    eventStore,
    selection: { streamPrefixes: ['payment-'] },
    after: null,
    canWait: ({ type }) => type === 'PaymentMethodChosen',
    runtime: {
      ...systemRuntime,
      setTimer(ms, run) {
        timers.push({ ms, run });
        return () => {};
      },
    },
    signal: stopping.signal,
  });
  const next = async () => (await batches.next()).value?.events.map(({ type }) => type);
  t.deepEqual(await next(), ['PaymentRequested']);
  timers.length = 0;
  const together = next();
  await append(eventStore, 'A', [methodChosen()], 0);
  t.is(await Promise.race([together, systemRuntime.sleep(200)]), undefined);
  await append(eventStore, 'B', [paymentRequested()]);
  t.deepEqual(await together, ['PaymentMethodChosen', 'PaymentRequested']);
  timers.length = 0;
  const alone = next();
  await append(eventStore, 'B', [methodChosen()], 0);
  await until(() => timers.length > 0);
  t.deepEqual(
    timers.map(({ ms }) => ms),
    [100],
  );
  for (const { run } of timers) run();
  t.deepEqual(await alone, ['PaymentMethodChosen']);
  stopping.abort();
  t.is(await next(), undefined);
});

test('a subscription that ends by itself is an interruption, and gives up after a few failures', async (t) => {
  let asked = Number.POSITIVE_INFINITY;
  async function* subscribe({ maxFailures = asked }) {
    asked = maxFailures;
    yield { kind: 'caught_up' } as const;
  }
  const { signal } = new AbortController();
  const selection = { streamPrefixes: ['payment-'] };
  const batches = readBatches({
    eventStore: { subscribe },
    selection,
    after: null,
    runtime: systemRuntime,
    signal,
  });
  await t.throwsAsync(batches.next(), { message: 'The subscription ended by itself' });
  t.true(asked < 10, 'another process may reach the log');
});

test.serial(
  'events of others move the checkpoint, so that a restart does not consider them again',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t, postgres);
    const other = Array.from({ length: 100 }, (_, index) => ({
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      type: 'Noted',
      data: {},
      metadata: {},
    }));
    const { position } = await eventStore.append('gateway-unmatched', other, 'no_stream');
    const running = run(t, eventCounts, store, database);
    await reached(db, 'event_counts', position);
    await running.stop();
    t.deepEqual(await seen(db), []);
  },
);

test('a checkpoint that somebody else moved: nothing is written, and reading begins again there', async (t) => {
  const { database, db, store, eventStore } = await startStoresApart(t);
  const running = run(t, eventCounts, store, database);
  await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
  await db.transaction(async (trx) => {
    await trx.raw('update checkpoints set commit_position = null, prepare_position = null');
    await trx.raw('delete from event_counts.seen');
  });
  await reached(db, 'event_counts', await append(eventStore, 'A', [methodChosen()], 0));
  await running.stop();
  t.deepEqual(await seen(db), ['payment-A 0', 'payment-A 1']);
});

// With a character that Postgres has no text for: the reason must be kept all the same.
test.serial(
  'the status can be read from a table of the release before, without the later columns',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t, postgres);
    const running = run(t, eventCounts, store, database);
    await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
    await running.stop();
    const before = await statusOf(db, 'event_counts');
    await db.raw('alter table checkpoints drop column parked');
    t.deepEqual(await statusOf(db, 'event_counts'), before);
  },
);

test('tables of an older version are made again; those of a newer program are not touched', async (t) => {
  const { database, db, store, eventStore } = await startStoresApart(t);
  const start = (version: number) => run(t, { ...eventCounts, version }, store, database);
  const first = await append(eventStore, 'A', [paymentRequested()]);
  const old = start(1);
  await reached(db, 'event_counts', first);
  await old.stop();
  await db.raw("insert into event_counts.seen select 'of the old version', 0 from event_counts.seen limit 1");
  const parked = [{ stream: 'payment-A', revision: 0 }];
  const lastEvent = { id: 'of another log', commit: '0', prepare: '0' };
  await db('checkpoints').update({
    parked: JSON.stringify(parked),
    last_event: JSON.stringify(lastEvent),
  });

  const second = await append(eventStore, 'A', [methodChosen()], 0);
  const renewed = start(2);
  await until(async () => (await statusOf(db, 'event_counts'))?.version === 2);
  await reached(db, 'event_counts', second);
  await renewed.stop();
  t.deepEqual(await seen(db), ['payment-A 0', 'payment-A 1']);

  await start(1).ended;
  const message = 'Its tables are of version 2, made by a newer program than this one, which knows 1';
  t.like(await statusOf(db, 'event_counts'), {
    version: 2,
    events: 2,
    position: second,
    fault: { message },
  });
  t.deepEqual(await seen(db), ['payment-A 0', 'payment-A 1']);
});

test('tables that a newer program has put in place are not written by a run that goes on', async (t) => {
  const { database, db, store, eventStore } = await startStoresApart(t);
  run(t, eventCounts, store, database);
  await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
  // As its cutover does, which leaves the position as it is.
  await db('checkpoints').update({ version: 2 });
  await append(eventStore, 'A', [methodChosen()], 0);
  const message = 'Its tables are of version 2, made by a newer program than this one, which knows 1';
  await until(async () => (await statusOf(db, 'event_counts'))?.fault?.message === message);
  t.deepEqual(await seen(db), ['payment-A 0']);
});

test.serial(
  'the next start makes a schema that was dropped; a table that was dropped is named',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t, postgres);
    const projection = { ...eventCounts, indexes: ['seen_by_stream on seen (stream)'] };
    const position = await append(eventStore, 'A', [paymentRequested(), methodChosen()]);
    const before = run(t, projection, store, database);
    await reached(db, 'event_counts', position);
    await before.stop();

    await db.raw('drop schema event_counts cascade');
    const after = run(t, projection, store, database);
    await until(async () => (await seen(db).catch(() => [])).length === 2);
    await after.stop();

    await db.raw('drop table event_counts.seen');
    const last = run(t, projection, store, database);
    await until(async () => !!(await statusOf(db, 'event_counts'))?.fault);
    const message = 'Postgres refused the rows: 42P01 relation "seen" does not exist';
    t.like(await statusOf(db, 'event_counts'), { position, fault: { message } });
    await last.stop();
  },
);

test.serial('a run that stands by ends when it is stopped', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  run(t, eventCounts, store, database);
  await until(async () => (await statusOf(db, 'event_counts')) !== undefined);
  const standby = run(t, eventCounts, store, database, { election: electionOn(database.url) });
  await until(async () => (await leaderConnections()) === 2);
  await standby.stop();
  await until(async () => (await leaderConnections()) === 1);
  await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
  t.deepEqual(await seen(db), ['payment-A 0']);

  async function leaderConnections(): Promise<number> {
    const [row] = await db('pg_stat_activity')
      .where({ application_name: 'ledger leader election' })
      .whereRaw('datname = current_database()')
      .count({ connections: '*' });
    return Number(row?.connections);
  }
});

for (const [title, others] of [
  ['an older copy, which ends before the checkpoint', []],
  ['another log, which has another event there', [paymentRequested(), methodChosen(), methodChosen()]],
] as const)
  test(`rows that are newer than the log halt the projection: ${title}`, async (t) => {
    const { database, db, store, eventStore } = await startStoresApart(t);
    const position = await append(eventStore, 'A', [paymentRequested(), methodChosen()]);
    const first = run(t, eventCounts, store, database);
    await reached(db, 'event_counts', position);
    await first.stop();

    const replaced = await startStore(t);
    if (others.length > 0) await append(replaced.eventStore, 'B', others);
    const again = run(t, eventCounts, replaced, database);
    await again.ended;
    t.regex(
      (await statusOf(db, 'event_counts'))?.fault?.message ?? '',
      /events that the log does not have.* ledger rebuild event_counts$/,
    );

    // With the log back it continues.
    const next = await append(eventStore, 'A', [methodChosen()], 1);
    run(t, eventCounts, store, database);
    await reached(db, 'event_counts', next);
    t.is((await statusOf(db, 'event_counts'))?.fault, null);
  });
