// Reactors that are killed or stopped, and a PostgreSQL that is, while a callback is on its way.
import { once } from 'node:events';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test, { type ExecutionContext } from 'ava';
import { failure } from '../../../src/reactors/deliveries/delivery-task.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { createDeliveryQueue, type DeliveryQueue } from '../../../src/to-do/delivery-queue.ts';
import { postgresPids } from '../../embedded/helpers.ts';
import { append, end, reached } from '../../projections/helpers.ts';
import { applied, result } from '../../support/payments.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';
import {
  endLeases,
  forkCallbacks,
  historyOf,
  isReady,
  makePayment,
  paymentEvents,
  startCallbacks,
  startLedger,
  until,
  untilHistory,
} from '../helpers.ts';
import { hang, held, ok, startReceiver } from '../receiver.ts';

const postgres = await startOwnPostgres();

/** Reactors that were killed when the callback of P1 had arrived; the receiver answers from now on. */
async function killedWhileSending(t: ExecutionContext) {
  const ledger = await startLedger(t, postgres);
  const killed = forkCallbacks(t, ledger);
  const receiver = await startReceiver(t, () => void end(killed));
  await isReady(killed);
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await until(() => receiver.received.length === 1 && killed.signalCode !== null);
  receiver.answer = ok;
  await endLeases(ledger);
  return { ledger, receiver };
}

test.serial(
  'kill -9 between the callback and its record: sent again under the same id, and the history says so',
  async (t) => {
    const { ledger, receiver } = await killedWhileSending(t);
    forkCallbacks(t, ledger);
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
  'an interruption is recorded although the log was away when it was first looked at',
  async (t) => {
    const { ledger } = await killedWhileSending(t);
    const { eventStore } = ledger.store;
    let loads = 0;
    const load: typeof eventStore.load = (...asked) => {
      loads += 1;
      return loads > 1 ? eventStore.load(...asked) : Promise.reject(new EventStoreUnavailable('it is away'));
    };
    startCallbacks(t, ledger, { eventStore: { load }, runtime: testRuntime(), leaseMs: 1_000 });
    const history = await untilHistory(ledger, 'P1', 2);
    t.deepEqual(
      history.map(({ type, data }) => [type, Reflect.get(data, 'attempt')]),
      [
        ['CallbackAttemptFailed', 1],
        ['CallbackDelivered', 2],
      ],
    );
  },
);

test.serial(
  'killed while a newer status arrived: the history names the callback that was sent',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const killed = forkCallbacks(t, ledger);
    const receiver = await startReceiver(t, hang);
    await isReady(killed);
    const events = paymentEvents('P1', receiver.url, 'pending');
    await makePayment(ledger, 'P1', events);
    await until(() => receiver.received.length === 1);
    await end(killed);
    receiver.answer = ok;
    const newer = applied(result(1, 'succeeded'));
    const position = await append(ledger.store.eventStore, 'P1', [newer], events.length - 1);
    await reached(ledger.database.db, deliveryList.name, position);
    await endLeases(ledger);
    forkCallbacks(t, ledger);
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

test.serial(
  'a process that stood still before the callback looks at the stream again, and sends what is due now',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const receiver = await startReceiver(t);
    const events = paymentEvents('P1', receiver.url, 'pending');
    await makePayment(ledger, 'P1', events);
    const { eventStore } = ledger.store;
    let stoodMs = 0;
    const load = async (...given: Parameters<typeof eventStore.load>) => {
      const loaded = await eventStore.load(...given);
      if (stoodMs > 0) return loaded;
      stoodMs = 50_000;
      await append(eventStore, 'P1', [applied(result(1, 'succeeded'))], events.length - 1);
      return loaded;
    };
    const monotonicMs = () => systemRuntime.monotonicMs() + stoodMs;
    const runtime = testRuntime({ now: ledger.clock.now, monotonicMs });
    const reactor = startCallbacks(t, ledger, { eventStore: { load }, runtime });
    await until(() => {
      reactor.wake();
      return stoodMs > 0;
    });
    ledger.clock.set(ledger.clock.now().getTime() + 10_000);
    await until(() => {
      reactor.wake();
      return receiver.received.length > 0;
    });
    t.deepEqual(
      receiver.received.map(({ body }) => JSON.parse(body).payment_status),
      ['Successful'],
    );
    const history = await untilHistory(ledger, 'P1', 2);
    t.deepEqual(
      history.map(({ type }) => type),
      ['CallbackSuperseded', 'CallbackDelivered'],
    );
  },
);

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

test.serial('a stop settles the rows of recorded attempts that the list has not come to', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t, ok);
  const ofPostgres = createDeliveryQueue(ledger.database.db);
  const settled: string[] = [];
  const queue: DeliveryQueue = {
    ...ofPostgres,
    stillHeld: async (rows) => rows.slice(),
    async settle(claimed, stream) {
      await ofPostgres.settle(claimed, stream);
      settled.push(claimed.transactionId);
    },
  };
  const reactor = startCallbacks(t, ledger, { queue });
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P1', 1);
  await reactor.stop();
  t.deepEqual(settled, ['P1']);
});

test.serial('the list has three seconds for each outcome, also for one that follows another', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t, ok);
  const ofPostgres = createDeliveryQueue(ledger.database.db);
  const looked: string[][] = [];
  const queue: DeliveryQueue = {
    ...ofPostgres,
    async stillHeld(rows) {
      looked.push(rows.map(({ transactionId }) => transactionId));
      return ofPostgres.stillHeld(rows);
    },
  };
  const waited: PromiseWithResolvers<void>[] = [];
  const runtime = testRuntime({
    now: ledger.clock.now,
    sleep: (ms, signal) => {
      if (ms !== 3_000 || signal?.aborted) return systemRuntime.sleep(ms, signal);
      const end = Promise.withResolvers<void>();
      signal?.addEventListener('abort', () => end.resolve());
      waited.push(end);
      return end.promise;
    },
  });
  startCallbacks(t, ledger, { queue, runtime });
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await until(() => waited.length === 1);
  await makePayment(ledger, 'P2', paymentEvents('P2', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P2', 1);
  waited[0]?.resolve();
  await until(() => looked.length === 1);
  t.deepEqual(looked, [['P1']]);
});

test.serial(
  'an attempt that hangs at a stop is recorded as interrupted, and another worker retries at once',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const receiver = await startReceiver(t, hang);
    const runtime = testRuntime({
      now: ledger.clock.now,
      // For attempts under way at a stop: a tenth of a second instead of ten.
      setTimer: (ms, run) => systemRuntime.setTimer(ms / 100, run),
    });
    const reactor = startCallbacks(t, ledger, { runtime });
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

test.serial(
  'an answer that comes as a stop interrupts its attempt is recorded, not an unknown outcome',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const begun = Promise.withResolvers<void>();
    const reactor = startCallbacks(t, ledger, {
      runtime: testRuntime({ now: ledger.clock.now, setTimer: (_, run) => systemRuntime.setTimer(0, run) }),
      async perform({ signal }) {
        begun.resolve();
        if (!signal.aborted) await once(signal, 'abort');
        return failure('answered 500', { status: 500 });
      },
    });
    await makePayment(ledger, 'P1', paymentEvents('P1', 'http://127.0.0.1', 'succeeded'));
    await begun.promise;
    await reactor.stop();
    t.like((await historyOf(ledger, 'P1'))[0], { data: { status: 500, reason: 'answered 500' } });
  },
);

test.serial(
  'an attempt that has not begun when a stop interrupts it is not made, and another worker makes it at once',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const receiver = await startReceiver(t, ok);
    const [looked, interrupted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { eventStore } = ledger.store;
    const load = async (...given: Parameters<typeof eventStore.load>) => {
      looked.resolve();
      await interrupted.promise;
      return await eventStore.load(...given);
    };
    const runtime = testRuntime({
      now: ledger.clock.now,
      setTimer: (_, run) =>
        systemRuntime.setTimer(0, () => {
          run();
          interrupted.resolve();
        }),
    });
    const reactor = startCallbacks(t, ledger, { eventStore: { load }, runtime });
    await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
    await looked.promise;
    await reactor.stop();
    t.deepEqual(await historyOf(ledger, 'P1'), []);
    // The clock of the tests stands still: a row that was put off would not be claimed.
    startCallbacks(t, ledger);
    t.like((await untilHistory(ledger, 'P1', 1))[0], { type: 'CallbackDelivered', data: { attempt: 1 } });
    t.is(receiver.received.length, 1);
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
