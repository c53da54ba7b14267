/**
 * A subscription in batches, at the consumer's pace. Until it has caught up with the log, its batches are full: fewer
 * batches mean fewer rows written twice. Then one batch gathers while another is written, and for as long as the consumer
 * wants between two, so that a quiet log is followed event by event and a busy one in larger batches.
 */
import type {
  EventStore,
  LogMark,
  Position,
  RecordedEvent,
  Selection,
  SubscriptionMessage,
} from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';

export type Batch = {
  /** May be empty: then only the position has moved, over events of other streams. */
  events: readonly RecordedEvent[];
  /** Everything up to here has been considered. */
  position: Position;
  /** The last event up to there, whoever it is for, if known: it tells this log from another. */
  last?: LogMark | null;
};

/** A batch of events with long texts ends sooner, to limit memory. */
const maxTextLength = 8_000_000;
/** After this many failures to read in a row the reader gives up its lead: another process may reach the log. */
export const maxFailures = 4;
/** How long a position that moved without events, or a batch that is not full, waits for more. */
const gatherMs = 1_000;
/** The same for events that can wait: less than the workers give the to-do list. */
const waitMs = 100;

type Reading = {
  eventStore: Pick<EventStore, 'subscribe'>;
  selection: Selection;
  after: Position | null;
  /** The option of `subscribe`. */
  processed?: LogMark | null;
  upTo?: Position;
  maxEvents?: number | undefined;
  /**
   * After a batch the next one begins with the next span of so many ms of the monotonic clock, at the earliest: those of
   * several projections then begin together. A reader that is behind does not wait.
   */
  everyMs?: number | undefined;
  /** Whether an event may wait for a moment, for others to come. */
  canWait?: ((event: RecordedEvent) => boolean) | undefined;
  runtime: Pick<Runtime, 'monotonicMs' | 'setTimer' | 'sleep' | 'yieldToIo'>;
  signal: AbortSignal;
};

/**
 * Ends when the signal aborts; events collected but not yielded by then are dropped. With `upTo`, a position that the
 * log has already reached, it also ends once everything up to it has been yielded. Throws what `subscribe` throws, and
 * when the subscription ended by itself.
 */
export async function* readBatches(reading: Reading): AsyncGenerator<Batch, void, void> {
  const { eventStore, selection, after, processed, upTo, everyMs = 0, runtime, signal } = reading;
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  const next = createNextBatch(reading);
  let isBehind = true;
  let isEnded = false;

  async function gather(): Promise<void> {
    const options = { ...selection, after, processed, signal: until, maxFailures };
    for await (const message of eventStore.subscribe(options)) {
      if (upTo && (message.kind === 'caught_up' || isAfter(positionOf(message), upTo))) return;
      if (message.kind === 'caught_up') {
        isBehind = false;
        next.makeReady();
      } else if (next.add(message, isBehind) === 'full') await next.taken();
    }
    if (!until.aborted) throw new Error('The subscription ended by itself');
  }

  const gathering = gather().finally(() => {
    isEnded = true;
    next.makeReady();
  });
  // Thrown at the end; until then the rejection must not count as unhandled.
  gathering.catch(() => {});
  try {
    while (!until.aborted) {
      await next.ready();
      // Events that have already arrived join the batch.
      await runtime.yieldToIo();
      if (until.aborted) break;
      const isLast = isEnded;
      const batch = next.take();
      const isPaced = everyMs > 0 && !isBehind && !isLast;
      const pause = isPaced && runtime.sleep(msToNextSpan(everyMs, runtime.monotonicMs()), until);
      if (batch) yield batch;
      if (isLast) break;
      await pause;
    }
  } finally {
    left.abort();
    next.drop();
    await gathering;
  }
}

type Moved = Exclude<SubscriptionMessage, { kind: 'caught_up' }>;

const positionOf = (message: Moved) => (message.kind === 'event' ? message.event : message).position;

/** The batch that gathers while the one before it is being written. */
function createNextBatch({
  maxEvents = 5_000,
  canWait = () => false,
  runtime,
}: Pick<Reading, 'maxEvents' | 'canWait' | 'runtime'>) {
  let events: RecordedEvent[] = [];
  let position: Position | null = null;
  let last: LogMark | null = null;
  let length = 0;
  let ready = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  let cancelTimer: (() => void) | undefined;
  return {
    ready: () => ready.promise,
    taken: () => taken.promise,
    makeReady: () => ready.resolve(),

    /** A batch that is full is ready at once; one of a reader that has caught up, with its first event that cannot wait. */
    add(message: Moved, isBehind: boolean): 'full' | 'open' {
      position = positionOf(message);
      last = (message.kind === 'event' ? message.event : message.passed) ?? last;
      if (message.kind === 'event') {
        events.push(message.event);
        length += textLength(message.event.data);
      }
      const isFull = events.length >= maxEvents || length >= maxTextLength;
      const isNew = !isBehind && events.length > 0;
      const waits = message.kind === 'event' && canWait(message.event);
      if (isFull || (isNew && !waits)) ready.resolve();
      else cancelTimer ??= runtime.setTimer(isNew ? waitMs : gatherMs, ready.resolve);
      return isFull ? 'full' : 'open';
    },

    /** Begins another one. Null if not even the position has moved. */
    take(): Batch | null {
      const batch = position && { events, position, last };
      events = [];
      position = null;
      length = 0;
      cancelTimer?.();
      cancelTimer = undefined;
      ready = Promise.withResolvers();
      taken.resolve();
      taken = Promise.withResolvers();
      return batch;
    },

    /** Nobody takes it any more. */
    drop(): void {
      cancelTimer?.();
      taken.resolve();
    },
  };
}

/** A timer may fire some ms early: what has almost begun counts as begun. */
function msToNextSpan(everyMs: number, nowMs: number): number {
  const leftMs = everyMs - (nowMs % everyMs);
  return leftMs < everyMs / 10 ? leftMs + everyMs : leftMs;
}

/** The approximate amount of text in a value. */
export function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let length = 0;
  for (const key in value) length += key.length + textLength(Reflect.get(value, key));
  return length;
}
