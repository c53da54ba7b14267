// The to-do list from the log: old events and new ones, outages, and rebuilds of read models beside it.
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import { untilCaughtUp } from '@ledger/projections/runtime/lag.ts';
import test from 'ava';
import fc from 'fast-check';
import type { Knex } from 'knex';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { type PaymentEvent, paymentStream } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { createDeliveryList, deliveryList } from '../../src/to-do/delivery-list.ts';
import { createDeliveryQueue } from '../../src/to-do/delivery-queue.ts';
import { dueChannel, orderingKeyOf } from '../../src/to-do/delivery-rows.ts';
import { until } from '../embedded/helpers.ts';
import { emptyTables, feedToDo } from '../projections/filled.ts';
import {
  append,
  emptyDatabase,
  log,
  reached,
  run,
  startStore,
  startStores,
  statusOf,
} from '../projections/helpers.ts';
import { results } from '../support/arbitraries.ts';
import { countLoads } from '../support/count-loads.ts';
import {
  payer as aminah,
  applied,
  asOfVersion1,
  chosen,
  record,
  request,
  requested,
  result,
  succeeded,
} from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';

const postgres = await createDatabase();
const { decide, evolve, initial } = paymentDecider;

/** What the decider makes of these results, one after the other. */
function decided(first: PaymentEvent, reported: readonly ReturnType<typeof record>[]): PaymentEvent[] {
  const events = [first, chosen(1)];
  let state = events.reduce(evolve, initial);
  for (const command of reported) {
    const added = decide(command, state);
    if (added instanceof Refused) continue;
    events.push(...added);
    state = added.reduce(evolve, state);
  }
  return events;
}

const firsts = fc
  .tuple(
    fc.constantFrom(...channels),
    fc.constantFrom('', 'https://one.example/callback'),
    fc.constantFrom('', 'aminah@example.my'),
  )
  .map(
    ([channel, callbackUrl, email]): PaymentEvent => ({
      type: 'PaymentRequested',
      data: request({ channel, callbackUrl, payer: { ...aminah, email } }),
    }),
  );

test.serial('the rows of a payment are the same, whichever version its events are of', async (t) => {
  const db = await emptyTables(postgres);
  let serial = 0;
  let rows = 0;
  await fc.assert(
    fc.asyncProperty(firsts, fc.array(results, { maxLength: 8 }), async (first, reported) => {
      const channel = first.type === 'PaymentRequested' ? first.data.channel : 'generic';
      const events = decided(
        first,
        reported.map((each) => record(each, { channel })),
      );
      serial += 1;
      await feedToDo(db, `new${serial}`, events);
      await feedToDo(db, `old${serial}`, events.map(asOfVersion1));
      const rowsOf = async (id: string) =>
        (await db('reactor_deliveries.deliveries').where('transaction_id', id).orderBy('ordering_key')).map(
          ({ transaction_id: _, ...row }) => row,
        );
      const found = await rowsOf(`new${serial}`);
      rows += found.length;
      const folded = events.reduce(evolve, initial);
      const called = folded.status === 'none' ? [] : folded.deliveries;
      const newest = called.map((each) => [orderingKeyOf(each), each.key]);
      const listed = found.map((row) => [row.ordering_key, row.delivery]);
      t.deepEqual(Object.fromEntries(listed), Object.fromEntries(newest));
      // Version 1 told nobody of a wrong amount.
      if (!events.some(({ type }) => type === 'AmountMismatchDetected'))
        t.deepEqual(await rowsOf(`old${serial}`), found);
    }),
    { numRuns: runs(60) },
  );
  t.true(rows > 5);
});

test.serial('only the request of a payment with events of version 1 is loaded, and once', async (t) => {
  const [{ db, url }, { eventStore }] = await Promise.all([emptyDatabase(postgres), startStore(t)]);
  const deliveries = [{ key: 'callback-1', kind: 'callback', url: 'https://one.example/' }] as const;
  const says = { merchantCode: 'council', deliveries: [...deliveries] };
  await append(eventStore, 'NEW', [requested(), succeeded(result(1, 'succeeded'), says)]);
  const pending = applied(result(1, 'pending'));
  const first = await append(eventStore, 'OLD', [requested(), pending]);
  const counted = countLoads(eventStore);
  const announced: (string | null)[] = [];
  const listener = listenForNotifications({
    databaseUrl: url,
    channel: dueChannel,
    onNotification: (payload) => announced.push(payload),
    log,
    runtime: systemRuntime,
  });
  t.teardown(listener.stop);
  await until(() => announced.length > 0);
  run(t, createDeliveryList({ ...counted, announces: true }), { eventStore }, { db, url });
  await reached(db, deliveryList.name, first);
  await reached(db, deliveryList.name, await append(eventStore, 'OLD', [applied(result(1, 'failed'))], 1));
  t.deepEqual(
    ['NEW', 'OLD'].map((id) => counted.loadsOf(paymentStream(id))),
    [0, 1],
  );
  const rows = await db('reactor_deliveries.deliveries').orderBy('transaction_id');
  t.deepEqual(
    rows.map(({ delivery, receiver, merchant_code, state }) => [delivery, receiver, merchant_code, state]),
    [
      ['callback-1', 'https://one.example', 'council', 'due'],
      ['callback-2', 'https://council.example', 'council', 'due'],
    ],
  );
  await until(() => announced.length > 2);
  t.deepEqual(announced, [null, 'callback', 'callback'], 'what became due is announced, and its kind');
});

test.serial('an index that a later release adds is made for the tables of an earlier one', async (t) => {
  const { db } = await emptyDatabase(postgres);
  const projection = createDeliveryList({ eventStore: { load: async () => [] } });
  const indexes = () =>
    db('pg_indexes').where('schemaname', deliveryList.name).orderBy('indexname').pluck('indexname');
  await prepare(db, { ...projection, indexes: projection.indexes?.slice(2) ?? [] }, deliveryList.name);
  const before = await indexes();
  await prepare(db, projection, deliveryList.name);
  const after = await indexes();
  t.is(after.length, before.length + 2);
  t.true(after.includes('deliveries_due_to'));
});

test.serial('payments that are ahead of the list are loaded in portions, each once', async (t) => {
  const { db } = await emptyDatabase(postgres);
  let loaded: string[] = [];
  const load = async (stream: string) => {
    loaded.push(stream);
    return [];
  };
  const projection = createDeliveryList({ eventStore: { load } });
  for (const schema of [deliveryList.name, 'fresh']) await prepare(db, projection, schema);
  await db.raw(
    `insert into ??.payments select lpad(n::text, 4, '0'), '{"transactionId":"","revision":3,"merchantCode":""}' from generate_series(1, 1100) as n`,
    [deliveryList.name],
  );
  const portions: string[][] = [];
  async function read(from: Knex, since: string | null): Promise<void> {
    for await (const events of projection.eventsAhead?.(from, 'fresh', since) ?? []) {
      t.deepEqual(events, []);
      portions.push(loaded);
      loaded = [];
    }
  }
  await read(db, null);
  t.deepEqual(
    portions.map(({ length }) => length),
    [500, 500, 100],
  );
  t.is(new Set(portions.flat()).size, 1_100);

  // Then only those of rows that were written since, and no others are written meanwhile.
  portions.splice(0);
  let oldest = '';
  // Transactions of other databases count too: one of an earlier test may have begun before the rows were written.
  await until(async () => {
    const running = await db.raw('select pg_snapshot_xmin(pg_current_snapshot())::xid as oldest');
    oldest = running.rows[0].oldest;
    const written = 'select bool_or(age(xmin) <= age(?::xid)) as since from ??.payments';
    return !(await db.raw(written, [oldest, deliveryList.name])).rows[0].since;
  });
  const settled = ['0007', '0800'];
  await db(`${deliveryList.name}.payments`)
    .whereIn('transaction_id', settled)
    .update({ known: db.ref('known') });
  await db.transaction(async (trx) => {
    await read(trx, oldest);
    const write = db.raw(`set lock_timeout to '100ms'; update ??.payments set known = known`, [
      deliveryList.name,
    ]);
    await t.throwsAsync(write, { message: /lock timeout/ });
  });
  t.deepEqual(portions, [settled.map((id) => `payment-${id}`)]);
});

test.serial('an event store that goes away while an old payment is loaded halts nothing', async (t) => {
  const { database, store } = await startStores(t, postgres);
  let failures = 0;
  const projection = createDeliveryList({
    eventStore: {
      async load(streamName) {
        failures += 1;
        if (failures <= 2) throw new EventStoreUnavailable('The event store did not answer in time');
        return await store.eventStore.load(streamName);
      },
    },
  });
  run(t, projection, store, database);
  await reached(
    database.db,
    deliveryList.name,
    await append(store.eventStore, 'P', [requested(), applied(result(1, 'failed'))]),
  );
  t.is(failures, 3);
  t.is((await statusOf(database.db, deliveryList.name))?.fault, null);
  t.is((await database.db('reactor_deliveries.deliveries')).length, 1);
});

test.serial('rebuilds of payments under load touch no due row', async (t) => {
  const { database, store } = await startStores(t, postgres);
  const { db, url } = database;
  const { eventStore } = store;
  run(t, payments, store, database);
  run(t, createDeliveryList({ eventStore }), store, database);
  const pay = (id: string) => append(eventStore, id, [requested(), applied(result(1, 'failed'))]);
  for (let index = 0; index < 40; index += 1) await pay(`P${index}`);
  await Promise.all(
    [payments, deliveryList].map(async ({ name }) => reached(db, name, await pay(`last-${name}`))),
  );
  const now = new Date();
  const claimed = await createDeliveryQueue(db).claim({
    kind: 'callback',
    now,
    leaseUntil: new Date(now.getTime() + 60_000),
    holder: 'one',
    limit: 10,
    limitPerReceiver: 100,
    receiverLimits: new Map(),
    limitPerMerchant: 100,
    merchantLimits: new Map(),
  });
  t.is(claimed.length, 10);
  // The table and the version of each row: both change when anything is written or replaced.
  const rows = async () =>
    (
      await db.raw(
        `select tableoid::text, ctid::text, xmin::text, d.* from reactor_deliveries.deliveries d
         where transaction_id like 'P%' order by transaction_id`,
      )
    ).rows;
  const before = await rows();
  t.is(before.length, 40);

  let rebuilding = true;
  const load = (async () => {
    for (let index = 0; rebuilding; index += 1) {
      await pay(`L${index}`);
      await systemRuntime.sleep(5);
    }
  })();
  const signal = new AbortController().signal;
  const onProgress = () => undefined;
  for (let round = 0; round < 3; round += 1)
    await rebuild({
      projection: payments,
      eventStore,
      db,
      databaseUrl: url,
      personalData,
      log,
      runtime: systemRuntime,
      signal,
      onProgress,
    });
  rebuilding = false;
  await load;
  t.deepEqual(await rows(), before);
});

test.serial('the list has caught up once it holds what was recorded before the question', async (t) => {
  const { database, store, eventStore } = await startStores(t, postgres);
  await append(eventStore, 'P', [requested(), applied(result(1, 'failed'))]);
  const stopping = new AbortController();
  const sources = {
    eventStore,
    db: database.db,
    runtime: systemRuntime,
    signal: stopping.signal,
  };
  let rows = -1;
  const caughtUp = untilCaughtUp(deliveryList, sources).then(async () => {
    rows = (await database.db('reactor_deliveries.deliveries')).length;
  });
  await systemRuntime.sleep(300);
  t.is(rows, -1, 'it has never run');
  run(t, createDeliveryList({ eventStore }), store, database);
  await caughtUp;
  t.is(rows, 1);

  await database.db('checkpoints').update({ version: 0 });
  const given = untilCaughtUp(deliveryList, sources);
  stopping.abort();
  await t.notThrowsAsync(given, 'who stops does not wait');
});
