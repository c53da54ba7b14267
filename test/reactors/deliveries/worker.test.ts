// What an attempt sends and records, on real stores and to real receivers, and when the next one is made.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '@ledger/kernel/log.ts';
import test from 'ava';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { chain, genesisHash, metadataText, ownCause } from '../../../src/events/envelope.ts';
import type { OpenPayment } from '../../../src/events/open-payment.ts';
import { type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { createDeliveryQueue } from '../../../src/to-do/delivery-queue.ts';
import { query } from '../../embedded/helpers.ts';
import { append, reached } from '../../projections/helpers.ts';
import { countLoads } from '../../support/count-loads.ts';
import { contradicted, mismatched, resolvedAs, result, sen } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';
import {
  historyOf,
  makePayment,
  paymentEvents,
  startCallbacks,
  startLedger,
  until,
  untilHistory,
} from '../helpers.ts';
import { ok, startReceiver, status } from '../receiver.ts';

const postgres = await createDatabase();
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

test.serial('a callback that waited says what called for it', async (t) => {
  const ledger = await startLedger(t, postgres);
  const events = paymentEvents('P1', 'https://one.example/', 'succeeded');
  await makePayment(ledger, 'P1', [...events, contradicted(result(1, 'failed'), 'succeeded')]);
  const shown: OpenPayment[] = [];
  startCallbacks(t, ledger, {
    perform: async ({ payment }) => {
      shown.push(payment);
      return { kind: 'delivered', status: 200, messageId: 'P1-callback-1' };
    },
  });
  await untilHistory(ledger, 'P1', 1);
  t.deepEqual(
    shown.map(({ results }) => results.length),
    [1],
  );
});

test.serial(
  'a claim that PostgreSQL does not answer is made again; what takes too long, or is a fault, is a failed attempt',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const queue = createDeliveryQueue(ledger.database.db);
    let failures = 0;
    startCallbacks(t, ledger, {
      queue: {
        ...queue,
        claim: async (claim) => {
          failures += 1;
          if (failures === 1) throw new Error('Connection terminated unexpectedly');
          return await queue.claim(claim);
        },
      },
      runtime: testRuntime({ now: ledger.clock.now, timeout: () => AbortSignal.timeout(10) }),
      // It would take for ever, if it might.
      perform: async ({ signal }) => {
        await once(signal, 'abort');
        throw new TypeError('of no text');
      },
    });
    await makePayment(ledger, 'P1', paymentEvents('P1', 'https://one.example/', 'succeeded'));
    t.like((await untilHistory(ledger, 'P1', 1))[0], {
      type: 'CallbackAttemptFailed',
      data: { attempt: 1, status: null, reason: 'a fault of this service' },
    });
  },
);

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

test.serial('an id of a request that no header can hold is replaced by that of the event', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const { eventStore } = ledger.store;
  const cause = { ...ownCause(testRuntime().uuid(), 'tests'), correlationId: 'one\r\nx-two: 2' };
  const events = chain(paymentEvents('P1', receiver.url, 'succeeded'), genesisHash, cause);
  const { position } = await eventStore.append(paymentStream('P1'), events, 'no_stream');
  await reached(ledger.database.db, deliveryList.name, position);
  startCallbacks(t, ledger);
  await until(() => receiver.received.length > 0);
  const ids = (await eventStore.load(paymentStream('P1'))).map(({ id }) => id);
  t.true(ids.includes(String(receiver.received[0]?.headers['x-correlation-id'])));
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
    let attempts = 0;
    const countAttempt = () => {
      attempts += 1;
    };
    const reactor = startCallbacks(t, ledger, { countAttempt });
    // More than the failures at which the breaker lets one attempt a minute through.
    const ids = Array.from({ length: 7 }, (_, index) => `P${index}`);
    for (const id of ids) await makePayment(ledger, id, paymentEvents(id, receiver.url, 'succeeded'));

    const startMs = clock.now().getTime();
    const histories = () => Promise.all(ids.map((id) => historyOf(ledger, id)));
    /** The clock stands still until an attempt has ended, and then leaps to when the next is due. */
    const untilAttempts = async (count: number) => {
      for (let before = attempts; before < count * ids.length; before = attempts) {
        const due = (await histories()).map((events) =>
          Reflect.get(events.at(-1)?.data ?? {}, 'nextAttemptAt'),
        );
        const firstDueMs = Math.min(...due.map((at) => Date.parse(at ?? clock.now().toISOString())));
        clock.set(Math.max(clock.now().getTime() + minute, firstDueMs));
        reactor.wake();
        await until(() => attempts > before);
      }
    };
    await untilAttempts(5);
    clock.set(startMs + 5 * 60 * minute);
    receiver.answer = ok;
    await untilAttempts(6);

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
