// Read: a stream or $all, in either direction, up to its end or, as a subscription, until the caller cancels.
import { randomUUID } from 'node:crypto';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import {
  bytesIn,
  has,
  type Message,
  messageIn,
  numberIn,
  parse,
  textIn,
} from '@ledger/kernel/read-protobuf.ts';
import { encode, field, number } from '@ledger/kernel/write-protobuf.ts';
import { type EventFilter, parseFilter } from './filter.ts';
import { PAGE_EVENTS, type PageRequest, type StoredEvent } from './log-tables.ts';
import type { Storage } from './storage.ts';
import { asBuffer, grpcError, parseStreamName, RequestFault } from './wire.ts';

/** Responses are serialized already: a stored event is sent as it is. The request's fields are those of streams.proto. */
type ReadCall = ServerWritableStream<Message, Uint8Array>;

/** Filters are for $all only, as in EventStoreDB. */
type Reading = PageRequest & { filter: EventFilter | undefined; resolvesLinks: boolean };

/** Sends a page at most, and says what the next one has to wait for. */
type SendPage = () => 'its turn' | 'a commit' | 'nothing: that was all';

/** The handler of Read, and a function that ends the subscriptions when the server closes. */
export function createReads(storage: Storage) {
  const subscriptions = new Set<(error?: unknown) => void>();

  function read(call: ReadCall): void {
    let sendPage: SendPage;
    let ended = false;

    function end(error?: unknown): void {
      if (ended) return;
      ended = true;
      subscriptions.delete(end);
      storage.commits.off('commit', inTurn);
      if (call.cancelled) return;
      if (error === undefined) call.end();
      else call.emit('error', grpcError(error));
    }

    /** Between two pages other calls get their turn, and a slow caller keeps at most one page in memory. */
    function goOn(): void {
      if (ended) return;
      try {
        const awaited = sendPage();
        if (awaited === 'nothing: that was all') end();
        else if (call.writableNeedDrain) call.once('drain', goOn);
        else if (awaited === 'a commit') storage.commits.once('commit', inTurn);
        else inTurn();
      } catch (error) {
        end(error);
      }
    }
    const inTurn = () => void setImmediate(goOn);

    call.once('cancelled', () => end());
    try {
      const options = messageIn(call.request, 1);
      if (!options) throw new RequestFault('A read needs options');
      if (has(options, 6)) {
        subscriptions.add(end);
        sendPage = following(storage, subscriptionOf(storage, options), call);
      } else sendPage = readingToEnd(storage, readingOf(options), call);
      goOn();
    } catch (error) {
      end(error);
    }
  }

  return {
    read,

    /** Ends them with CANCELLED, as a stopping EventStoreDB node does; clients then subscribe again. */
    endSubscriptions(): void {
      for (const end of subscriptions) end(new RequestFault('The event store is closing', status.CANCELLED));
    },
  };
}

function readingToEnd(storage: Storage, reading: Reading, call: ReadCall): SendPage {
  const { stream, direction, filter } = reading;
  let { from, limit } = reading;
  let isFirst = true;
  return () => {
    const page = limit > 0 ? storage.page({ ...reading, from, limit }) : [];
    const last = page.at(-1);
    if (isFirst && !last && stream !== undefined && storage.head(stream) < 0)
      call.write(streamNotFound(stream));
    isFirst = false;
    if (!last) return 'nothing: that was all';
    for (const event of page) {
      if (filter && !filter.matches(event)) continue;
      call.write(messageOf(event, reading, storage));
      limit -= 1;
    }
    from = placeOf(last, stream) + (direction === 'forwards' ? 1 : -1);
    return 'its turn';
  };
}

/** Goes on until the caller cancels or the server closes. */
function following(storage: Storage, reading: Reading, call: ReadCall): SendPage {
  const { stream, filter } = reading;
  let { from } = reading;
  let live = false;
  let considered = 0;
  call.write(confirmation());
  return () => {
    const page = storage.page({ ...reading, from });
    if (page.length === 0 && !live) {
      live = true;
      if (filter) call.write(checkpoint(from - 1));
      call.write(caughtUp());
    } else if (page.length === PAGE_EVENTS && live) {
      live = false;
      call.write(fellBehind());
    }
    for (const event of page) {
      if (!filter || filter.matches(event)) call.write(messageOf(event, reading, storage));
      from = placeOf(event, stream) + 1;
      considered += 1;
      if (filter && considered % filter.checkpointInterval === 0) call.write(checkpoint(event.position));
    }
    return page.length === 0 ? 'a commit' : 'its turn';
  };
}

const placeOf = (event: StoredEvent, stream: string | undefined): number =>
  stream === undefined ? event.position : event.revision;

/** The event as it is stored. If links are resolved, a link comes with the event that it leads to, if that is there. */
function messageOf(link: StoredEvent, { resolvesLinks }: Reading, storage: Storage): Uint8Array {
  if (!resolvesLinks || link.type !== '$>') return link.message;
  const event = eventIn(link);
  const [, digits = '', stream = ''] = /^(\d{1,15})@(.+)$/s.exec(textIn(parse(event), 8)) ?? [];
  const revision = Number(digits);
  const [target] = storage.page({ stream, from: revision, direction: 'forwards', limit: 1 });
  const found = target?.revision === revision ? [field(1, eventIn(target))] : [];
  return encode(field(1, ...found, field(2, event), number(3, link.position)));
}

/** The RecordedEvent in a stored ReadResp. */
const eventIn = ({ message }: StoredEvent): Buffer => bytesIn(messageIn(parse(asBuffer(message)), 1), 1);

function readingOf(options: Message): Reading {
  const resolvesLinks = isSet(options, 4);
  const direction = isSet(options, 3) ? 'backwards' : 'forwards';
  const limit = numberOf(options, 5);
  const ofStream = messageIn(options, 1);
  if (ofStream) {
    const stream = parseStreamName(messageIn(ofStream, 1));
    const from = has(ofStream, 4) ? Number.MAX_SAFE_INTEGER : numberOf(ofStream, 2);
    return { stream, from, direction, limit, filter: undefined, resolvesLinks };
  }
  const all = messageIn(options, 2);
  const given = all && messageIn(all, 1);
  // The given position is included when reading forwards and excluded when reading backwards.
  const place = given ? numberOf(given, 1) - (direction === 'backwards' ? 1 : 0) : 0;
  const from = all && has(all, 3) ? Number.MAX_SAFE_INTEGER : place;
  return { from, direction, limit, filter: parseFilter(messageIn(options, 7)), resolvesLinks };
}

function subscriptionOf(storage: Storage, options: Message): Reading {
  const onwards = { direction: 'forwards', limit: PAGE_EVENTS, resolvesLinks: isSet(options, 4) } as const;
  const ofStream = messageIn(options, 1);
  if (ofStream) {
    const stream = parseStreamName(messageIn(ofStream, 1));
    const given = has(ofStream, 2) ? numberOf(ofStream, 2) : -1;
    const after = has(ofStream, 4) ? storage.head(stream) : given;
    return { ...onwards, stream, from: after + 1, filter: undefined };
  }
  const all = messageIn(options, 2);
  const given = all && messageIn(all, 1);
  const after = all && has(all, 3) ? storage.lastPosition() : given ? numberOf(given, 1) : 0;
  return { ...onwards, from: after + 1, filter: parseFilter(messageIn(options, 7)) };
}

/** The protocol's unsigned 64-bit numbers; 53 bits are enough for this store. */
const numberOf = (message: Message, field: number): number =>
  Math.min(Number(numberIn(message, field)), Number.MAX_SAFE_INTEGER - 1);

const isSet = (message: Message, field: number): boolean => Number(numberIn(message, field)) !== 0;

// What a reader receives beside events: each a ReadResp of streams.proto.
const confirmation = () => encode(field(2, field(1, randomUUID())));
const checkpoint = (position: number) => encode(field(3, number(1, position), number(2, position)));
const streamNotFound = (stream: string) => encode(field(4, field(1, field(3, stream))));
const caughtUp = () => encode(field(8));
const fellBehind = () => encode(field(9));
