/** The messages of EventStoreDB's Read, by hand. Their layout is that of EventStoreDB's streams.proto. */
import { orElse } from '@ledger/kernel/or-else.ts';
import {
  bytesIn,
  has,
  type Message,
  messageIn,
  messagesIn,
  numberIn,
  parse,
  textIn,
} from '@ledger/kernel/read-protobuf.ts';
import { encode, type Field, field, number } from '@ledger/kernel/write-protobuf.ts';
import type { Position, RecordedEvent, Selection } from './event-store.ts';

type Direction = 'forwards' | 'backwards';

/** Events of a stream, from a revision on, or from its end. */
export const readStreamRequest = (
  streamName: string,
  slice: { direction: Direction; fromRevision: number | 'end'; maxCount: number },
): Buffer => {
  const { direction, fromRevision, maxCount } = slice;
  const from = fromRevision === 'end' ? field(4) : number(2, fromRevision);
  return request(field(1, field(1, field(3, streamName)), from), ...limits(direction, maxCount), noFilter);
};

/** One event of $all: the one at a position, or the next one; or the last. */
export const readAllRequest = (from: Position | 'end'): Buffer =>
  from === 'end'
    ? request(field(2, field(3)), ...limits('backwards', 1), noFilter)
    : request(field(2, positionField(from)), ...limits('forwards', 1), noFilter);

/** Follows $all after a position, or from its start; a checkpoint comes every so many windows of events considered. */
export function subscribeRequest(selection: Selection, after: Position | null, checkpointInterval: number) {
  const expression =
    'eventTypes' in selection
      ? field(2, field(1, `^(${selection.eventTypes.join('|')})$`))
      : field(1, ...selection.streamPrefixes.map((prefix) => field(2, prefix)));
  const defaultWindow = field(4);
  return request(
    field(2, after ? positionField(after) : field(2)),
    field(6),
    field(7, expression, defaultWindow, number(5, checkpointInterval)),
  );
}

/** Ids are asked for as text. */
const request = (...options: readonly Field[]) => encode(field(1, ...options, field(9, field(2))));
const limits = (direction: Direction, maxCount: number) => [
  number(3, direction === 'backwards' ? 1 : 0),
  number(5, maxCount),
];
const noFilter = field(8);
/** Positions count the bytes of the log, and stay far below 2^53. */
const positionField = ({ commit, prepare }: Position) =>
  field(1, number(1, Number(commit)), number(2, Number(prepare)));

export type ReadMessage =
  /** Null if the server resolved a link whose event is not there. */
  | { kind: 'event'; event: RecordedEvent | null }
  | { kind: 'checkpoint'; position: Position }
  | { kind: 'caught_up' }
  /** A subscription has begun or fallen behind, there is no such stream, or it is something that was not asked for. */
  | { kind: 'other' };

/** Throws if it is no such message. */
export function decodeReadMessage(bytes: Buffer): ReadMessage {
  const message = parse(bytes);
  const resolved = messageIn(message, 1);
  if (resolved) {
    const event = messageIn(resolved, 1);
    return { kind: 'event', event: event ? recordedEvent(event) : null };
  }
  const checkpoint = messageIn(message, 3);
  if (checkpoint) return { kind: 'checkpoint', position: positionIn(checkpoint, 1, 2) };
  return { kind: has(message, 8) ? 'caught_up' : 'other' };
}

/**
 * JSON comes parsed, what is not JSON as Uint8Array, and JSON that does not parse as its text. The reader of the event
 * has to check data and metadata.
 */
function recordedEvent(message: Message): RecordedEvent {
  const id = textIn(messageIn(message, 1), 2);
  const streamName = textIn(messageIn(message, 2), 3);
  if (id === '' || streamName === '') throw new Error('The server sent an event without its id or stream');
  const properties = new Map(messagesIn(message, 6).map((each) => [textIn(each, 1), textIn(each, 2)]));
  const data = bytesIn(message, 8);
  const isJson = properties.get('content-type') === 'application/json';
  const text = isJson ? data.toString() : '';
  const metadata = bytesIn(message, 7);
  return {
    id,
    type: properties.get('type') ?? '',
    data: isJson ? orElse(() => JSON.parse(text), text) : data,
    metadata: metadata.length > 0 ? orElse(() => JSON.parse(metadata.toString()), metadata) : undefined,
    streamName,
    revision: Number(numberIn(message, 3)),
    position: positionIn(message, 5, 4),
    // In ticks of 100 ns: 10,000 to a millisecond.
    created: new Date(Number(properties.get('created')?.slice(0, -4)) || 0),
  };
}

const positionIn = (message: Message, commit: number, prepare: number): Position => ({
  commit: BigInt(numberIn(message, commit)),
  prepare: BigInt(numberIn(message, prepare)),
});
