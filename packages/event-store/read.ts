/** Reads streams, in pages, each within the connection's deadline: the client sets none. */
import { convertToCommandError, type EventStoreDBClient } from '@eventstore/db-client';
import { StreamsClient, StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Connected, Connection } from './connection.ts';
import { describe, isReadRefusal } from './errors.ts';
import { type EventStore, EventStoreUnavailable, type Position, type RecordedEvent } from './event-store.ts';
import { hooksOf } from './new-client.ts';
import { decodeReadMessage, type ReadMessage, readAllRequest, readStreamRequest } from './read-message.ts';

const pageSize = 1000;

export type Reads = Pick<EventStore, 'load' | 'loadLast' | 'head'>;

/**
 * `load`, `loadLast` and `head` of an event store. All are retried a few times within the deadline, so that a short
 * restart of the store goes unnoticed. Aborting the signal fails the reads under way.
 */
export function createReads(dependencies: {
  connection: Connection;
  /** Whether a node that does not lead refuses to answer. */
  requiresLeader: boolean;
  giveUpAfterMs: number;
  runtime: Runtime;
  signal: AbortSignal;
}): Reads {
  const { connection, requiresLeader, giveUpAfterMs, runtime, signal } = dependencies;
  function readStream(
    ...[streamName, slice]: Parameters<typeof readStreamRequest>
  ): Promise<RecordedEvent[]> {
    const request = readStreamRequest(streamName, slice);
    return read(`stream ${streamName}`, (client) => collect(client, request, requiresLeader));
  }

  async function read(what: string, readOnce: ReadOnce): Promise<RecordedEvent[]> {
    try {
      return await retry(() => connection.use((used) => readOver(used, readOnce, requiresLeader)), {
        runtime,
        signal,
        firstMs: 50,
        maxAttempts: 5,
        giveUpAfterMs,
        shouldRetry: (error) => !isReadRefusal(error) && !connection.whyAway(),
      });
    } catch (error) {
      const message = `Cannot read ${what}: ${describe(error)}`;
      if (isReadRefusal(error)) throw new Error(message, { cause: error });
      throw new EventStoreUnavailable(message, { cause: error });
    }
  }

  return {
    async load(streamName, from = 0, limit = Number.POSITIVE_INFINITY) {
      const events: RecordedEvent[] = [];
      let page: RecordedEvent[];
      do {
        const fromRevision = from + events.length;
        const maxCount = Math.min(pageSize, limit - events.length);
        page = await readStream(streamName, { direction: 'forwards', fromRevision, maxCount });
        for (const event of page) events.push(event);
      } while (page.length === pageSize && events.length < limit);
      return events;
    },

    async loadLast(streamName) {
      const [last] = await readStream(streamName, {
        direction: 'backwards',
        fromRevision: 'end',
        maxCount: 1,
      });
      return last ?? null;
    },

    async head() {
      const [last] = await read('the end of the log', (client) => readEnd(client, requiresLeader));
      return last?.position ?? null;
    },
  };
}

type ReadOnce = (client: EventStoreDBClient) => Promise<RecordedEvent[]>;

/** Only events that the leader answered have an epoch: no append may depend on another node's answer. */
async function readOver(
  { client, appends }: Connected,
  readOnce: ReadOnce,
  requiresLeader: boolean,
): Promise<RecordedEvent[]> {
  const epoch = requiresLeader ? appends.epoch() : undefined;
  const events = await readOnce(client);
  for (const event of events) event.epoch = epoch;
  return events;
}

/** The last event of the log; none in an empty one. */
export const readEnd = (client: EventStoreDBClient, requiresLeader: boolean): Promise<RecordedEvent[]> =>
  collect(client, readAllRequest('end'), requiresLeader);

/** The event at a position, or the next one. */
export const readAt = (client: EventStoreDBClient, position: Position): Promise<RecordedEvent[]> =>
  collect(client, readAllRequest(position), true);

/** All events of the answer; none if there is no such stream. */
async function collect(
  client: EventStoreDBClient,
  request: Buffer,
  requiresLeader: boolean,
): Promise<RecordedEvent[]> {
  const call = await openRead(client, request, requiresLeader);
  const events: RecordedEvent[] = [];
  return await new Promise((resolve, reject) => {
    call.on('data', (message: ReadMessage) => {
      if (message.kind === 'event' && message.event) events.push(message.event);
    });
    call.on('error', (error: ServiceError) => reject(convertToCommandError(error)));
    call.on('end', () => resolve(events));
  });
}

/**
 * Begins a Read over the client's connection, without its classes for messages and streams: they took most of a
 * subscriber's time. The caller hears its errors at once, and cancels it unless it has ended.
 */
export function openRead(
  client: EventStoreDBClient,
  request: Buffer,
  requiresLeader: boolean,
): Promise<ClientReadableStream<ReadMessage>> {
  const { GRPCStreamCreator, callArguments } = hooksOf(client);
  const { path } = StreamsService.read;
  const asItIs = (bytes: Buffer) => bytes;
  const args = callArguments({ requiresLeader }, { deadline: Number.POSITIVE_INFINITY });
  return GRPCStreamCreator(StreamsClient, 'read', (grpc) =>
    grpc.makeServerStreamRequest(path, asItIs, decodeReadMessage, request, ...args),
  )();
}
