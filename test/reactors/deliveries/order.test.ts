// Callbacks of one payment: one at a time, and in the order of its statuses.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { createDeliveryQueue } from '../../../src/to-do/delivery-queue.ts';
import { append, reached } from '../../projections/helpers.ts';
import { applied, chosen, request, result } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { makePayment, paymentEvents, startCallbacks, startLedger, until, untilHistory } from '../helpers.ts';
import { held, ok, startReceiver, status } from '../receiver.ts';

const postgres = await createDatabase();
const minute = 60_000;

function requestedWithEmail(callbackUrl: string): PaymentEvent {
  return { type: 'PaymentRequested', data: request({ transactionId: 'P1', callbackUrl }) };
}

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
  await reached(ledger.database.db, deliveryList.name, position);
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
  await reached(ledger.database.db, deliveryList.name, position);
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

test.serial(
  'the receipt email leaves a callback that is on its way to the claim that sends it',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const { answer, release } = held();
    const receiver = await startReceiver(t, answer);
    const callbacks = startCallbacks(t, ledger);
    const events = [requestedWithEmail(receiver.url), chosen(1), applied(result(1, 'pending'))];
    await makePayment(ledger, 'P1', events);
    await until(() => receiver.received.length === 1);
    const emails = startCallbacks(t, ledger, {
      name: 'receipt-email',
      kind: 'email',
      perform: async () => ({ kind: 'delivered', status: null, messageId: 'M1' }),
    });
    const newer = applied(result(1, 'succeeded'));
    const position = await append(ledger.store.eventStore, 'P1', [newer], events.length - 1);
    await reached(ledger.database.db, deliveryList.name, position);
    emails.wake();
    await untilHistory(ledger, 'P1', 1);
    receiver.answer = ok;
    release();
    await until(() => {
      callbacks.wake();
      return receiver.received.length === 2;
    });
    const history = await untilHistory(ledger, 'P1', 3);
    t.deepEqual(
      history.map(({ type, data }) => [type, 'delivery' in data && data.delivery]),
      [
        ['ReceiptEmailSent', 'email'],
        ['CallbackDelivered', 'callback-1'],
        ['CallbackDelivered', 'callback-2'],
      ],
    );
  },
);

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

test.serial('a newer callback waits for a claim of its own, which names it after a crash', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const queue = createDeliveryQueue(ledger.database.db);
  const claims: string[] = [];
  const events = paymentEvents('P1', receiver.url, 'pending');
  const claim = async (given: Parameters<typeof queue.claim>[0]) => {
    const claimed = await queue.claim(given);
    if (claimed.length > 0 && claims.length === 0)
      await append(ledger.store.eventStore, 'P1', [applied(result(1, 'succeeded'))], events.length - 1);
    claims.push(...claimed.map(({ delivery }) => delivery));
    return claimed;
  };
  const reactor = startCallbacks(t, ledger, { queue: { ...queue, claim } });
  await makePayment(ledger, 'P1', events);
  await until(() => {
    ledger.clock.set(ledger.clock.now().getTime() + 1_000);
    reactor.wake();
    return receiver.received.length === 1;
  });
  t.deepEqual(claims, ['callback-1', 'callback-2']);
  t.is(JSON.parse(receiver.received[0]?.body ?? '').status, '1');
});
