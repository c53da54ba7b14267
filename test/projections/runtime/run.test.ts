import test, { type ExecutionContext } from 'ava';
import { systemRuntime } from '../../../src/kernel/system-runtime.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { readBatches } from '../../../src/projections/runtime/batches.ts';
import type { Projection } from '../../../src/projections/runtime/projection.ts';
import { until } from '../../embedded/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';
import { eventCounts, seen } from '../event-counts.ts';
import {
  append,
  emptyDatabase,
  methodChosen,
  paymentRequested,
  reached,
  run,
  startStore,
  statusOf,
} from '../helpers.ts';

const postgres = await createDatabase();

async function startStores(t: ExecutionContext) {
  const [database, store] = await Promise.all([emptyDatabase(t, postgres), startStore(t)]);
  return { database, db: database.db, store, eventStore: store.eventStore };
}

test.serial('a long log is taken in order, once, and a stopped run goes on where it stood', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
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

test.serial('a reader takes full batches until it has caught up, and then each event at once', async (t) => {
  const { eventStore } = await startStores(t);
  const attempts = Array.from({ length: 1_300 }, () => methodChosen());
  await append(eventStore, 'A', [paymentRequested(), ...attempts]);
  const stopping = new AbortController();
  const batches = readBatches({
    eventStore,
    selection: { streamPrefixes: ['payment-'] },
    maxEvents: 1_000,
    after: null,
    // Without a timer: nothing waits for one.
    runtime: { setTimer: () => () => {}, yieldToIo: systemRuntime.yieldToIo },
    signal: stopping.signal,
  });
  const next = async () => {
    const { value } = await batches.next();
    return value?.events.map(({ revision }) => revision) ?? [];
  };
  t.is((await next()).length, 1_000);
  t.is((await next()).length, 301);
  await append(eventStore, 'B', [paymentRequested()]);
  t.deepEqual(await next(), [0]);
  stopping.abort();
  t.deepEqual(await next(), []);
});

test.serial(
  'events of others move the checkpoint, so that a restart does not consider them again',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t);
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

test.serial(
  'a checkpoint that somebody else moved: nothing is written, and reading begins again there',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t);
    const running = run(t, eventCounts, store, database);
    await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
    await db.transaction(async (trx) => {
      await trx.raw('update checkpoints set commit_position = null, prepare_position = null');
      await trx.raw('delete from event_counts.seen');
    });
    await reached(db, 'event_counts', await append(eventStore, 'A', [methodChosen()], 0));
    await running.stop();
    t.deepEqual(await seen(db), ['payment-A 0', 'payment-A 1']);
  },
);

// With a character that Postgres has no text for: the fault must be kept all the same.
const unknownType = 'PaymentTeleported\0';

test.serial('a poison event stops its own projection alone, after everything before it', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
  const start = (projection: Projection) => run(t, projection, store, database);
  await append(eventStore, 'A', [paymentRequested(), methodChosen()]);
  const before = await append(eventStore, 'B', [paymentRequested()]);
  await append(eventStore, 'B', [{ type: unknownType, data: { name: 'Aminah' } }], 0);
  const last = await append(eventStore, 'C', [paymentRequested()]);
  const rows = () =>
    db.withSchema('payments').from('payments').orderBy('transaction_id').select('transaction_id', 'revision');

  const unaffected = start(eventCounts);
  await start(payments).ended;
  const status = await statusOf(db, 'payments');
  t.deepEqual(status?.fault, {
    message: `Unknown event type ${unknownType}`,
    event: { stream: 'payment-B', revision: 1, type: unknownType },
  });
  t.deepEqual(status?.position, before);
  t.deepEqual(await rows(), [
    { transaction_id: 'A', revision: 1 },
    { transaction_id: 'B', revision: 0 },
  ]);
  await reached(db, 'event_counts', last);
  t.is((await statusOf(db, 'event_counts'))?.fault, null);
  await unaffected.stop();

  await start(payments).ended;
  t.is((await statusOf(db, 'payments'))?.fault?.event?.revision, 1, 'a new run tries it again');

  const mended = start({
    ...payments,
    project: (events, trx, ...rest) => payments.project(events.map(asKnown), trx, ...rest),
  });
  await reached(db, 'payments', last);
  await mended.stop();
  t.is((await statusOf(db, 'payments'))?.fault, null);
  t.deepEqual(await rows(), [
    { transaction_id: 'A', revision: 1 },
    { transaction_id: 'B', revision: 1 },
    { transaction_id: 'C', revision: 0 },
  ]);

  function asKnown<Event extends { type: string }>(event: Event): Event {
    return event.type === unknownType ? { ...event, ...methodChosen() } : event;
  }
});

const secret = 'Aminah binti Yusof';
const faults: Record<string, { project: Projection['project']; message: RegExp }> = {
  'a row that Postgres refuses': {
    project: (_, trx) => trx.raw('insert into seen values (?, ?)', [secret, secret]),
    message: /^Postgres refused the rows: 22P02$/,
  },
  'a bug in the projection': {
    project: async () => void JSON.parse(secret),
    message: /^SyntaxError at .*run\.test\.ts/,
  },
};
for (const [title, { project, message }] of Object.entries(faults)) {
  test.serial(`${title} is a fault that holds no personal data`, async (t) => {
    const { database, db, store, eventStore } = await startStores(t);
    await append(eventStore, 'A', [paymentRequested()]);
    const projection = { ...eventCounts, project };
    await run(t, projection, store, database).ended;
    const { fault, position } = (await statusOf(db, 'event_counts')) ?? {};
    t.regex(fault?.message ?? '', message);
    t.false(fault?.message.includes('Aminah'));
    t.is(position, null);
  });
}

test.serial('a batch that takes Postgres too long is taken in parts', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
  const position = await append(eventStore, 'A', [
    paymentRequested(),
    ...Array.from({ length: 7 }, () => methodChosen()),
  ]);
  run(
    t,
    {
      ...eventCounts,
      async project(events, trx, ...rest) {
        if (events.length > 2) await trx.raw('set local statement_timeout = 20; select pg_sleep(60)');
        await eventCounts.project(events, trx, ...rest);
      },
    },
    store,
    database,
  );
  await reached(db, 'event_counts', position);
  t.is((await seen(db)).length, 8);
});

test.serial('a hole in a stream is a fault', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
  const running = run(t, payments, store, database);
  await reached(db, 'payments', await append(eventStore, 'A', [paymentRequested(), methodChosen()]));
  await db.raw('update payments.payments set revision = 0');
  await append(eventStore, 'A', [methodChosen(2)], 1);
  await running.ended;
  t.deepEqual((await statusOf(db, 'payments'))?.fault, {
    message: 'Revision 1 of the stream is missing before this event',
    event: { stream: 'payment-A', revision: 2, type: 'PaymentMethodChosen' },
  });
});

test.serial('a stream that does not begin with a request is a fault', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
  await append(eventStore, 'A', [methodChosen()]);
  await run(t, payments, store, database).ended;
  t.is(
    (await statusOf(db, 'payments'))?.fault?.message,
    'The stream does not begin with the event that creates it',
  );
});

test.serial(
  'tables of an older version are made again; those of a newer program are not touched',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t);
    const start = (version: number) => run(t, { ...eventCounts, version }, store, database);
    const first = await append(eventStore, 'A', [paymentRequested()]);
    const old = start(1);
    await reached(db, 'event_counts', first);
    await old.stop();
    await db.raw(
      "insert into event_counts.seen select 'of the old version', 0 from event_counts.seen limit 1",
    );

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
      position: second,
      fault: { message, event: null },
    });
    t.deepEqual(await seen(db), ['payment-A 0', 'payment-A 1']);
  },
);

test.serial('tables that were made under a former name are dropped, and nobody else’s', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
  const position = await append(eventStore, 'A', [paymentRequested()]);
  const former = run(t, { ...eventCounts, name: 'counts' }, store, database);
  await reached(db, 'counts', position);
  await former.stop();
  await db.raw('create schema another');

  run(t, { ...eventCounts, formerName: 'counts' }, store, database);
  run(t, { ...eventCounts, name: 'unrelated', formerName: 'another' }, store, database);
  await Promise.all([reached(db, 'event_counts', position), reached(db, 'unrelated', position)]);
  t.deepEqual(await seen(db), ['payment-A 0']);
  t.is(await statusOf(db, 'counts'), undefined);
  const { rows } = await db.raw(`select nspname from pg_namespace where nspname in ('counts', 'another')`);
  t.deepEqual(rows, [{ nspname: 'another' }]);
});

test.serial('another schema stands beside the first, with a checkpoint of its own', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
  const position = await append(eventStore, 'A', [paymentRequested()]);
  run(t, eventCounts, store, database);
  run(t, eventCounts, store, database, 'event_counts_next');
  await Promise.all([reached(db, 'event_counts', position), reached(db, 'event_counts_next', position)]);
  t.deepEqual(await seen(db), ['payment-A 0']);
  t.deepEqual(await db.withSchema('event_counts_next').from('seen').pluck('stream'), ['payment-A']);
});

test.serial('a run that stands by ends when it is stopped', async (t) => {
  const { database, db, store, eventStore } = await startStores(t);
  run(t, eventCounts, store, database);
  await until(async () => (await statusOf(db, 'event_counts')) !== undefined);
  const standby = run(t, eventCounts, store, database);
  await until(async () => (await leaderConnections()) === 2);
  await standby.stop();
  await until(async () => (await leaderConnections()) === 1);
  await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
  t.deepEqual(await seen(db), ['payment-A 0']);

  async function leaderConnections(): Promise<number> {
    const [row] = await db('pg_stat_activity')
      .where({ application_name: 'ledger leader event_counts' })
      .whereRaw('datname = current_database()')
      .count({ connections: '*' });
    return Number(row?.connections);
  }
});

test.serial(
  'rows that are newer than the log halt the projection: an older copy or another log',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t);
    const position = await append(eventStore, 'A', [paymentRequested(), methodChosen()]);
    const first = run(t, eventCounts, store, database);
    await reached(db, 'event_counts', position);
    await first.stop();

    // An older copy ends before the checkpoint; another log has another event there.
    const older = await startStore(t);
    const other = await startStore(t);
    await append(other.eventStore, 'B', [paymentRequested(), methodChosen(), methodChosen()]);
    for (const replaced of [older, other]) {
      const again = run(t, eventCounts, replaced, database);
      await again.ended;
      t.regex(
        (await statusOf(db, 'event_counts'))?.fault?.message ?? '',
        /events that the log does not have.* ledger rebuild event_counts$/,
      );
    }

    // With the log back it continues.
    const next = await append(eventStore, 'A', [methodChosen()], 1);
    run(t, eventCounts, store, database);
    await reached(db, 'event_counts', next);
    t.is((await statusOf(db, 'event_counts'))?.fault, null);
  },
);
