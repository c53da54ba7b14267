/**
 * Follows $all for ever. The client's subscriptions end in several ways (error, cancellation, a plain end) and are
 * never resumed; here each end leads to a new subscription after the last message handed over.
 */
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { createDeadline } from './deadline.ts';
import { describe } from './errors.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  type LogMark,
  LogReplaced,
  type Position,
  type RecordedEvent,
  type SubscriptionMessage,
} from './event-store.ts';
import { isAfter } from './position.ts';
import { openRead, readAt, readEnd } from './read.ts';
import { type ReadMessage, subscribeRequest } from './read-message.ts';

/** A checkpoint every 512 events considered; the server considers them in windows of 32. */
const checkpointInterval = 16;
const maxPauseMs = 2000;
/** The first failures in a row are logged one by one; all later ones count as the same. */
const manyFailures = 5;
const lookWithinMs = 2_500;
/** A leader that has been replaced may lack an event for a while: it is missing after this many looks, about 10 s. */
const maxMissing = 9;
/** An empty log was read up to here. */
const beginning: Position = { commit: 0n, prepare: 0n };

type Options = Parameters<EventStore['subscribe']>[0];
type SubscriptionRuntime = Pick<Runtime, 'sleep' | 'random' | 'setTimer'>;

/**
 * `subscribe` of an event store; `client` is for this subscription alone, as a failure closes its channel. The loop is
 * its own, not `retry` of the kernel, as it hands over messages between two failures.
 */
export async function* subscribe(
  { after, processed, signal, maxFailures = Number.POSITIVE_INFINITY, ...selection }: Options,
  {
    client,
    runtime,
    log,
    isNew = () => true,
    mostMissing = maxMissing,
  }: {
    client: EventStoreDBClient;
    runtime: SubscriptionRuntime;
    log: Pick<Log, 'warn'>;
    /** Whether a failure is to be logged, because it was not logged just before. */
    isNew?: (failure: string) => boolean;
    mostMissing?: number;
  },
): AsyncGenerator<SubscriptionMessage, void, undefined> {
  const withinDeadline = createDeadline(runtime, lookWithinMs);
  let position = after;
  let mark = processed;
  let missing = 0;
  let failures = 0;
  while (!signal.aborted) {
    let reason = 'ended by the server';
    let release = () => {};
    try {
      if (mark !== undefined) await withinDeadline(assertRead(client, mark, position));
      const call = await openRead(client, subscribeRequest(selection, position, checkpointInterval), false);
      call.on('error', () => {}); // the loop hears it; one that comes after the loop would end the process
      release = () => call.cancel();
      signal.addEventListener('abort', release);
      if (signal.aborted) return;
      for await (const item of call as AsyncIterable<ReadMessage>) {
        if (signal.aborted) return;
        const message = toMessage(item);
        if (!message) continue;
        position = positionOf(message) ?? position;
        if (message.kind === 'event') mark = message.event;
        failures = 0;
        missing = 0;
        yield message;
      }
    } catch (error) {
      reason = describe(error);
      missing = error instanceof LogReplaced ? missing + 1 : 0;
      if (missing >= mostMissing) throw error;
    } finally {
      signal.removeEventListener('abort', release);
      release();
    }
    if (signal.aborted) return;
    const limitMs = Math.min(100 * 2 ** failures, maxPauseMs);
    // Half of it is random, so that many processes do not come back in step.
    const pauseMs = Math.round(limitMs * (0.5 + runtime.random() / 2));
    failures += 1;
    // A log that answers, but lacks the event, is looked at until that is certain.
    if (failures >= maxFailures && missing === 0)
      throw new EventStoreUnavailable(`The log cannot be read on: ${reason}`);
    // Many subscriptions may fail at once, and whoever gives up after some failures begins again.
    if (isNew(JSON.stringify([selection, reason, Math.min(failures, manyFailures)])))
      log.warn({ ...selection, reason, pauseMs }, 'Subscription broken, will resume');
    await runtime.sleep(pauseMs, signal);
  }
}

/** Throws LogReplaced if the log lacks the event, or ends before the position up to which it was read. */
async function assertRead(
  client: EventStoreDBClient,
  mark: LogMark | null,
  position: Position | null,
): Promise<void> {
  const [found] = mark ? await readAt(client, mark.position) : [];
  if (mark && found?.id !== mark.id)
    throw new LogReplaced(`The log has no event ${mark.id} at position ${mark.position.commit}`);
  if (!position || !isAfter(position, mark?.position ?? beginning)) return;
  const [last] = await readEnd(client, true);
  if (isAfter(position, last?.position ?? beginning))
    throw new LogReplaced(`The log was read up to position ${position.commit}, and ends before it`);
}

/**
 * The first selected events after a position, at most `limit`; `client` is for these calls alone. Failures go to the
 * caller, not to the log. Throws LogReplaced at the first look.
 */
export async function eventsAfter(
  options: Options,
  limit: number,
  dependencies: { client: EventStoreDBClient; runtime: SubscriptionRuntime },
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const once = { mostMissing: 1, log: { warn() {} } };
  for await (const message of subscribe(options, { ...dependencies, ...once })) {
    if (message.kind === 'event') events.push(message.event);
    if (message.kind === 'caught_up' || events.length >= limit) return events;
  }
  throw new EventStoreUnavailable('The event store did not answer in time');
}

/** Null if nobody asks for it. */
function toMessage(message: ReadMessage): SubscriptionMessage | null {
  if (message.kind === 'other') return null;
  if (message.kind !== 'event') return message;
  const { event } = message;
  if (!event) throw new Error('The server sent an item without an event');
  return { kind: 'event', event };
}

function positionOf(message: SubscriptionMessage): Position | null {
  if (message.kind === 'event') return message.event.position;
  return message.kind === 'checkpoint' ? message.position : null;
}
