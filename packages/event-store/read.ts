/** Reads streams, in pages, each within the connection's deadline: the client sets none. */
import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  type RecordedEvent as ClientEvent,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ResolvedEvent,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Connected, Connection } from './connection.ts';
import { describe, isRefusal } from './errors.ts';
import { type EventStore, EventStoreUnavailable, type Position, type RecordedEvent } from './event-store.ts';

const pageSize = 1000;

export type Reads = Pick<EventStore, 'load' | 'loadLast' | 'head'>;
type Found = StreamingRead<ResolvedEvent> | StreamingRead<AllStreamResolvedEvent>;
type Slice = { direction: 'forwards' | 'backwards'; fromRevision: bigint | 'end'; maxCount: number };

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
  function readStream(streamName: string, slice: Slice): Promise<RecordedEvent[]> {
    return read(`stream ${streamName}`, (client) =>
      collect(client.readStream(streamName, { ...slice, requiresLeader })),
    );
  }

  /** What another node than the leader answers is no ground for an append. */
  const readOver =
    (readOnce: (client: EventStoreDBClient) => Promise<RecordedEvent[]>) =>
    async ({ client, appends }: Connected): Promise<RecordedEvent[]> => {
      const epoch = requiresLeader ? appends.epoch() : undefined;
      const events = await readOnce(client);
      for (const event of events) event.epoch = epoch;
      return events;
    };

  async function read(
    what: string,
    readOnce: (client: EventStoreDBClient) => Promise<RecordedEvent[]>,
  ): Promise<RecordedEvent[]> {
    try {
      return await retry(() => connection.use(readOver(readOnce)), {
        runtime,
        signal, // checked after each attempt too: a read that closing interrupts ends as if it were whole
        firstMs: 50,
        maxAttempts: 5,
        giveUpAfterMs,
        shouldRetry: (error) => !isRefusal(error) && !connection.isAway(),
      });
    } catch (error) {
      const message = `Cannot read ${what}: ${describe(error)}`;
      if (isRefusal(error)) throw new Error(message, { cause: error });
      throw new EventStoreUnavailable(message, { cause: error });
    }
  }

  return {
    async load(streamName, from = 0, limit = Number.POSITIVE_INFINITY) {
      const events: RecordedEvent[] = [];
      let page: RecordedEvent[];
      do {
        const fromRevision = BigInt(from + events.length);
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

/** The last event of the log; none in an empty one. */
export function readEnd(client: EventStoreDBClient, requiresLeader: boolean): Promise<RecordedEvent[]> {
  return collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader }));
}

/** The event at a position, or the next one. */
export function readAt(client: EventStoreDBClient, fromPosition: Position): Promise<RecordedEvent[]> {
  return collect(client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1, requiresLeader: true }));
}

/** Never stops before the end: the client would keep a call whose answers nobody takes until it is disposed of. */
async function collect(found: Found): Promise<RecordedEvent[]> {
  found.on('error', () => {}); // the loop hears it; one that comes after it would end the process
  const events: RecordedEvent[] = [];
  try {
    for await (const { event } of found) if (event) events.push(toRecordedEvent(event));
  } catch (error) {
    if (error instanceof StreamNotFoundError) return [];
    found.cancel().catch(() => {}); // rejects when there was no connection to begin with
    throw error;
  }
  return events;
}

/**
 * Data and metadata as the client parsed them: JSON as values, what is not JSON as Uint8Array (JSON that does not parse
 * as its text). The reader of the event has to check them.
 */
export function toRecordedEvent(event: ClientEvent): RecordedEvent {
  if (!event.position) throw new Error(`Event ${event.id} came without its position`);
  return {
    id: event.id,
    type: event.type,
    data: event.data,
    metadata: event.metadata,
    streamName: event.streamId,
    revision: Number(event.revision),
    position: event.position,
    created: event.created,
  };
}
