// A to-do list that was dropped, is behind its stream, or does not follow the log: nothing is sent twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { compareWithFresh } from '@ledger/projections/rebuild/compare.ts';
import { untilCaughtUp } from '@ledger/projections/runtime/lag.ts';
import test from 'ava';
import { genesisHash, hashOf } from '../../../src/events/envelope.ts';
import { type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import { createDeliveryList, deliveryList } from '../../../src/to-do/delivery-list.ts';
import { query } from '../../embedded/helpers.ts';
import { append, emptyDatabase, log, reached, run, startStore } from '../../projections/helpers.ts';
import { applied, plain, result } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import {
  historyOf,
  type Ledger,
  makePayment,
  paymentEvents,
  runToDo,
  startCallbacks,
  startLedger,
  stillClock,
  until,
  untilHistory,
} from '../helpers.ts';
import { ok, startReceiver, status } from '../receiver.ts';

const postgres = await createDatabase();
const minute = 60_000;

test.serial('rows dropped and projected anew: nothing is sent again', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  startCallbacks(t, ledger);
  const ids = Array.from({ length: 20 }, (_, index) => `P${index}`);
  for (const id of ids)
    await append(ledger.store.eventStore, id, paymentEvents(id, receiver.url, 'pending', 'succeeded'));
  await until(async () => {
    const histories = await Promise.all(ids.map((id) => historyOf(ledger, id)));
    return histories.every((events) => events.at(-1)?.type === 'CallbackDelivered' && events.length === 2);
  });
  const sentBefore = receiver.received.length;

  // Again after a deadlock: a claim locks the tables in another order.
  await until(async () => {
    const dropped = query(postgres.url, 'drop schema reactor_deliveries cascade; drop table checkpoints');
    return await dropped.then(
      () => true,
      (error) => {
        if (error.code !== '40P01') throw error;
        return false;
      },
    );
  });
  runToDo(t, ledger);
  const last = await append(ledger.store.eventStore, 'Q', paymentEvents('Q', receiver.url, 'succeeded'));
  await reached(ledger.database.db, deliveryList.name, last);
  await untilHistory(ledger, 'Q', 1);
  t.is(receiver.received.length, sentBefore + 1);
});

/** As version 1 of the program stored it. */
function ofVersion1(event: PaymentEvent): { type: string; data: unknown } {
  const added = ['orderNo', 'merchantCode', 'deliveries', 'postingRule', 'emailReceipt', 'fingerprint'];
  const left = Object.entries(event.data).filter(
    ([name]) => ![...added, 'personal', 'evidence'].includes(name),
  );
  const data = Object.fromEntries(left);
  if (event.type === 'PaymentRequested') Object.assign(data, plain(event.data.personal));
  if ('result' in event.data) {
    const { personal, evidence, result } = event.data;
    data.result = { ...result, ...plain(personal), raw: plain(evidence) };
  }
  return { type: event.type, data };
}

async function appendVersion1({ store }: Ledger, id: string, events: readonly PaymentEvent[]): Promise<void> {
  let previousHash = genesisHash;
  const stored = events.map((event) => {
    const old = ofVersion1(event);
    const hash = hashOf(old.type, old.data, { schemaVersion: 1, previousHash });
    const metadata = { schemaVersion: 1, previousHash, hash };
    previousHash = hash;
    return { ...old, id: systemRuntime.uuid(), metadata };
  });
  await store.eventStore.append(paymentStream(id), stored, 'no_stream');
}

const delivered: PaymentEvent = {
  type: 'CallbackDelivered',
  data: { at: '2026-11-20T01:05:00.000Z', delivery: 'callback-1', attempt: 1, durationMs: 5, status: 200 },
};

test.serial('the first start on the log of version 1: what was delivered is not sent again', async (t) => {
  const database = await emptyDatabase(postgres);
  const ledger = { database, store: await startStore(t), clock: stillClock() };
  const receiver = await startReceiver(t);
  for (let index = 0; index < 30; index += 1) {
    const id = `P${index}`;
    const events = paymentEvents(id, receiver.url, 'succeeded');
    await appendVersion1(ledger, id, index % 3 === 0 ? events : [...events, delivered]);
  }
  const ready = untilCaughtUp(deliveryList, {
    eventStore: ledger.store.eventStore,
    db: database.db,
    runtime: systemRuntime,
    signal: new AbortController().signal,
  });
  startCallbacks(t, ledger, { ready });
  await sleep(200);
  t.is(receiver.received.length, 0);
  runToDo(t, ledger);
  await until(() => receiver.received.length >= 10);
  await sleep(300);
  t.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']).toSorted(),
    Array.from({ length: 10 }, (_, index) => `P${index * 3}-callback-1`).toSorted(),
  );
});

test.serial('a row that is behind its stream, or says something else, is not sent', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const events = paymentEvents('P1', receiver.url, 'succeeded');
  await makePayment(ledger, 'P1', events);
  const { db } = ledger.database;
  const [{ attempts, due_at }] = await db('reactor_deliveries.deliveries');
  const { at, delivery } = delivered.data;
  const nextAttemptAt = '2026-11-20T09:00:00.000Z';
  const failed: PaymentEvent = {
    type: 'CallbackAttemptFailed',
    data: { at, delivery, attempt: 1, durationMs: 5, status: 500, reason: 'answered 500', nextAttemptAt },
  };
  /** The list is at the end of the log, and the row differs from what the list made of it. */
  const withWrongRow = async (event: PaymentEvent, revision: number, wrong: object) => {
    const last = await append(ledger.store.eventStore, 'P1', [event], revision);
    await reached(db, deliveryList.name, last);
    await db('reactor_deliveries.deliveries').update({ lease_until: null, ...wrong });
  };
  const isGivenBack = () =>
    until(async () => {
      const [{ lease_until, leased_by }] = await db('reactor_deliveries.deliveries');
      return lease_until !== null && leased_by === null;
    });
  // As if the list had not read the last event yet.
  await withWrongRow(failed, events.length - 1, { attempts, due_at });
  const reactor = startCallbacks(t, ledger);
  await isGivenBack();
  await withWrongRow(delivered, events.length, { state: 'due', settled_at: null, due_at });
  reactor.wake();
  await isGivenBack();
  t.is(receiver.received.length, 0);
});

test.serial('a payment’s deliveries go on while the list does not follow the log', async (t) => {
  const database = await emptyDatabase(postgres);
  const ledger = { database, store: await startStore(t), clock: stillClock() };
  const { db } = database;
  const { eventStore } = ledger.store;
  const projection = createDeliveryList({ eventStore });
  const list = run(t, projection, ledger.store, database);
  const receiver = await startReceiver(t, status(503));
  const events = paymentEvents('P1', receiver.url, 'pending');
  await makePayment(ledger, 'P1', events);
  await list.stop();
  // What it has not come to, some of it of this payment.
  for (let index = 0; index < 50; index += 1)
    await append(eventStore, `Q${index}`, paymentEvents(`Q${index}`, '', ...Array(9).fill('failed')));
  const pass = () => ledger.clock.set(ledger.clock.now().getTime() + 10 * minute);
  const reactor = startCallbacks(t, ledger, { scheduleMs: [0, 1_000, 1_000] });
  for (const attempts of [1, 2]) {
    await until(async () =>
      (await db('reactor_deliveries.deliveries')).every((row) => row.attempts === attempts),
    );
    pass();
    reactor.wake();
  }
  await untilHistory(ledger, 'P1', 3);
  receiver.answer = ok;
  await append(eventStore, 'P1', [applied(result(1, 'succeeded'))], events.length + 2);
  const rows = () => db('reactor_deliveries.deliveries').where('transaction_id', 'P1');
  await until(async () => (await rows())[0]?.attempts === 3);
  t.like((await rows())[0], { state: 'abandoned', attempts: 3, leased_by: null });
  t.is(receiver.received.length, 3);

  const compare = () =>
    compareWithFresh({
      projection,
      eventStore,
      db,
      databaseUrl: database.url,
      personalData,
      log,
      runtime: systemRuntime,
      signal: new AbortController().signal,
      onProgress: () => {},
      limit: 9,
    });
  t.deepEqual((await compare()).differences, [], 'rows ahead of the checkpoint are what the events lead to');
  run(t, projection, ledger.store, database);
  t.like((await untilHistory(ledger, 'P1', 4))[3], {
    type: 'CallbackDelivered',
    data: { delivery: 'callback-2' },
  });
  const last = await append(eventStore, 'R', paymentEvents('R', receiver.url, 'succeeded'));
  await reached(db, deliveryList.name, last);
  await untilHistory(ledger, 'R', 1);
  t.is(receiver.received.length, 5);
  t.deepEqual((await compare()).differences, []);
});

test.serial('a newer status goes out while the list does not follow the log', async (t) => {
  const database = await emptyDatabase(postgres);
  const ledger = { database, store: await startStore(t), clock: stillClock() };
  const { eventStore } = ledger.store;
  const list = run(t, createDeliveryList({ eventStore }), ledger.store, database);
  const receiver = await startReceiver(t);
  const events = paymentEvents('P1', receiver.url, 'pending');
  await makePayment(ledger, 'P1', events);
  await list.stop();
  // The row is still about the callback before.
  await append(eventStore, 'P1', [applied(result(1, 'succeeded'))], events.length - 1);
  startCallbacks(t, ledger);
  t.deepEqual(
    (await untilHistory(ledger, 'P1', 2)).map(({ type, data }) => [type, Reflect.get(data, 'delivery')]),
    [
      ['CallbackSuperseded', 'callback-1'],
      ['CallbackDelivered', 'callback-2'],
    ],
  );
  t.is(receiver.received.length, 1);
});
