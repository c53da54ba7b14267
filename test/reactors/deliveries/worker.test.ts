// Deliveries on real stores, to real receivers: once each while all is well, again under the same id when it is not.
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '@ledger/kernel/log.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { compareWithFresh } from '@ledger/projections/rebuild/compare.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { untilCaughtUp } from '@ledger/projections/runtime/lag.ts';
import test from 'ava';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { genesisHash, hashOf, metadataText } from '../../../src/events/envelope.ts';
import type { OpenPayment } from '../../../src/events/open-payment.ts';
import { type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import { createToDoList, toDoList } from '../../../src/to-do/projection.ts';
import { createDeliveryQueue } from '../../../src/to-do/queue.ts';
import { postgresPids, query } from '../../embedded/helpers.ts';
import { append, emptyDatabase, end, log, reached, run, startStore } from '../../projections/helpers.ts';
import { countLoads } from '../../support/count-loads.ts';
import { applied, mismatched, plain, resolvedAs, result, sen } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import {
  forkCallbacks,
  historyOf,
  isReady,
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
import { hang, held, ok, startReceiver, status } from '../receiver.ts';

const postgres = await startOwnPostgres();
const minute = 60_000;

test.serial('a callback is sent once, and the history says so', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  startCallbacks(t, ledger);
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  const [delivered] = await untilHistory(ledger, 'P1', 1);
  t.like(delivered, { type: 'CallbackDelivered', data: { delivery: 'callback-1', attempt: 1, status: 200 } });
  const [row] = await until(async () => {
    const rows = await query(
      postgres.url,
      `select * from reactor_deliveries.deliveries where state = 'delivered'`,
    );
    return rows.length > 0 && rows;
  });
  t.like(row, {
    ordering_key: 'callback',
    attempts: 1,
    lease_until: null,
    leased_by: null,
    leased_delivery: null,
    receiver: receiver.origin,
  });
  t.is(receiver.received.length, 1);
});

test.serial('a callback of an erased payment goes, with every field and without the payer', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const erased: PaymentEvent = {
    type: 'PersonalDataErased',
    data: { at: '2026-11-20T01:06:00.000Z', reason: 'requested', keys: [] },
  };
  await makePayment(ledger, 'P1', [...paymentEvents('P1', receiver.url, 'succeeded'), erased]);
  startCallbacks(t, ledger);
  await untilHistory(ledger, 'P1', 1);
  const sent = JSON.parse(receiver.received[0]?.body ?? '');
  t.like(sent, { transaction_id: 'P1', status: '1', amount: '120.50', buyer_name: '' });
  t.is(Object.keys(sent).length, 19);
});

test.serial('an email that waited says how the payment stands when it is sent', async (t) => {
  const ledger = await startLedger(t, postgres);
  const wrong = mismatched(result(1, 'succeeded', { amountSen: sen(1) }));
  const announced = { merchantCode: 'council', deliveries: [{ key: 'notice-1', kind: 'email' }] };
  const detected = { ...wrong, data: { ...wrong.data, ...announced } } as PaymentEvent;
  await makePayment(ledger, 'P1', [...paymentEvents('P1', ''), detected, resolvedAs('refunded', 1)]);
  const shown: OpenPayment[] = [];
  startCallbacks(t, ledger, {
    kind: 'email',
    perform: async ({ payment }) => {
      shown.push(payment);
      return { kind: 'delivered', status: null, messageId: '<x>' };
    },
  });
  await untilHistory(ledger, 'P1', 1);
  t.like(shown, [{ results: [{ resolved: { resolution: 'refunded' } }] }]);
});

const unreadable: Record<string, (isAway: () => boolean) => Parameters<typeof startCallbacks>[2]> = {
  'personal data': (isAway) => ({
    openSealed: async (...args) =>
      isAway() ? { kind: 'unavailable', isLost: false } : await personalData.open(...args),
  }),
  'the secrets that sign it': (isAway) => {
    const get = () => {
      if (isAway()) throw new KeysUnavailable('away');
      return undefined;
    };
    return { merchants: Object.assign(new Map<never, never>(), { get }) };
  },
};
for (const [what, changes] of Object.entries(unreadable))
  test.serial(`while ${what} cannot be read a callback waits, and no attempt is recorded`, async (t) => {
    const ledger = await startLedger(t, postgres);
    const receiver = await startReceiver(t);
    let isAway = true;
    startCallbacks(
      t,
      ledger,
      changes(() => isAway),
    );
    await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
    const { db } = ledger.database;
    // Given back, no longer attempted: the clock stands still from here on.
    await until(async () => {
      const [{ lease_until, leased_by }] = await db('reactor_deliveries.deliveries');
      return lease_until !== null && leased_by === null;
    });
    t.deepEqual(await historyOf(ledger, 'P1'), []);
    t.is(receiver.received.length, 0);
    isAway = false;
    ledger.clock.set(ledger.clock.now().getTime() + 60_000);
    await untilHistory(ledger, 'P1', 1);
    t.is(receiver.received.length, 1);
  });

test.serial('a callback does not wait for personal data whose key is lost', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  startCallbacks(t, ledger, { openSealed: async () => ({ kind: 'unavailable', isLost: true }) });
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P1', 1);
  t.is(JSON.parse(receiver.received[0]?.body ?? '').buyer_name, '');
});

test.serial('the id of the request goes to the receiver, into the event and into the log', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const lines: Record<string, unknown>[] = [];
  const heard = createLog('info', 'reactors', { write: (line: string) => void lines.push(JSON.parse(line)) });
  startCallbacks(t, ledger, { log: heard });
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P1', 1);
  await until(() => lines.length > 0);
  const stored = await ledger.store.eventStore.load(paymentStream('P1'));
  const ids = new Set(stored.map((event) => metadataText(event, '$correlationId')));
  const [id, ...more] = ids;
  t.deepEqual(more, []);
  t.is(receiver.received[0]?.headers['x-correlation-id'], id ?? '');
  t.like(lines, [
    { msg: 'delivery attempted', correlationId: id, attempt: 1, outcome: 'delivered', status: 200 },
  ]);
});

test.serial('an attempt loads the payment once', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const { eventStore, loadsOf } = countLoads(ledger.store.eventStore);
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  startCallbacks(t, ledger, { eventStore, execute });
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P1', 1);
  t.is(loadsOf(paymentStream('P1')), 1);
});

test.serial(
  'a receiver that is down for five hours gets everything afterwards, under the same ids',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const { clock } = ledger;
    const receiver = await startReceiver(t, status(503));
    const reactor = startCallbacks(t, ledger);
    const ids = Array.from({ length: 12 }, (_, index) => `P${index}`);
    for (const id of ids) await makePayment(ledger, id, paymentEvents(id, receiver.url, 'succeeded'));

    const startMs = clock.now().getTime();
    const histories = () => Promise.all(ids.map((id) => historyOf(ledger, id)));
    const pass = async (hours: number, events: number) => {
      const isOver = async () =>
        clock.now().getTime() >= startMs + hours * 60 * minute &&
        (await histories()).every((all) => all.length >= events);
      while (!(await isOver())) {
        clock.set(clock.now().getTime() + 5 * minute);
        reactor.wake();
        await sleep(25);
      }
    };
    await pass(5, 5);
    receiver.answer = ok;
    await pass(5, 6);

    for (const [index, events] of (await histories()).entries()) {
      const id = ids[index] ?? '';
      t.deepEqual(
        events.map(({ type }) => type),
        [...Array(5).fill('CallbackAttemptFailed'), 'CallbackDelivered'],
        id,
      );
      const sent = receiver.received.filter(({ headers }) => headers['webhook-id'] === `${id}-callback-1`);
      t.is(sent.length, 6, id);
      t.is(new Set(sent.map(({ body }) => body)).size, 1, 'every attempt says the same');
    }
    t.is(receiver.received.length, ids.length * 6, 'nothing under any other id');
  },
);

test.serial('callbacks of one payment arrive in order, without superseded ones', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t, status(503));
  const reactor = startCallbacks(t, ledger);
  const events = paymentEvents('P1', receiver.url, 'pending');
  await makePayment(ledger, 'P1', events);
  await untilHistory(ledger, 'P1', 1);

  receiver.answer = ok;
  const failure = result(1, 'failed');
  const success = result(1, 'succeeded');
  const revision = events.length;
  const stream = ledger.store.eventStore;
  const position = await append(stream, 'P1', [applied(failure), applied(success)], revision);
  await reached(ledger.database.db, toDoList.name, position);
  ledger.clock.set(ledger.clock.now().getTime() + 10 * minute);
  reactor.wake();

  const history = await untilHistory(ledger, 'P1', 4);
  t.deepEqual(
    history.map(({ type, data }) => [type, 'delivery' in data && data.delivery]),
    [
      ['CallbackAttemptFailed', 'callback-1'],
      ['CallbackSuperseded', 'callback-1'],
      ['CallbackSuperseded', 'callback-2'],
      ['CallbackDelivered', 'callback-3'],
    ],
  );
  t.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).status),
    ['3', '1'],
  );
});

test.serial('a status that comes while an older one is on its way waits for it', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { answer, release } = held();
  const receiver = await startReceiver(t, answer);
  const reactor = startCallbacks(t, ledger);
  const events = paymentEvents('P1', receiver.url, 'pending');
  await makePayment(ledger, 'P1', events);
  await until(() => receiver.received.length === 1);
  const position = await append(
    ledger.store.eventStore,
    'P1',
    [applied(result(1, 'succeeded'))],
    events.length - 1,
  );
  await reached(ledger.database.db, toDoList.name, position);
  reactor.wake();
  await sleep(100);
  t.is(receiver.received.length, 1);
  receiver.answer = ok;
  release();
  await untilHistory(ledger, 'P1', 2);
  t.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).status),
    ['3', '1'],
  );
});

test.serial('a worker that gives a row back late does not end its own next claim of it', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { answer, release } = held();
  const receiver = await startReceiver(t, answer);
  const queue = createDeliveryQueue(ledger.database.db);
  const late = Promise.withResolvers<void>();
  const postpone = async (...given: Parameters<typeof queue.postpone>) => {
    await late.promise;
    await queue.postpone(...given);
  };
  const reactor = startCallbacks(t, ledger, { queue: { ...queue, postpone } });
  const events = paymentEvents('P1', receiver.url, 'pending');
  await makePayment(ledger, 'P1', events);
  await until(() => receiver.received.length === 1);
  // Because of it the first claim is given back when its callback has been delivered.
  await append(ledger.store.eventStore, 'P1', [applied(result(1, 'succeeded'))], events.length - 1);
  release();
  await until(() => {
    reactor.wake();
    return receiver.received.length === 2;
  });
  late.resolve();
  await sleep(100);
  reactor.wake();
  await sleep(100);
  t.is(receiver.received.length, 2);
  release();
  await untilHistory(ledger, 'P1', 2);
});

test.serial('410 ends it, and Retry-After puts it off', async (t) => {
  const ledger = await startLedger(t, postgres);
  const gone = await startReceiver(t, status(410));
  const busy = await startReceiver(t, status(503, { 'retry-after': '3600' }));
  startCallbacks(t, ledger);
  await makePayment(ledger, 'P1', paymentEvents('P1', gone.url, 'succeeded'));
  await makePayment(ledger, 'P2', paymentEvents('P2', busy.url, 'succeeded'));
  t.like((await untilHistory(ledger, 'P1', 1))[0], {
    type: 'CallbackAbandoned',
    data: { status: 410, reason: 'answered 410' },
  });
  const nextAttemptAt = new Date(ledger.clock.now().getTime() + 60 * minute).toISOString();
  t.like((await untilHistory(ledger, 'P2', 1))[0], {
    type: 'CallbackAttemptFailed',
    data: { nextAttemptAt },
  });
});

test.serial(
  'after the last attempt it is abandoned; requested again, it is sent under the same id',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const receiver = await startReceiver(t, status(500));
    const reactor = startCallbacks(t, ledger, { scheduleMs: [0, 1000] });
    const events = paymentEvents('P1', receiver.url, 'succeeded');
    await makePayment(ledger, 'P1', events);
    await untilHistory(ledger, 'P1', 1);
    await until(async () => {
      ledger.clock.set(ledger.clock.now().getTime() + 2_000);
      reactor.wake();
      await sleep(20);
      return (await historyOf(ledger, 'P1')).length === 2;
    });
    t.is((await historyOf(ledger, 'P1'))[1]?.type, 'CallbackAbandoned');

    receiver.answer = ok;
    const at = ledger.clock.now().toISOString();
    const again = { type: 'CallbackRequested', data: { at, delivery: 'callback-1' } } as const;
    await append(ledger.store.eventStore, 'P1', [again], events.length + 1);
    t.like((await untilHistory(ledger, 'P1', 4))[3], { type: 'CallbackDelivered', data: { attempt: 3 } });
    t.is(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1);
  },
);

test.serial(
  'kill -9 between the callback and its record: sent again under the same id, and the history says so',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const killed = forkCallbacks(t, ledger, 1_000);
    const receiver = await startReceiver(t, () => void end(killed));
    await isReady(killed);
    await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
    await until(() => receiver.received.length === 1 && killed.signalCode !== null);
    receiver.answer = ok;
    forkCallbacks(t, ledger, 1_000);
    const history = await untilHistory(ledger, 'P1', 2);
    t.like(history[0], {
      type: 'CallbackAttemptFailed',
      data: { attempt: 1, status: null, reason: 'outcome unknown, the attempt was interrupted' },
    });
    t.like(history[1], { type: 'CallbackDelivered', data: { attempt: 2, status: 200 } });
    t.deepEqual(
      receiver.received.map(({ headers }) => headers['webhook-id']),
      ['P1-callback-1', 'P1-callback-1'],
    );
  },
);

test.serial(
  'killed while a newer status arrived: the history names the callback that was sent',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const killed = forkCallbacks(t, ledger, 1_000);
    const receiver = await startReceiver(t, hang);
    await isReady(killed);
    const events = paymentEvents('P1', receiver.url, 'pending');
    await makePayment(ledger, 'P1', events);
    await until(() => receiver.received.length === 1);
    await end(killed);
    receiver.answer = ok;
    const newer = applied(result(1, 'succeeded'));
    const position = await append(ledger.store.eventStore, 'P1', [newer], events.length - 1);
    await reached(ledger.database.db, toDoList.name, position);
    forkCallbacks(t, ledger, 1_000);
    const history = await untilHistory(ledger, 'P1', 3);
    t.deepEqual(
      history.map(({ type, data }) => [type, Reflect.get(data, 'delivery'), Reflect.get(data, 'attempt')]),
      [
        ['CallbackAttemptFailed', 'callback-1', 1],
        ['CallbackSuperseded', 'callback-1', undefined],
        ['CallbackDelivered', 'callback-2', 1],
      ],
    );
  },
);

test.serial('any number of processes: each callback once', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const children = [1, 2, 3].map(() => forkCallbacks(t, ledger, minute));
  await Promise.all(children.map(isReady));
  const ids = Array.from({ length: 60 }, (_, index) => `P${index}`);
  await Promise.all(
    ids.map((id) => append(ledger.store.eventStore, id, paymentEvents(id, receiver.url, 'succeeded'))),
  );
  await until(() => receiver.received.length >= ids.length);
  await Promise.all(ids.map((id) => untilHistory(ledger, id, 1)));
  await sleep(300);
  t.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']).toSorted(),
    ids.map((id) => `${id}-callback-1`).toSorted(),
  );
});

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

  await query(postgres.url, 'drop schema reactor_deliveries cascade; drop table checkpoints');
  runToDo(t, ledger);
  const last = await append(ledger.store.eventStore, 'Q', paymentEvents('Q', receiver.url, 'succeeded'));
  await reached(ledger.database.db, toDoList.name, last);
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
  const database = await emptyDatabase(t, postgres);
  const ledger = { database, store: await startStore(t), clock: stillClock() };
  const receiver = await startReceiver(t);
  for (let index = 0; index < 30; index += 1) {
    const id = `P${index}`;
    const events = paymentEvents(id, receiver.url, 'succeeded');
    await appendVersion1(ledger, id, index % 3 === 0 ? events : [...events, delivered]);
  }
  const ready = untilCaughtUp(toDoList, {
    eventStore: ledger.store.eventStore,
    projectionStatus: () => projectionStatus(database.db),
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

test.serial('a row that is behind its stream is not sent', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const events = paymentEvents('P1', receiver.url, 'succeeded');
  await makePayment(ledger, 'P1', events);
  // As if the list had not read the last event yet: it is at the end of the log, and the row as it was before.
  const { db } = ledger.database;
  const [before] = await db('reactor_deliveries.deliveries');
  const last = await append(ledger.store.eventStore, 'P1', [delivered], events.length - 1);
  await reached(db, toDoList.name, last);
  const { state, attempts, settled_at } = before;
  await db('reactor_deliveries.deliveries').update({ state, attempts, settled_at });
  startCallbacks(t, ledger);
  await until(async () => (await db('reactor_deliveries.deliveries'))[0].lease_until !== null);
  await until(async () => (await db('reactor_deliveries.deliveries'))[0].leased_by === null);
  t.is(receiver.received.length, 0);
});

test.serial('a payment’s deliveries go on while the list does not follow the log', async (t) => {
  const database = await emptyDatabase(t, postgres);
  const ledger = { database, store: await startStore(t), clock: stillClock() };
  const { db } = database;
  const { eventStore } = ledger.store;
  const { projection } = createToDoList({ eventStore });
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
  await reached(db, toDoList.name, last);
  await untilHistory(ledger, 'R', 1);
  t.is(receiver.received.length, 5);
  t.deepEqual((await compare()).differences, []);
});

test.serial('a payment with an event that cannot be read waits, and no other does', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  startCallbacks(t, ledger);
  const unknown = { type: 'PaymentTeleported', data: {} } as unknown as PaymentEvent;
  await makePayment(ledger, 'P1', [...paymentEvents('P1', receiver.url, 'succeeded'), unknown]);
  await makePayment(ledger, 'P2', paymentEvents('P2', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P2', 1);
  const [row] = await until(async () => {
    const rows = await query(
      postgres.url,
      `select lease_until from reactor_deliveries.deliveries
       where transaction_id = 'P1' and leased_by is null and lease_until is not null`,
    );
    return rows.length > 0 && rows;
  });
  t.deepEqual(row?.lease_until, new Date('2026-11-20T01:15:00Z'), 'ten minutes later');
  t.is(receiver.received.length, 1);
});

test.serial('hanging receivers take no other receiver’s place', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { answer, release } = held();
  const [hanging, healthy] = [await startReceiver(t, answer), await startReceiver(t)];
  startCallbacks(t, ledger);
  const pay = (id: string, url: string) =>
    append(ledger.store.eventStore, id, paymentEvents(id, url, 'succeeded'));
  for (let index = 0; index < 20; index += 1) await pay(`H${index}`, hanging.url);
  await until(() => hanging.received.length === 8);
  for (let index = 0; index < 20; index += 1) await pay(`P${index}`, healthy.url);
  await until(() => healthy.received.length === 20);
  t.is(hanging.received.length, 8, 'no more than its share at a time');
  hanging.answer = ok;
  release();
});

test.serial('attempts at a time are as configured', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { answer, release } = held();
  const hanging = await startReceiver(t, answer);
  const pay = (id: string) => makePayment(ledger, id, paymentEvents(id, hanging.url, 'succeeded'));
  for (let index = 0; index < 6; index += 1) await pay(`P${index}`);
  startCallbacks(t, ledger, { concurrency: { total: 3, perReceiver: 5, perMerchant: 5 } });
  await until(() => hanging.received.length === 3);
  await sleep(100);
  t.is(hanging.received.length, 3);
  hanging.answer = ok;
  release();
  await until(() => hanging.received.length === 6);
});

test.serial('a merchant with many hanging receivers takes no other merchant’s place', async (t) => {
  const ledger = await startLedger(t, postgres);
  const healthy = await startReceiver(t);
  const { answer, release } = held();
  const hanging = await Promise.all(Array.from({ length: 40 }, () => startReceiver(t, answer)));
  const code = 'hanging';
  for (const [index, { url }] of hanging.entries())
    for (let nth = 0; nth < 7; nth += 1) {
      const id = `H${index}-${nth}`;
      const events = paymentEvents(id, url, 'succeeded').map((event) =>
        event.type === 'PaymentRequested'
          ? { ...event, data: { ...event.data, merchant: { ...event.data.merchant, code } } }
          : event,
      );
      await append(ledger.store.eventStore, id, events);
    }
  const last = await append(ledger.store.eventStore, 'P1', paymentEvents('P1', healthy.url, 'succeeded'));
  await reached(ledger.database.db, toDoList.name, last);
  const reactor = startCallbacks(t, ledger);
  const hung = () => hanging.reduce((sum, { received }) => sum + received.length, 0);
  await until(() => hung() >= 32);
  t.like((await untilHistory(ledger, 'P1', 1))[0], { type: 'CallbackDelivered' });
  const second = await append(ledger.store.eventStore, 'P2', paymentEvents('P2', healthy.url, 'succeeded'));
  await reached(ledger.database.db, toDoList.name, second);
  reactor.wake();
  t.like((await untilHistory(ledger, 'P2', 1))[0], { type: 'CallbackDelivered' });
  t.is(hung(), 32, 'no more than its share at a time');
  for (const receiver of hanging) receiver.answer = ok;
  release();
});

test.serial('a stop lets an attempt end and be recorded', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { answer, release } = held();
  const receiver = await startReceiver(t, answer);
  const reactor = startCallbacks(t, ledger);
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await until(() => receiver.received.length === 1);
  const stopped = reactor.stop();
  release();
  await stopped;
  t.is((await historyOf(ledger, 'P1')).length, 1);
});

test.serial(
  'an attempt that hangs at a stop is recorded as interrupted, and another worker retries at once',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const receiver = await startReceiver(t, hang);
    const reactor = startCallbacks(t, ledger);
    await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
    await until(() => receiver.received.length === 1);
    await reactor.stop();
    const interrupted = {
      type: 'CallbackAttemptFailed',
      data: { attempt: 1, status: null, reason: 'outcome unknown, the attempt was interrupted' },
    };
    t.like((await historyOf(ledger, 'P1'))[0], interrupted);
    receiver.answer = ok;
    startCallbacks(t, ledger);
    t.like((await untilHistory(ledger, 'P1', 2))[1], { type: 'CallbackDelivered', data: { attempt: 2 } });
  },
);

test.serial('the outcome is recorded although Postgres went down meanwhile', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { answer, release } = held();
  const receiver = await startReceiver(t, answer);
  startCallbacks(t, ledger);
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await until(() => receiver.received.length === 1);
  process.kill((await postgresPids(postgres.dataDir)).postmaster, 'SIGKILL');
  release();
  t.is((await untilHistory(ledger, 'P1', 1))[0]?.type, 'CallbackDelivered');
});
