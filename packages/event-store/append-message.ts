/**
 * The messages of EventStoreDB's BatchAppend, written by hand: the official client serializes each event twice, through
 * base64. Their layout is that of EventStoreDB's streams.proto.
 */
import { status as codes } from '@grpc/grpc-js';
import {
  bytesIn,
  has,
  type Message,
  messageIn,
  numberIn,
  parse,
  textIn,
} from '@ledger/kernel/read-protobuf.ts';
import { encode, type Field, field, number } from '@ledger/kernel/write-protobuf.ts';
import {
  AppendRefused,
  type Epoch,
  EventStoreFull,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  WrongExpectedRevision,
} from './event-store.ts';

type Append = {
  streamName: string;
  events: readonly NewEvent[];
  expected: ExpectedRevision;
  known?: Epoch | undefined;
};

/** Where the last event is. The position is missing when an append that was stored before is confirmed again. */
export type Confirmation = { revision: number; position: Position | null };

/** EventStoreDB's default limit of one append. */
const maxAppendBytes = 1024 * 1024;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An append, ready to be sent under any correlation id. */
export type EncodedAppend = Append & { message: readonly Field[] };

/**
 * `timeoutMs` is how long the server may take: a duration, as its clock may differ from ours. Throws RangeError or
 * TypeError on what the server would refuse in a way that breaks the call that all appends share.
 */
export function encodeAppend(append: Append, timeoutMs: number): EncodedAppend {
  const { streamName, events, expected } = append;
  if (streamName === '') throw new RangeError('An append needs a stream');
  if (events.length === 0) throw new RangeError('An append needs an event');
  if (expected !== 'no_stream' && !(Number.isSafeInteger(expected) && expected >= 0))
    throw new RangeError(`Not a revision: ${expected}`);
  const proposed = events.map((event) => field(3, ...proposedMessage(event)));
  const bytes = proposed.reduce((sum, message) => sum + message.length, 0);
  if (bytes > maxAppendBytes)
    throw new RangeError(`An append of ${bytes} bytes is over the limit of ${maxAppendBytes}`);
  const position = expected === 'no_stream' ? field(3) : number(2, expected);
  const timeout = field(7, number(1, Math.ceil(timeoutMs / 1000)));
  const options = field(2, field(1, field(3, streamName)), position, timeout);
  return { ...append, message: [options, ...proposed, isFinal] };
}

function proposedMessage({ id, type, data, metadata }: NewEvent): Field[] {
  if (!uuid.test(id)) throw new RangeError(`Not a UUID: ${id}`);
  if (type === '') throw new RangeError(`Event ${id} has no type`);
  return [
    uuidField(1, id.toLowerCase()),
    field(2, field(1, 'type'), field(2, type)),
    contentType,
    field(3, jsonOf(metadata)),
    field(4, jsonOf(data)),
  ];
}

function jsonOf(value: unknown): string {
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError('Event data and metadata must be JSON');
  return json;
}

/** One message is one append; its answer carries the correlation id, a UUID. */
export function requestOf(correlationId: string, { message }: EncodedAppend): Buffer {
  return encode(uuidField(1, correlationId), ...message);
}

const uuidField = (tag: number, id: string) => field(tag, field(2, id));
const contentType = field(2, field(1, 'content-type'), field(2, 'application/json'));
const isFinal = number(4, 1);

/** The correlation id of an answer, and what it says: a confirmation, or why the append was not stored. */
export function readAnswer(bytes: Buffer): { correlationId: string; read(append: Append): Confirmation } {
  const response = parse(bytes);
  return {
    correlationId: textIn(messageIn(response, 1), 2),
    read(append) {
      const success = messageIn(response, 3);
      if (!success) throw failureOf(messageIn(response, 2), append);
      const position = messageIn(success, 3);
      return {
        revision: Number(numberIn(success, 1)),
        position: position
          ? { commit: BigInt(numberIn(position, 1)), prepare: BigInt(numberIn(position, 2)) }
          : null,
      };
    },
  };
}

const refusals = new Set(['AccessDenied', 'StreamDeleted', 'MaximumAppendSizeExceeded']);

/**
 * `error` is a google.rpc.Status with its details. Anything that is not a refusal, such as a time-out or a node that is
 * not ready, leaves the outcome unknown.
 */
function failureOf(error: Message | undefined, { streamName, expected }: Append): Error {
  const message = textIn(error, 2);
  const details = error && messageIn(error, 3);
  const kind = textIn(details, 1).replace(/^.*[./]/, '');
  if (kind === 'WrongExpectedVersion') {
    const wrong = parse(bytesIn(details, 2));
    const actual = has(wrong, 2) ? 'no_stream' : Number(numberIn(wrong, 1));
    return new WrongExpectedRevision(streamName, expected, actual);
  }
  if (error && Number(numberIn(error, 1)) === codes.RESOURCE_EXHAUSTED) return new EventStoreFull(message);
  const reason = `${kind || 'error'} ${message}`.trim();
  return refusals.has(kind)
    ? new AppendRefused(`The event store refuses an append to ${streamName}: ${reason}`)
    : new EventStoreUnavailable(`The event store answered: ${reason}`);
}
