// Events that cannot be processed: their streams are parked and tried again, unless it is Postgres that is at fault.
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import { projectOrPark, tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { writeBatch } from '@ledger/projections/runtime/write-batch.ts';
import test from 'ava';
import { payments } from '../../../src/projections/payments/projection.ts';
import { until } from '../../embedded/helpers.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { eventCounts, seen } from '../event-counts.ts';
import {
  append,
  methodChosen,
  paymentRequested,
  reached,
  run,
  startStores,
  startStoresApart,
  statusOf,
} from '../helpers.ts';

const postgres = await createDatabase();

const unknownType = 'PaymentTeleported\0';
const unknown = { type: unknownType, data: { name: 'Aminah' } };

/** The payments of a newer program, which knows what this one does not. */
const mended: Projection = {
  ...payments,
  project: (events, trx, ...rest) => payments.project(events.map(asKnown), trx, ...rest),
};
function asKnown<Event extends { type: string }>(event: Event): Event {
  return event.type === unknownType ? { ...event, ...methodChosen() } : event;
}

test.serial('an event that cannot be processed parks its stream, and all others go on', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  const start = (projection: Projection) => run(t, projection, store, database);
  await append(eventStore, 'A', [paymentRequested(), methodChosen()]);
  await append(eventStore, 'B', [paymentRequested()]);
  await append(eventStore, 'B', [unknown, methodChosen()], 0);
  const first = await append(eventStore, 'C', [paymentRequested()]);
  const rows = async () =>
    await db.withSchema('payments').from('payments').orderBy('transaction_id').pluck('revision');

  const running = start(payments);
  await reached(db, 'payments', first);
  const [parked, ...more] = (await statusOf(db, 'payments'))?.parked ?? [];
  t.deepEqual(more, []);
  t.like(parked, { stream: 'payment-B', revision: 1, type: 'PaymentTeleported\ufffd' });
  t.is(parked?.message, 'Unknown event type PaymentTeleported\ufffd');
  t.deepEqual(await rows(), [1, 0, 0], 'the row of B is as the events before led to');

  // What comes later in the stream is left out too, and parks nothing again.
  const later = await append(eventStore, 'B', [methodChosen(2)], 2);
  await reached(db, 'payments', later);
  t.deepEqual((await statusOf(db, 'payments'))?.parked, [parked]);
  await running.stop();

  const again = start(payments);
  const last = await append(eventStore, 'A', [methodChosen(2)], 1);
  await reached(db, 'payments', last);
  t.deepEqual(
    (await statusOf(db, 'payments'))?.parked,
    [parked],
    'tried again, and parked since the same time',
  );
  await again.stop();

  const next = start(mended);
  await until(async () => (await statusOf(db, 'payments'))?.parked.length === 0);
  t.deepEqual(await rows(), [2, 3, 0]);
  await reached(db, 'payments', await append(eventStore, 'B', [methodChosen(3)], 3));
  t.deepEqual(await rows(), [2, 4, 0]);
  await next.stop();
});

test.serial('a parked stream is tried again on demand, while others are processed', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  await append(eventStore, 'A', [paymentRequested(), unknown, methodChosen(), unknown, methodChosen(2)]);
  await append(eventStore, 'B', [{ type: unknownType, data: {} }]);
  run(t, payments, store, database);
  await reached(db, 'payments', await append(eventStore, 'C', [paymentRequested()]));
  const target = { schema: 'payments', db, personalData, runtime: systemRuntime, eventStore };
  const parked = async () =>
    ((await statusOf(db, 'payments'))?.parked ?? []).map(({ stream, revision }) => `${stream} ${revision}`);
  t.deepEqual(await parked(), ['payment-A 1', 'payment-B 0']);

  // One that fails further on stays parked there.
  let taken = 0;
  const half: Projection = {
    ...payments,
    project: (events, ...rest) =>
      payments.project(
        events.map((event) => (event.revision === 1 ? asKnown(event) : event)),
        ...rest,
      ),
  };
  const appending = (async () => {
    for (; taken < 40; taken++) await append(eventStore, 'C', [methodChosen()], taken);
  })();
  await tryParkedAgain({ ...target, projection: half }, 'payment-A');
  t.deepEqual(await parked(), ['payment-B 0', 'payment-A 3']);
  await appending;
  t.deepEqual(
    (await tryParkedAgain({ ...target, projection: mended }, 'payment-A')).map(({ stream }) => stream),
    ['payment-B'],
  );
  const { rows } = await db.raw('select transaction_id as id, revision from payments.payments order by 1');
  await until(async () => (await db.raw('select from payments.payments where revision = 40')).rowCount === 1);
  t.deepEqual(rows[0], { id: 'A', revision: 4 });

  // One whose retry throws keeps no later one from being tried.
  await append(eventStore, 'D', [{ type: unknownType, data: {} }, methodChosen()]);
  await until(async () => (await parked()).length === 2);
  const broken = {
    load: (name: string, ...rest: [number?, number?]) =>
      name === 'payment-B' ? Promise.reject(new Error('It cannot be read')) : eventStore.load(name, ...rest),
  };
  const repaired: Projection = {
    ...payments,
    project: (events, ...rest) =>
      payments.project(
        events.map((event) => (event.revision === 0 ? { ...event, ...paymentRequested() } : asKnown(event))),
        ...rest,
      ),
  };
  await t.throwsAsync(tryParkedAgain({ ...target, projection: repaired, eventStore: broken }), {
    message: 'It cannot be read',
  });
  t.deepEqual(await parked(), ['payment-B 0']);

  // Of another version, or without its event, a stream is left as it is.
  await tryParkedAgain({ ...target, projection: { ...mended, version: 99 } });
  await tryParkedAgain({ ...target, projection: mended, eventStore: { load: async () => [] } });
  t.deepEqual(await parked(), ['payment-B 0']);
});

test.serial('of a stream that is tried again, a projection gets what it follows, once', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  const { name, version, createTables } = eventCounts;
  let isMended = false;
  const followed: Projection = {
    name,
    version,
    createTables,
    eventTypes: [unknownType, methodChosen().type],
    async project(events, ...rest) {
      if (!isMended && events.some(({ type }) => type === unknownType)) throw new TypeError('unknown');
      await eventCounts.project(events, ...rest);
    },
  };
  const running = run(t, followed, store, database);
  await reached(
    db,
    'event_counts',
    await append(eventStore, 'A', [methodChosen(), unknown, paymentRequested(), methodChosen()]),
  );
  await running.stop();
  const later = await append(eventStore, 'A', [methodChosen()], 3);
  isMended = true;
  run(t, followed, store, database);
  await reached(db, 'event_counts', later);
  t.deepEqual((await statusOf(db, 'event_counts'))?.parked, []);
  t.deepEqual(await seen(db), ['payment-A 0', 'payment-A 1', 'payment-A 3', 'payment-A 4']);
});

test('an outage parks nothing', async (t) => {
  const { database, db, store, eventStore } = await startStoresApart(t);
  let failures = 0;
  const failing: Projection = {
    ...eventCounts,
    async project(events, trx, ...rest) {
      if (failures++ < 1) throw new KeysUnavailable('The keys cannot be read');
      if (failures < 3) throw new EventStoreUnavailable('It does not answer');
      if (failures < 5) await trx.raw('do $$ begin raise disk_full; end $$');
      await eventCounts.project(events, trx, ...rest);
    },
  };
  run(t, failing, store, database);
  await reached(db, 'event_counts', await append(eventStore, 'A', [paymentRequested()]));
  t.true(failures >= 5);
  t.deepEqual((await statusOf(db, 'event_counts'))?.parked, []);
  t.deepEqual(await seen(db), ['payment-A 0']);
});

for (const outage of [new KeysUnavailable('They are away'), new EventStoreUnavailable('It is away')])
  test.serial(`${outage.name} parks nothing, however often a batch meets it`, async (t) => {
    const { db, eventStore } = await startStores(t, postgres);
    const projection: Projection = { ...eventCounts, project: () => Promise.reject(outage) };
    await prepare(db, projection, 'event_counts');
    const position = await append(eventStore, 'A', [paymentRequested()]);
    const batch = { events: await eventStore.load('payment-A'), position };
    const target = { projection, schema: 'event_counts', db, personalData, runtime: systemRuntime };
    await t.throwsAsync(writeBatch(target, null, batch), { is: outage });
    t.like(await statusOf(db, 'event_counts'), { position: null, parked: [] });
  });

test.serial('what a parked stream gets while it is tried again is processed, too', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  await append(eventStore, 'A', [paymentRequested(), unknown]);
  run(t, payments, store, database);
  await reached(db, 'payments', await append(eventStore, 'B', [paymentRequested()]));
  const slow: Projection = {
    ...mended,
    async project(...given) {
      await mended.project(...given);
      const later = await append(eventStore, 'A', [methodChosen()], 1);
      // The runner, which would pass it by as one of a parked stream, has to wait.
      await Promise.race([reached(db, 'payments', later), sleep(1_000)]);
    },
  };
  const target = { projection: slow, schema: 'payments', db, personalData, runtime: systemRuntime };
  t.deepEqual(await tryParkedAgain({ ...target, eventStore }), []);
  const row = () => db('payments.payments').where('transaction_id', 'A').first();
  await until(async () => (await row()).revision === 2);
  t.pass();
});

test('if too many streams would be parked, in whatever batches, the projection halts and keeps its place', async (t) => {
  const { database, db, store, eventStore } = await startStoresApart(t);
  const refusesAll: Projection = {
    ...eventCounts,
    project: async (_, trx) => void (await trx.raw('select * from no_such_table')),
  };
  const request = (index: number) => append(eventStore, `P${index}`, [paymentRequested()]);
  for (let index = 0; index < 60; index++) await request(index);
  const refusing = run(t, refusesAll, store, database);
  await until(async () => (await statusOf(db, 'event_counts'))?.parked.length === 60);
  for (let index = 60; index <= 100; index++) await request(index);
  await refusing.ended;
  const halted = await statusOf(db, 'event_counts');
  t.regex(
    halted?.fault?.message ?? '',
    /^More than 100 streams .* at revision 0: Postgres refused the rows: 42P01 relation "no_such_table" does not exist$/,
  );
  t.true((halted?.parked.length ?? 0) <= 100);
  const mendedRun = run(t, eventCounts, store, database);
  await until(async () => (await seen(db)).length === 101);
  await mendedRun.stop();
});

const secret = 'Aminah binti Yusof';
const faults: Record<string, { project: Projection['project']; message: RegExp }> = {
  'a row that Postgres refuses': {
    project: (_, trx) => trx.raw('insert into seen values (?, ?)', [secret, secret]),
    message: /^Postgres refused the rows: 22P02$/,
  },
  'a bug in the projection': {
    project: async () => void JSON.parse(secret),
    message: /^SyntaxError at .*parking\.test\.ts/,
  },
};
for (const [title, { project, message }] of Object.entries(faults)) {
  test.serial(`${title} parks the stream, for a reason without personal data`, async (t) => {
    const { database, db, store, eventStore } = await startStores(t, postgres);
    const position = await append(eventStore, 'A', [paymentRequested()]);
    run(t, { ...eventCounts, project }, store, database);
    await reached(db, 'event_counts', position);
    const [parked] = (await statusOf(db, 'event_counts'))?.parked ?? [];
    t.regex(parked?.message ?? '', message);
    t.false(parked?.message.includes('Aminah'));
  });
}

test.serial('a batch that takes Postgres too long is taken in parts', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
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

test('an event that always takes too long is parked after three attempts, if others pass', async (t) => {
  const { database, db, store, eventStore } = await startStoresApart(t);
  let attempts = 0;
  const slow: Projection = {
    ...eventCounts,
    async project(events, trx, ...rest) {
      const isAlone = events.length === 1;
      if (isAlone && events[0]?.streamName === 'payment-A') attempts += 1;
      if (events.some(({ streamName }) => streamName === 'payment-A'))
        await trx.raw('set local statement_timeout = 20; select pg_sleep(60)');
      await eventCounts.project(events, trx, ...rest);
    },
  };
  await append(eventStore, 'A', [paymentRequested()]);
  await append(eventStore, 'B', [paymentRequested()]);
  const position = await append(eventStore, 'A', [methodChosen()], 0);
  const running = run(t, slow, store, database);
  await reached(db, 'event_counts', position);
  t.is(attempts, 3);
  t.deepEqual(await seen(db), ['payment-B 0']);
  const parked = (await statusOf(db, 'event_counts'))?.parked ?? [];
  t.like(parked, [{ stream: 'payment-A', revision: 0, message: 'Postgres refused the rows: 57014' }]);
  t.is(parked.length, 1);
  await running.stop();
});

test('while Postgres is too busy for everything, nothing is parked', async (t) => {
  const { database, db, store, eventStore } = await startStoresApart(t);
  let failures = 0;
  let isBusy = true;
  const busy: Projection = {
    ...eventCounts,
    async project(events, trx, ...rest) {
      if (isBusy) {
        if (events.length === 1) failures += 1;
        await trx.raw('set local statement_timeout = 20; select pg_sleep(60)');
      }
      await eventCounts.project(events, trx, ...rest);
    },
  };
  await append(eventStore, 'A', [paymentRequested()]);
  const position = await append(eventStore, 'B', [paymentRequested()]);
  const running = run(t, busy, store, database);
  // Two in each attempt.
  await until(() => failures >= 8);
  isBusy = false;
  await reached(db, 'event_counts', position);
  await running.stop();
  t.deepEqual((await statusOf(db, 'event_counts'))?.parked, []);
  t.deepEqual(await seen(db), ['payment-A 0', 'payment-B 0']);
});

test.serial(
  'events of three streams may overload Postgres where others pass; of four, it is busy',
  async (t) => {
    const { database, db, store, eventStore } = await startStores(t, postgres);
    const slow: Projection = {
      ...eventCounts,
      async project(events, trx) {
        if (events.some(({ streamName }) => streamName !== 'payment-E'))
          await trx.raw('set local statement_timeout = 20; select pg_sleep(60)');
      },
    };
    const streams = ['A', 'B', 'C', 'D', 'E'];
    for (const stream of streams) await append(eventStore, stream, [paymentRequested()]);
    const running = run(t, eventCounts, store, database);
    await reached(db, 'event_counts', await append(eventStore, 'E', [methodChosen()], 0));
    await running.stop();
    const loaded = await Promise.all(streams.map((stream) => eventStore.load(`payment-${stream}`)));
    const parkAt = (times: number, from: number) => {
      const events = loaded.slice(from).flat();
      const overloads = new Map(events.map(({ id }) => [id, times]));
      const target = {
        db,
        schema: 'event_counts',
        projection: slow,
        personalData,
        runtime: systemRuntime,
        overloads,
      };
      return db.transaction(async (trx) =>
        (await projectOrPark(trx, target, events, [])).map(({ stream }) => stream),
      );
    };
    t.deepEqual(await parkAt(2, 1), ['payment-B', 'payment-C', 'payment-D'], 'at the third time');
    await t.throwsAsync(parkAt(1, 1), { code: '57014' });
    await t.throwsAsync(parkAt(2, 0), { code: '57014' });
  },
);

test.serial('a hole in a stream parks it', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  run(t, payments, store, database);
  await reached(db, 'payments', await append(eventStore, 'A', [paymentRequested(), methodChosen()]));
  await db.raw('update payments.payments set revision = 0');
  await reached(db, 'payments', await append(eventStore, 'A', [methodChosen(2)], 1));
  t.like((await statusOf(db, 'payments'))?.parked[0], {
    stream: 'payment-A',
    revision: 2,
    message: 'Revision 1 of the stream is missing before this event',
  });
});

test.serial('a stream that does not begin with a request is parked', async (t) => {
  const { database, db, store, eventStore } = await startStores(t, postgres);
  const position = await append(eventStore, 'A', [methodChosen()]);
  run(t, payments, store, database);
  await reached(db, 'payments', position);
  t.is(
    (await statusOf(db, 'payments'))?.parked[0]?.message,
    'The stream does not begin with the event that creates it',
  );
});
