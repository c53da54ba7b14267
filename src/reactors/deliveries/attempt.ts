/** One attempt at a claimed delivery: load its stream, perform it, record the outcome. */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { inSpan } from '@ledger/kernel/tracing.ts';
import { KeysUnavailable, type OpenSealed } from '@ledger/personal-data/sealed.ts';
import type { Logger } from 'pino';
import { isSuperseded, type RecordDeliveryAttempt } from '../../commands/deliveries.ts';
import type { ExecuteOf } from '../../commands/execute.ts';
import type { paymentDecider } from '../../commands/payment.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import { type Cause, metadataText } from '../../events/envelope.ts';
import { type Payment, paymentStream } from '../../events/payment.ts';
import type { ClaimedDelivery } from '../../to-do/delivery-queue.ts';
import { orderingKeyOf } from '../../to-do/delivery-rows.ts';
import type { PlacedEvent } from '../../to-do/known-deliveries.ts';
import {
  after,
  type CalledDelivery,
  findInterrupted,
  isBehind,
  type Loaded,
  loadCalls,
  type OpenDelivery,
  openDelivery,
  type Stream,
} from './called-deliveries.ts';
import { type DeliveryOutcome, failure, type PerformDelivery } from './delivery-task.ts';
import { interrupted, recordedOutcome } from './retry-schedule.ts';

export type AttemptDependencies = {
  /** The actor of the events is `reactor:<name>`. */
  name: string;
  perform: PerformDelivery;
  eventStore: Pick<EventStore, 'load'>;
  execute: ExecuteOf<typeof paymentDecider>;
  openSealed: OpenSealed;
  /** The pause before each attempt; the first is made at once. */
  scheduleMs: readonly number[];
  runtime: Runtime;
  log: Logger;
  /** When it was claimed, by the monotonic clock. Its lease did not begin before. */
  claimedMs: number;
  /** Gives up the claim; the delivery can be claimed again after `afterMs`. Never rejects. */
  giveBack(claimed: ClaimedDelivery, afterMs: number): Promise<void>;
  /** Moves the row that was claimed to the end of its stream, whose events these are. Never rejects. */
  settle(claimed: ClaimedDelivery, stream: readonly PlacedEvent[]): Promise<void>;
  /** The same, unless the list does it within a moment. */
  settleLater(claimed: ClaimedDelivery, stream: readonly PlacedEvent[]): void;
};

const timeoutMs = 40_000;
/** A process that stood still for longer sends nothing: its lease may end before the attempt, and others send meanwhile. */
const beginWithinMs = 20_000;
/** How long until an attempt that could not begin is claimed again. */
const postponeMs = 5_000;
/** The same for a payment with an event that cannot be read. */
const unreadableMs = 10 * 60_000;

/**
 * Never rejects. Returns null when nothing was attempted, or the outcome could not be recorded. A claim that is not
 * given back ends when its outcome is recorded, or with its lease; the next claim then reports it as interrupted.
 * `stopping` aborts when the process has to end.
 */
export async function attemptDelivery(
  claimed: ClaimedDelivery,
  stopping: AbortSignal,
  dependencies: AttemptDependencies,
): Promise<DeliveryOutcome | null> {
  const { claimedMs, giveBack, log, runtime, settle, settleLater } = dependencies;
  let isBegun = false;
  let correlationId: string | undefined;
  const end = async ({ events }: Stream<Payment>) => {
    // If others have appended meanwhile, the next claim reads the stream again.
    if (events) settleLater(claimed, events);
    else await giveBack(claimed, 0);
  };
  try {
    const loaded = await loadCalls(claimed, dependencies.eventStore);
    const current = loaded && isBehind(claimed, loaded) ? null : loaded;
    const unrecorded = current && findInterrupted(claimed, current);
    if (unrecorded) {
      await end(await record(unrecorded, interrupted, 0, dependencies));
      return null;
    }
    const due = current && (await findDue(claimed, current, dependencies));
    const open = due && (await openDelivery(due, dependencies.openSealed));
    const isLate = runtime.monotonicMs() - claimedMs > beginWithinMs;
    if (!open || stopping.aborted || isLate) {
      if (loaded?.head.events) await settle(claimed, loaded.head.events);
      await giveBack(claimed, stopping.aborted ? 0 : postponeMs);
      return null;
    }
    correlationId = correlationOf(open.cause);
    const startedMs = runtime.monotonicMs();
    const outcome = await perform({ ...open, correlationId }, stopping, dependencies);
    isBegun = true;
    const durationMs = Math.round(runtime.monotonicMs() - startedMs);
    // If there was no answer and `stopping` aborted, we interrupted the attempt; the receiver did not fail it.
    const isInterrupted = stopping.aborted && outcome.kind === 'failed' && outcome.status === null;
    await end(await record(open, isInterrupted ? interrupted : outcome, durationMs, dependencies));
    const { key: delivery, attempts } = open.delivery;
    const { transactionId, receiver } = claimed;
    const { kind, status, reason } = { reason: undefined, ...outcome };
    const result = { attempt: attempts + 1, durationMs, outcome: isInterrupted ? 'interrupted' : kind };
    const about = { correlationId, transactionId, delivery, receiver, ...result, status, reason };
    log.info(about, 'delivery attempted');
    return outcome;
  } catch (error) {
    const { transactionId, orderingKey } = claimed;
    const isUnreadable = error instanceof UnreadableEvent;
    log[isUnreadable ? 'warn' : 'error'](
      { err: error, correlationId, transactionId, orderingKey, isBegun },
      'a delivery could not be attempted or recorded',
    );
    // A claim after an interruption is kept, because the interruption must still be recorded.
    if (!isBegun && claimed.interrupted === null)
      await giveBack(claimed, isUnreadable ? unreadableMs : postponeMs);
    return null;
  }
}

/** The claimed delivery, if it is due; a callback first supersedes older ones, none of which is on its way then. */
async function findDue(
  claimed: ClaimedDelivery,
  loaded: Loaded,
  dependencies: AttemptDependencies,
): Promise<CalledDelivery | null> {
  const { deliveries } = loaded.head.state;
  const delivery = deliveries.findLast((each) => orderingKeyOf(each) === claimed.orderingKey);
  // The lease is for the delivery that was claimed: a newer one waits for a claim of its own.
  if (delivery?.key !== claimed.delivery) return null;
  const head = delivery.kind === 'callback' ? await recordSuperseded(loaded, dependencies) : loaded.head;
  const call = loaded.calls.get(delivery.key);
  const isDue =
    delivery.state === 'due' && Date.parse(delivery.dueAt) <= dependencies.runtime.now().getTime();
  return call && isDue ? { ...call, delivery, head } : null;
}

/** Records that callbacks overtaken by a newer status are not sent any more. Returns the new end of the stream. */
async function recordSuperseded(
  { head, calls }: Loaded,
  dependencies: AttemptDependencies,
): Promise<Stream<Payment>> {
  const { request, deliveries } = head.state;
  let from: Stream<Payment> = head;
  for (const each of deliveries) {
    const call = calls.get(each.key);
    if (!call || each.state !== 'due' || !isSuperseded(each, deliveries)) continue;
    const at = dependencies.runtime.now().toISOString();
    const superseded = await dependencies.execute(
      paymentStream(request.transactionId),
      { type: 'SupersedeDelivery', at, delivery: each.key },
      causeOf(call.cause, dependencies),
      { from },
    );
    from = after(from, superseded);
  }
  return from;
}

/**
 * A fault of the program counts as a failure: it would recur at every attempt, and must eventually reach staff. Throws
 * EventStoreUnavailable and KeysUnavailable if the secrets to sign with cannot be read: nothing has been sent then.
 */
async function perform(
  due: OpenDelivery & { correlationId: string },
  stopping: AbortSignal,
  { log, name, perform, runtime }: AttemptDependencies,
): Promise<DeliveryOutcome> {
  const { correlationId } = due;
  const signal = AbortSignal.any([stopping, runtime.timeout(timeoutMs)]);
  const about = { 'ledger.reactor': name, 'ledger.correlation_id': correlationId };
  try {
    return await inSpan('deliver', about, () => perform({ ...due, signal }));
  } catch (error) {
    if (error instanceof EventStoreUnavailable || error instanceof KeysUnavailable) throw error;
    const delivery = due.delivery.key;
    log.error({ err: error, correlationId, delivery }, 'delivery met a fault of the program');
    return failure('a fault of this service');
  }
}

/**
 * Retries for some seconds while the event store cannot be reached, so that there is a record of what was sent.
 * `durationMs` is 0 if it is unknown. Returns the new end of the stream.
 */
async function record(
  { delivery, payment, cause, head }: CalledDelivery,
  outcome: DeliveryOutcome | typeof interrupted,
  durationMs: number,
  dependencies: AttemptDependencies,
): Promise<Stream<Payment>> {
  const { execute, runtime, scheduleMs } = dependencies;
  const now = runtime.now();
  const command: RecordDeliveryAttempt = {
    type: 'RecordDeliveryAttempt',
    at: now.toISOString(),
    delivery: delivery.key,
    attempt: delivery.attempts + 1,
    durationMs,
    outcome: recordedOutcome(outcome, delivery, { scheduleMs, now, random: runtime.random() }),
  };
  const stream = paymentStream(payment.request.transactionId);
  const recorded = await retry(() => execute(stream, command, causeOf(cause, dependencies), { from: head }), {
    runtime,
    firstMs: 2_000,
    maxAttempts: 4,
    shouldRetry: (error) => error instanceof EventStoreUnavailable,
  });
  return after(head, recorded);
}

/** The id of the request that led to the event, if it can be in a header; else the event's. */
function correlationOf(event: RecordedEvent): string {
  const given = metadataText(event, '$correlationId') ?? '';
  return /^[\x21-\x7e]{1,100}$/.test(given) ? given : event.id;
}

function causeOf(event: RecordedEvent, { name, runtime }: AttemptDependencies): Cause {
  const correlationId = correlationOf(event);
  return { commandId: runtime.uuid(), correlationId, causationId: event.id, actor: `reactor:${name}` };
}
