/** One try of a delivery that was claimed: fold the stream once more, perform, record. */
import { randomUUID } from 'node:crypto';
import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { isOvertaken, type RecordDeliveryAttempt } from '../../commands/deliveries.ts';
import { type Execute, endOf, type Head } from '../../commands/execute.ts';
import type { PaymentCommand } from '../../commands/payment.ts';
import { readPaymentEvent } from '../../events/codec.ts';
import type { Delivery } from '../../events/deliveries.ts';
import type { Cause, Metadata } from '../../events/envelope.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  paymentStream,
  type RequestedPayment,
} from '../../events/payment.ts';
import { type EventStore, EventStoreUnavailable, type RecordedEvent } from '../../eventstore/event-store.ts';
import type { ClaimedDelivery } from '../../projections/deliveries/queue.ts';
import { attemptsOf, orderingKeyOf } from '../../projections/deliveries/table.ts';
import type { DeliveryOutcome, DeliveryTask, PerformDelivery } from './delivery-task.ts';
import { recordedOutcome } from './retry-schedule.ts';

export type TryDependencies = {
  /** In the events: `reactor:<name>`. */
  name: string;
  perform: PerformDelivery;
  eventStore: Pick<EventStore, 'load'>;
  execute: Execute<Payment, PaymentCommand, PaymentEvent>;
  /** The pause before each try; the first is made at once. */
  scheduleMs: readonly number[];
  clock: () => Date;
  /** From 0 to 1. */
  random: () => number;
  log: Logger;
};

const tryTimeoutMs = 40_000;

/** A delivery that is due, and what called for it. */
export type DueDelivery = {
  delivery: Delivery;
  payment: RequestedPayment;
  cause: RecordedEvent;
  /** The payment's stream as it was loaded. */
  head: Head<Payment>;
};

/** The stream of a claimed delivery, when the row that was claimed is up to date with it. */
export type LoadedClaim = { state: RequestedPayment; calls: ReadonlyMap<string, Call>; head: Head<Payment> };

/** Null when the row that was claimed is behind the stream. Throws EventStoreUnavailable and UnreadableEvent. */
export async function loadClaim(
  { transactionId, orderingKey, attempts }: ClaimedDelivery,
  { eventStore }: Pick<TryDependencies, 'eventStore'>,
): Promise<LoadedClaim | null> {
  const events = await eventStore.load(paymentStream(transactionId));
  const { state, calls } = foldWithCalls(events);
  if (state.status === 'none' || attemptsOf(orderingKey, state.deliveries) !== attempts) return null;
  return { state, calls, head: { state, ...endOf(events) } };
}

/**
 * The delivery that was claimed, if it is due, after recording what it has overtaken. Throws EventStoreUnavailable and
 * UnreadableEvent.
 */
export async function findDue(
  claimed: ClaimedDelivery,
  { state, calls, head }: LoadedClaim,
  dependencies: TryDependencies,
): Promise<DueDelivery | null> {
  const delivery = state.deliveries.findLast((each) => orderingKeyOf(each) === claimed.orderingKey);
  // The lease names what is tried under it: a newer one waits until it can be claimed by its own name.
  if (delivery?.key !== claimed.delivery) return null;
  const after = await supersede({ state, calls, head }, dependencies);
  const call = calls.get(delivery.key);
  if (!call || delivery.state !== 'due' || Date.parse(delivery.dueAt) > dependencies.clock().getTime())
    return null;
  return { delivery, ...call, head: after };
}

/** The delivery whose try was interrupted before this claim, if that is still to be recorded. */
export function findInterrupted(
  claimed: ClaimedDelivery,
  { state, calls, head }: LoadedClaim,
): DueDelivery | null {
  const delivery = state.deliveries.find(({ key }) => key === claimed.interrupted);
  const call = delivery && calls.get(delivery.key);
  return call && delivery.state === 'due' ? { delivery, ...call, head } : null;
}

/**
 * Performs a delivery and records how it ended. Rejects when that cannot be recorded: then it will be performed again.
 * A failure without an answer after `stopping` aborted is ours: the try was cut off.
 */
export async function tryDelivery(
  due: DueDelivery,
  stopping: AbortSignal,
  dependencies: TryDependencies,
): Promise<DeliveryOutcome> {
  const { clock, random, scheduleMs } = dependencies;
  const startedMs = performance.now();
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(tryTimeoutMs)]);
  const outcome = await performed({ ...due, signal }, dependencies);
  const durationMs = Math.round(performance.now() - startedMs);
  if (stopping.aborted && outcome.kind === 'failed' && outcome.status === null) {
    await recordInterrupted(due, dependencies, durationMs);
    return outcome;
  }
  const now = clock();
  const recorded = recordedOutcome(outcome, due.delivery, { scheduleMs, now, random: random() });
  await record(due, { durationMs, outcome: recorded }, dependencies);
  return outcome;
}

/**
 * Records that a try was begun and cut off, as its process ended: the receiver may have it or not. It is due again at
 * once, until the schedule is exhausted: a delivery that ends every process it meets comes to an end too. `durationMs`
 * is 0 where nobody knows.
 */
export async function recordInterrupted(
  due: DueDelivery,
  dependencies: TryDependencies,
  durationMs = 0,
): Promise<void> {
  const outcome: DeliveryOutcome = {
    kind: 'failed',
    status: null,
    reason: 'outcome unknown, the try was cut off',
    isReceiverDown: false,
    retryAfterMs: 0,
  };
  const { scheduleMs, clock } = dependencies;
  const now = clock();
  const recorded = recordedOutcome(outcome, due.delivery, { scheduleMs, now, random: 0 });
  const atOnce = { ...recorded, ...(recorded.kind === 'failed' && { nextAttemptAt: now.toISOString() }) };
  await record(due, { durationMs, outcome: atOnce }, dependencies);
}

/** Tries again while the event store cannot be reached, for some seconds: what was sent should be known. */
async function record(
  { delivery, payment, cause, head }: DueDelivery,
  ended: Pick<RecordDeliveryAttempt, 'durationMs' | 'outcome'>,
  { execute, clock, name }: TryDependencies,
): Promise<void> {
  const command: RecordDeliveryAttempt = {
    type: 'RecordDeliveryAttempt',
    at: clock().toISOString(),
    delivery: delivery.key,
    attempt: delivery.attempts + 1,
    ...ended,
  };
  const stream = paymentStream(payment.request.transactionId);
  await pRetry(() => execute(stream, command, causeOf(cause, name), { from: head }), {
    retries: 3,
    shouldRetry: ({ error }) => error instanceof EventStoreUnavailable,
  });
}

/** The event that called for a delivery, and the payment as that event left it. */
type Call = Pick<DueDelivery, 'cause' | 'payment'>;

function foldWithCalls(events: readonly RecordedEvent[]): { state: Payment; calls: Map<string, Call> } {
  const calls = new Map<string, Call>();
  let state: Payment = noPayment;
  for (const event of events) {
    state = evolve(state, readPaymentEvent(event));
    if (state.status === 'none') continue;
    for (const { key } of state.deliveries)
      if (!calls.has(key)) calls.set(key, { cause: event, payment: state });
  }
  return { state, calls };
}

/** Records what a newer status has overtaken: it is not sent any more. Returns the stream after that. */
async function supersede(
  { state: { request, deliveries }, calls, head }: LoadedClaim,
  { execute, clock, name }: TryDependencies,
): Promise<Head<Payment>> {
  let from = head;
  const overtaken = deliveries.filter((each) => each.state === 'due' && isOvertaken(each, deliveries));
  for (const { key } of overtaken) {
    const call = calls.get(key);
    if (!call) continue;
    from = await execute(
      paymentStream(request.transactionId),
      { type: 'SupersedeDelivery', at: clock().toISOString(), delivery: key },
      causeOf(call.cause, name),
      { from },
    );
  }
  return from;
}

/** A fault of our own is recorded like any failure: it would come back at every try, and must end up with staff. */
async function performed(task: DeliveryTask, { perform, log }: TryDependencies): Promise<DeliveryOutcome> {
  try {
    return await perform(task);
  } catch (error) {
    log.error({ err: error, delivery: task.delivery.key }, 'delivery met a fault of the program');
    return {
      kind: 'failed',
      status: null,
      reason: 'a fault of this service',
      isReceiverDown: false,
      retryAfterMs: 0,
    };
  }
}

function causeOf(event: RecordedEvent, name: string): Cause {
  const { $correlationId: correlationId } = event.metadata as Metadata;
  return { commandId: randomUUID(), correlationId, causationId: event.id, actor: `reactor:${name}` };
}
