/** One attempt at a claimed delivery: loads its stream, sends it if it is due, records the outcome. */
import { EventStoreUnavailable, type RecordedEvent } from '@ledger/event-store/event-store.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { inSpan } from '@ledger/kernel/tracing.ts';
import type { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { KeysUnavailable, type OpenSealed } from '@ledger/personal-data/sealed.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { isOvertaken, type RecordDeliveryAttempt } from '../../commands/deliveries.ts';
import type { ExecutePayment } from '../../commands/payment.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import { type Cause, metadataText } from '../../events/envelope.ts';
import { paymentStream } from '../../events/payment.ts';
import type { ClaimedDelivery } from '../../to-do/delivery-queue.ts';
import { orderingKeyOf } from '../../to-do/delivery-rows.ts';
import type { PlacedEvent } from '../../to-do/known-deliveries.ts';
import { type DeliveryOutcome, failure, type PerformDelivery } from './delivery-task.ts';
import {
  afterCommand,
  findInterrupted,
  isBehind,
  type LoadedDeliveries,
  type LoadedDelivery,
  loadDeliveries,
  type OpenDelivery,
  openDelivery,
  type Stream,
} from './loaded-deliveries.ts';
import { interrupted, recordedOutcome } from './retry-schedule.ts';

export type AttemptDependencies = Pick<Stores<'load'>, 'eventStore' | 'log' | 'runtime'> & {
  /** The actor of the events is `reactor:<name>`. */
  name: string;
  perform: PerformDelivery;
  execute: ExecutePayment;
  openSealed: OpenSealed;
  /** The pause before each attempt; the first is made immediately. */
  scheduleMs: readonly number[];
  /** For what an outage repeats. */
  warn: ReturnType<typeof warnSeldom>;
};

/** What remains to be done with the claimed row. */
export type RowEnd =
  /** The outcome is in the stream, whose events these are; the row follows. */
  | { kind: 'recorded'; stream: readonly PlacedEvent[] }
  /** It can be claimed again after `afterMs`; before that it moves to the end of its stream if that has been read whole. */
  | { kind: 'givenBack'; afterMs: number; stream: readonly PlacedEvent[] | null }
  /** Its lease ends, and the next claim reports the attempt as interrupted. */
  | { kind: 'kept' };

const timeoutMs = 40_000;
/** A process that stood still for longer sends nothing: its lease may have ended, and others may send meanwhile. */
const beginWithinMs = 20_000;
/** How long until an attempt that could not begin is claimed again. */
const postponeMs = 5_000;
/** The same for a payment with an event that cannot be read. */
const unreadableMs = 10 * 60_000;

/** The outcome is null when nothing was sent, or it could not be recorded. */
type Attempted = { outcome: DeliveryOutcome | null; row: RowEnd };
/** `claimedMs` is the monotonic time of the claim. `stopping` aborts when the process has to end. */
type Limits = { claimedMs: number; stopping: AbortSignal };

/** Never rejects. */
export async function attemptDelivery(
  claimed: ClaimedDelivery,
  limits: Limits,
  dependencies: AttemptDependencies,
): Promise<Attempted> {
  try {
    const found = await findWork(claimed, limits, dependencies);
    if ('kind' in found) return { outcome: null, row: found };
    return await sendAndRecord(found, claimed, limits, dependencies);
  } catch (error) {
    return { outcome: null, row: notSent(error, claimed, dependencies) };
  }
}

/**
 * What is to be sent now, with its personal data; or what becomes of the row if that is nothing, because an interrupted
 * attempt had to be recorded first, or the delivery is not due, or cannot begin.
 */
async function findWork(
  claimed: ClaimedDelivery,
  { claimedMs, stopping }: Limits,
  dependencies: AttemptDependencies,
): Promise<OpenDelivery | RowEnd> {
  const { eventStore, openSealed, runtime } = dependencies;
  const loaded = await loadDeliveries(claimed, eventStore);
  const current = loaded && isBehind(claimed, loaded) ? null : loaded;
  const unrecorded = current && findInterrupted(claimed, current);
  if (unrecorded)
    return recordedRow(await record(unrecorded, { outcome: interrupted, durationMs: 0 }, dependencies));
  const due = current && (await findDue(claimed, current, dependencies));
  const opened = due && (await openDelivery(due, openSealed));
  const isLate = runtime.monotonicMs() - claimedMs > beginWithinMs;
  if (opened && !isLate && !stopping.aborted) return opened;
  const afterMs = stopping.aborted ? 0 : postponeMs;
  return { kind: 'givenBack', afterMs, stream: loaded?.head.events ?? null };
}

async function sendAndRecord(
  open: OpenDelivery,
  { orderingKey, receiver, transactionId }: ClaimedDelivery,
  { stopping }: Limits,
  dependencies: AttemptDependencies,
): Promise<Attempted> {
  const { log, runtime } = dependencies;
  const correlationId = correlationOf(open.cause);
  const startedMs = runtime.monotonicMs();
  const outcome = await send({ ...open, correlationId }, stopping, dependencies);
  const durationMs = Math.round(runtime.monotonicMs() - startedMs);
  // If there was no answer and `stopping` aborted, we interrupted the attempt; the receiver did not fail it.
  const isInterrupted = stopping.aborted && outcome.kind === 'failed' && outcome.status === null;
  const made = { outcome: isInterrupted ? interrupted : outcome, durationMs };
  try {
    const row = recordedRow(await record(open, made, dependencies));
    const { key: delivery, attempts } = open.delivery;
    const { status, reason } = { reason: undefined, ...outcome };
    const result = { attempt: attempts + 1, durationMs, outcome: made.outcome.kind, status, reason };
    log.info({ correlationId, transactionId, delivery, receiver, ...result }, 'delivery attempted');
    return { outcome, row };
  } catch (err) {
    log[levelOf(err)]({ err, correlationId, transactionId, orderingKey, wasSent: true }, failed);
    return { outcome: null, row: { kind: 'kept' } };
  }
}

const failed = 'a delivery could not be attempted or recorded';
const levelOf = (error: unknown) => (error instanceof UnreadableEvent ? 'warn' : 'error');

/** What becomes of the row after an error before anything was sent, which is logged. */
function notSent(err: unknown, claimed: ClaimedDelivery, { log, warn }: AttemptDependencies): RowEnd {
  const { orderingKey, transactionId } = claimed;
  // An outage is one line, so its reason does not name the stream.
  const reason = reasonOf(err).replace(` ${paymentStream(transactionId)}`, '');
  if (isStoreAway(err)) warn({ reason }, 'deliveries wait for a store');
  else log[levelOf(err)]({ err, transactionId, orderingKey, wasSent: false }, failed);
  // A claim after an interruption is kept, because the interruption must still be recorded.
  if (claimed.interrupted !== null) return { kind: 'kept' };
  const afterMs = err instanceof UnreadableEvent ? unreadableMs : postponeMs;
  return { kind: 'givenBack', afterMs, stream: null };
}

const isStoreAway = (error: unknown) =>
  error instanceof EventStoreUnavailable || error instanceof KeysUnavailable;

/** If others have appended meanwhile, the next claim reads the stream again. */
function recordedRow({ events }: Stream): RowEnd {
  return events ? { kind: 'recorded', stream: events } : { kind: 'givenBack', afterMs: 0, stream: null };
}

/** The claimed delivery, if it is due; a callback first supersedes older ones, none of which is on its way then. */
async function findDue(
  claimed: ClaimedDelivery,
  loaded: LoadedDeliveries,
  dependencies: AttemptDependencies,
): Promise<LoadedDelivery | null> {
  const { deliveries } = loaded.head.state;
  const delivery = deliveries.findLast((each) => orderingKeyOf(each) === claimed.orderingKey);
  // The lease is for the delivery that was claimed: a newer one waits for a claim of its own.
  if (delivery?.key !== claimed.delivery) return null;
  const head = delivery.kind === 'callback' ? await recordSuperseded(loaded, dependencies) : loaded.head;
  const call = loaded.calls.get(delivery.key);
  return call && delivery.state === 'due' ? { ...call, delivery, head } : null;
}

/** Records that callbacks overtaken by a newer status are not sent any more. Returns the new end of the stream. */
async function recordSuperseded(
  { head, calls }: LoadedDeliveries,
  dependencies: AttemptDependencies,
): Promise<Stream> {
  const { request, deliveries } = head.state;
  let from: Stream = head;
  for (const each of deliveries) {
    const call = calls.get(each.key);
    if (!call || each.state !== 'due' || !isOvertaken(each, deliveries)) continue;
    const at = dependencies.runtime.now().toISOString();
    const superseded = await dependencies.execute(
      paymentStream(request.transactionId),
      { type: 'SupersedeDelivery', at, delivery: each.key },
      causeOf(call.cause, dependencies),
      { from },
    );
    from = afterCommand(from, superseded);
  }
  return from;
}

/**
 * A fault of the program counts as a failure: it would recur at every attempt, and must eventually reach staff. Throws
 * EventStoreUnavailable and KeysUnavailable if the secrets to sign with cannot be read: nothing has been sent then.
 */
async function send(
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
    if (isStoreAway(error)) throw error;
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
  { cause, delivery, head, payment }: LoadedDelivery | OpenDelivery,
  { outcome, durationMs }: { outcome: DeliveryOutcome | typeof interrupted; durationMs: number },
  dependencies: AttemptDependencies,
): Promise<Stream> {
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
  return afterCommand(head, recorded);
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
