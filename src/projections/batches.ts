/**
 * A subscription cut into batches by the consumer's own pace: while it writes one batch the next one gathers,
 * so a quiet log is followed event by event and a busy one in full batches, without a timer in between.
 */
import { setImmediate } from 'node:timers/promises';
import type { EventStore, Position, RecordedEvent } from '../eventstore/event-store.ts';

export type Batch = {
  /** May be empty: then only the position has moved, over events of others. */
  events: readonly RecordedEvent[];
  /** Up to here everything was considered. */
  position: Position;
};

const maxEvents = 500;
/** A position that moved without events is handed over at most this often. */
const bareCheckpointMs = 1_000;

/** Ends when the signal aborts; events that were gathered and not taken by then are left out. Throws what `subscribe` throws. */
export async function* readBatches({
  eventStore,
  streamPrefixes,
  after,
  signal,
}: {
  eventStore: Pick<EventStore, 'subscribe'>;
  streamPrefixes: readonly string[];
  after: Position | null;
  signal: AbortSignal;
}): AsyncGenerator<Batch, void, void> {
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  let events: RecordedEvent[] = [];
  let position: Position | null = null;
  let ended = false;
  let ready = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  let bareCheckpoint: NodeJS.Timeout | undefined;

  async function gather(): Promise<void> {
    for await (const message of eventStore.subscribe({ streamPrefixes, after, signal: until })) {
      if (message.kind === 'caught_up') continue;
      if (message.kind === 'checkpoint') {
        position = message.position;
        bareCheckpoint ??= setTimeout(() => ready.resolve(), bareCheckpointMs);
        continue;
      }
      position = message.event.position;
      events.push(message.event);
      ready.resolve();
      if (events.length >= maxEvents) await taken.promise;
    }
  }

  const gathering = gather().finally(() => {
    ended = true;
    ready.resolve();
  });
  // Its failure is thrown at the end; until then it must not count as unhandled.
  gathering.catch(() => {});
  try {
    while (!until.aborted) {
      await ready.promise;
      // What has already arrived on the wire may join in.
      await setImmediate();
      if (until.aborted) break;
      const batch = position && { events, position };
      events = [];
      position = null;
      clearTimeout(bareCheckpoint);
      bareCheckpoint = undefined;
      ready = Promise.withResolvers();
      taken.resolve();
      taken = Promise.withResolvers();
      if (batch) yield batch;
      if (ended) break;
    }
  } finally {
    left.abort();
    taken.resolve();
    clearTimeout(bareCheckpoint);
    await gathering;
  }
}
