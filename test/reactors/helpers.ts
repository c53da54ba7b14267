/** Reactors on real stores, with a clock that tests may set, and payments whose callbacks go to receivers of the tests. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EventStoreUnavailable, type RecordedEvent } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { createOutbound } from '@ledger/outbound/post.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import type { ExecutionContext } from 'ava';
import { createExecute } from '../../src/commands/execute.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { readCallbacks } from '../../src/config/callbacks-and-mail.ts';
import { readEnvironment } from '../../src/config/environment-reader.ts';
import type { Merchant } from '../../src/config/merchants.ts';
import { type PaymentEvent, paymentStream, readPaymentEvent } from '../../src/events/payment.ts';
import { createMerchantCallback } from '../../src/reactors/callbacks/merchant-callback.ts';
import { startDeliveryWorker } from '../../src/reactors/deliveries/worker.ts';
import { createDeliveryList, deliveryList } from '../../src/to-do/delivery-list.ts';
import { createDeliveryQueue } from '../../src/to-do/delivery-queue.ts';
import { dueChannel } from '../../src/to-do/delivery-rows.ts';
import { until } from '../embedded/helpers.ts';
import {
  append,
  type Database,
  emptyDatabase,
  end,
  log,
  type Postgres,
  type RunningStore,
  reached,
  run,
  startStore,
} from '../projections/helpers.ts';
import { payer as aminah, applied, chosen, request, result } from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';
import { testRuntime } from '../support/runtime.ts';

export type DeliveryWorker = ReturnType<typeof startDeliveryWorker>;

export { log, until };

const configured = readCallbacks(readEnvironment({}, {}));
export const { scheduleMs } = configured;
const day = 24 * 60 * 60 * 1000;

export type Clock = { now(): Date; set(ms: number): void };

/** A clock that stands still at the time of the payments of test/support until it is set. */
export function stillClock(): Clock {
  let nowMs = Date.parse('2026-11-20T01:05:00.000Z');
  return {
    now: () => new Date(nowMs),
    set: (ms) => {
      nowMs = ms;
    },
  };
}

export type Ledger = { store: RunningStore; database: Database; clock: Clock };

/** Empty stores, and the to-do list. */
export async function startLedger(t: ExecutionContext, postgres: Postgres): Promise<Ledger> {
  const database = await emptyDatabase(postgres);
  const store = await startStore(t);
  const ledger = { store, database, clock: stillClock() };
  runToDo(t, ledger);
  return ledger;
}

/** The to-do list, as the reactors role runs it; it ends with the test. */
export function runToDo(t: ExecutionContext, { store, database }: Ledger): void {
  run(t, createDeliveryList({ eventStore: store.eventStore }), store, database);
}

type Changes = Partial<Parameters<typeof startDeliveryWorker>[0]> & {
  merchants?: ReadonlyMap<string, Pick<Merchant, 'webhookSecrets' | 'callbackFormat'>>;
};

/** The reactor of merchants' callbacks, as `ledger reactors` has it; it ends with the test. */
export function startCallbacks(
  t: Pick<ExecutionContext, 'teardown'>,
  { store, database, clock }: Ledger,
  { merchants = new Map(), ...changes }: Changes = {},
): DeliveryWorker {
  const reactor = startDeliveryWorker({
    name: 'merchant-callback',
    kind: 'callback',
    perform: createMerchantCallback({
      merchantOf: async (code) => merchants.get(code),
      post: createOutbound({ runtime: testRuntime(), allowHosts: configured.allowHosts, httpsOnly: false }),
      runtime: testRuntime({ now: clock.now }),
    }),
    queue: createDeliveryQueue(database.db),
    eventStore: store.eventStore,
    execute: createExecute({
      eventStore: store.eventStore,
      decider: paymentDecider,
      seal: personalData.seal,
    }),
    openSealed: personalData.open,
    scheduleMs,
    concurrency: configured.concurrency,
    runtime: testRuntime({ now: clock.now, random: () => 0.5 }),
    log,
    // On a clock that leaps by hours, a lease of a minute would end before its try.
    leaseMs: 3 * day,
    ...changes,
  });
  const listener = listenForNotifications({
    databaseUrl: database.url,
    channel: dueChannel,
    onNotification: reactor.wake,
    log,
    runtime: systemRuntime,
  });
  t.teardown(async () => {
    await listener.stop();
    await reactor.stop();
  });
  return reactor;
}

/** A reactor in a process of its own, on the real clock, see reactor-child.ts. */
export function forkCallbacks(t: ExecutionContext, { store, database }: Ledger): ChildProcess {
  const script = fileURLToPath(new URL('./reactor-child.ts', import.meta.url));
  const child = fork(script, [store.url, database.url], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.teardown(() => end(child));
  return child;
}

/** Ends the leases of reactors that were killed, whose attempts are then due at once. */
export const endLeases = ({ database }: Ledger) =>
  database
    .db('reactor_deliveries.deliveries')
    .whereNotNull('leased_by')
    .update({ lease_until: new Date(0) });

export async function isReady(child: ChildProcess): Promise<void> {
  await once(child, 'message');
}

/** A payment whose callbacks go to this address, with these results one after the other. */
export function paymentEvents(
  transactionId: string,
  callbackUrl: string,
  ...outcomes: Parameters<typeof result>[1][]
): PaymentEvent[] {
  const silentPayer = { ...aminah, email: '' };
  return [
    { type: 'PaymentRequested', data: request({ transactionId, callbackUrl, payer: silentPayer }) },
    chosen(1),
    ...outcomes.map((outcome) => applied(result(1, outcome))),
  ];
}

/** Appends the events of a payment from its first on and waits until its rows are there. */
export async function makePayment(
  { store, database }: Ledger,
  transactionId: string,
  events: readonly PaymentEvent[],
): Promise<void> {
  const position = await append(store.eventStore, transactionId, events);
  await reached(database.db, deliveryList.name, position);
}

/** What the stream says of a payment's deliveries. */
export async function historyOf({ store }: Ledger, transactionId: string) {
  const stored = await store.eventStore.load(paymentStream(transactionId));
  return stored.filter(isOfDelivery).map(readPaymentEvent);
}

function isOfDelivery({ type }: RecordedEvent): boolean {
  return /^(Callback|ReceiptEmail)/.test(type);
}

/** Waits for so many events about a payment's deliveries; returns all there are. */
export function untilHistory(ledger: Ledger, transactionId: string, length: number): Promise<PaymentEvent[]> {
  return until(async () => {
    // A machine that is busy may drop a connection: then it is asked again.
    const history = await historyOf(ledger, transactionId).catch(emptyWhenUnavailable);
    return history.length >= length && history;
  });
}

function emptyWhenUnavailable(error: unknown): PaymentEvent[] {
  if (error instanceof EventStoreUnavailable) return [];
  throw error;
}
