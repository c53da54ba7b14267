// Attempts at a time: each callback once however many processes there are, and no receiver takes the slots of others.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { failure } from '../../../src/reactors/deliveries/delivery-task.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { createDeliveryQueue } from '../../../src/to-do/delivery-queue.ts';
import { append, reached } from '../../projections/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';
import {
  forkCallbacks,
  isReady,
  makePayment,
  paymentEvents,
  startCallbacks,
  startLedger,
  until,
  untilHistory,
} from '../helpers.ts';
import { held, ok, startReceiver, status } from '../receiver.ts';

const postgres = await createDatabase();
const minute = 60_000;

test.serial('any number of processes: each callback once', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  const children = [1, 2, 3].map(() => forkCallbacks(t, ledger));
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

test.serial(
  'a queue at one receiver goes on without a poll, also where attempts end while others are claimed',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const ids = Array.from({ length: 30 }, (_, index) => `P${index}`);
    for (const id of ids) await makePayment(ledger, id, paymentEvents(id, 'http://127.0.0.1:9', 'succeeded'));
    const queue = createDeliveryQueue(ledger.database.db);
    const performed = new Set<string>();
    startCallbacks(t, ledger, {
      perform: async ({ payment }) => {
        performed.add(payment.request.transactionId);
        return { kind: 'delivered', status: 200, messageId: '' };
      },
      queue: {
        ...queue,
        async claim(asked) {
          const claimed = await queue.claim(asked);
          await sleep(200);
          return claimed;
        },
      },
      runtime: testRuntime({
        now: ledger.clock.now,
        sleep: (ms, signal) => systemRuntime.sleep(ms < 1_000 ? ms : minute * 60, signal),
      }),
    });
    await until(() => performed.size === ids.length);
    t.pass();
  },
);

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
      await append(ledger.store.eventStore, id, eventsOf(code, id, url));
    }
  const last = await append(ledger.store.eventStore, 'P1', paymentEvents('P1', healthy.url, 'succeeded'));
  await reached(ledger.database.db, deliveryList.name, last);
  const reactor = startCallbacks(t, ledger);
  const hung = () => hanging.reduce((sum, { received }) => sum + received.length, 0);
  await until(() => hung() >= 32);
  t.like((await untilHistory(ledger, 'P1', 1))[0], { type: 'CallbackDelivered' });
  const second = await append(ledger.store.eventStore, 'P2', paymentEvents('P2', healthy.url, 'succeeded'));
  await reached(ledger.database.db, deliveryList.name, second);
  reactor.wake();
  t.like((await untilHistory(ledger, 'P2', 1))[0], { type: 'CallbackDelivered' });
  t.is(hung(), 32, 'no more than its share at a time');
  for (const receiver of hanging) receiver.answer = ok;
  release();
});

test.serial('a merchant whose callbacks fail at the host of another does not pause the other', async (t) => {
  const ledger = await startLedger(t, postgres);
  const shared = await startReceiver(t, (response, received) =>
    (received.path === '/broken' ? status(503) : ok)(response, received),
  );
  startCallbacks(t, ledger);
  for (let index = 0; index < 20; index += 1)
    await append(
      ledger.store.eventStore,
      `H${index}`,
      eventsOf('failing', `H${index}`, `${shared.origin}/broken`),
    );
  await until(() => shared.received.length >= 5);
  await append(ledger.store.eventStore, 'P1', paymentEvents('P1', shared.url, 'succeeded'));
  t.like((await untilHistory(ledger, 'P1', 1))[0], { type: 'CallbackDelivered' });
  t.true(shared.received.length < 20, 'the one whose callbacks fail is paused');
});

test.serial('a mail server that is down is paused for all merchants, as none of them chose it', async (t) => {
  const ledger = await startLedger(t, postgres);
  for (let index = 0; index < 8; index += 1) {
    const merchantCode = `agency-${index}`;
    const announced = { merchantCode, deliveries: [{ key: 'email', kind: 'email' } as const] };
    const events = eventsOf(merchantCode, `P${index}`, '').map((event) =>
      event.type === 'PaymentSucceeded' ? { ...event, data: { ...event.data, ...announced } } : event,
    );
    await makePayment(ledger, `P${index}`, events);
  }
  const queue = createDeliveryQueue(ledger.database.db);
  const attempted: string[] = [];
  let claims = 0;
  const worker = startCallbacks(t, ledger, {
    kind: 'email',
    perform: async ({ payment }) => {
      attempted.push(payment.request.merchant.code);
      return failure('nobody answers', { isReceiverDown: true });
    },
    queue: {
      ...queue,
      async claim(asked) {
        claims += 1;
        return await queue.claim(asked);
      },
    },
    concurrency: { total: 1, perReceiver: 1, perMerchant: 1 },
  });
  await until(() => attempted.length >= 5);
  const before = claims;
  await until(() => {
    worker.wake();
    return claims >= before + 5;
  });
  t.is(new Set(attempted).size, 5);
  t.is(attempted.length, 5);
});

/** A payment to a merchant of this code. */
function eventsOf(code: string, id: string, url: string) {
  return paymentEvents(id, url, 'succeeded').map((event) =>
    event.type === 'PaymentRequested'
      ? { ...event, data: { ...event.data, merchant: { ...event.data.merchant, code } } }
      : event,
  );
}
