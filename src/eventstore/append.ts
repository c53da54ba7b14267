/** Appends whose outcome is always determined: when an answer is lost, the stream itself is read. */
import { type EventData, type JSONType, WrongExpectedVersionError } from '@eventstore/db-client';
import { retry } from '../kernel/retry.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { AppendChannel } from './append-channel.ts';
import { describe, isAnswer, isRefusal } from './errors.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  WrongExpectedRevision,
} from './event-store.ts';

/** EventStoreDB's default limit of one append. */
const maxAppendBytes = 1024 * 1024;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Append = { streamName: string; events: EventData[]; expected: ExpectedRevision };
type Appended = Awaited<ReturnType<EventStore['append']>>;

/**
 * `append` of an event store. The same events at the same explicit revision can be sent again without harm:
 * at most one of the attempts can go through. Gives up with EventStoreUnavailable after about `giveUpAfterMs`,
 * or once the signal aborts.
 */
export function createAppend({
  channel,
  load,
  giveUpAfterMs,
  runtime,
  signal,
}: {
  channel: AppendChannel;
  load: EventStore['load'];
  giveUpAfterMs: number;
  runtime: Runtime;
  signal: AbortSignal;
}): EventStore['append'] {
  return async (streamName, newEvents, expected) => {
    const append = { streamName, events: newEvents.map(toEventData), expected };
    assertSendable(append);
    channel.claim();
    try {
      return await send(append);
    } catch (error) {
      if (isDefinite(error)) throw error;
      return await findOutOrSendAgain(append, error);
    }
  };

  async function send(append: Append): Promise<Appended> {
    const { streamName, events, expected } = append;
    try {
      const { nextExpectedRevision, position } = await channel.send(streamName, events, expected);
      if (position) return { revision: Number(nextExpectedRevision), position };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) throw wrongRevision(append, error);
      throw error;
    }
    const stored = await findStored(append); // a repeat may be confirmed without saying where it was stored
    if (!stored) throw new EventStoreUnavailable(`Stream ${streamName} lacks events it has confirmed`);
    return stored;
  }

  async function findOutOrSendAgain(append: Append, unknown: unknown): Promise<Appended> {
    try {
      return await retry(async () => (await findStored(append)) ?? (await sendAgain(append)), {
        runtime,
        signal,
        giveUpAfterMs,
        shouldRetry: (error) => !isDefinite(error),
      });
    } catch (error) {
      if (isDefinite(error)) throw error;
      const message = `Cannot tell whether stream ${append.streamName} took an append: ${describe(unknown)}`;
      throw new EventStoreUnavailable(message, { cause: error });
    }
  }

  /** A wrong revision may now be due to our own first attempt, which arrived late. */
  async function sendAgain(append: Append): Promise<Appended> {
    try {
      return await send(append);
    } catch (error) {
      const stored = error instanceof WrongExpectedRevision && (await findStored(append));
      if (stored) return stored;
      throw error;
    }
  }

  /** Where the events are stored; null if they are not. Throws WrongExpectedRevision when other events are there. */
  async function findStored({ streamName, events, expected }: Append): Promise<Appended | null> {
    const found = await load(streamName, expected === 'no_stream' ? 0 : expected + 1);
    const head = found.at(-1);
    if (!head) return null;
    const last = found[events.length - 1];
    const isOurs = events.every(({ id }, index) => found[index]?.id === id);
    if (!isOurs || !last) throw new WrongExpectedRevision(streamName, expected, head.revision);
    return { revision: last.revision, position: last.position };
  }
}

/** Whether the append is certainly not stored and never will be. */
function isDefinite(error: unknown): boolean {
  return error instanceof WrongExpectedRevision || (isAnswer(error) && isRefusal(error));
}

/** The client's own error has an empty message. */
function wrongRevision(
  { streamName, expected }: Append,
  error: WrongExpectedVersionError,
): WrongExpectedRevision {
  const actual = error.actualVersion === 'no_stream' ? 'no_stream' : Number(error.actualVersion);
  return new WrongExpectedRevision(streamName, expected, actual);
}

function toEventData({ id, type, data, metadata }: NewEvent): EventData {
  return {
    id: id.toLowerCase(),
    contentType: 'application/json',
    type,
    data: data as JSONType,
    metadata: metadata as JSONType,
  };
}

/**
 * Throws RangeError or TypeError on what the client or the server would choke on: an error inside the client's
 * append is an unhandled rejection, and one in the server breaks the stream that all other appends share.
 */
function assertSendable({ streamName, events, expected }: Append): void {
  if (streamName === '') throw new RangeError('An append needs a stream');
  if (events.length === 0) throw new RangeError('An append needs an event');
  if (expected !== 'no_stream' && !(Number.isSafeInteger(expected) && expected >= 0))
    throw new RangeError(`Not a revision: ${expected}`);
  let bytes = 0;
  for (const { id, type, data, metadata } of events) {
    if (!uuid.test(id)) throw new RangeError(`Not a UUID: ${id}`);
    if (type === '') throw new RangeError(`Event ${id} has no type`);
    bytes += jsonBytes(data) + jsonBytes(metadata);
  }
  if (bytes > maxAppendBytes)
    throw new RangeError(`An append of ${bytes} bytes is over the limit of ${maxAppendBytes}`);
}

function jsonBytes(value: unknown): number {
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError('Event data and metadata must be JSON');
  return Buffer.byteLength(json);
}
