/**
 * One subscription at the end of the log for all projections of a process. Each projection reads by itself until it has
 * caught up; from then on it takes its events from the newest ones, which are read and decoded once for all. One that is
 * too slow for these reads by itself again.
 */
import {
  type EventStore,
  EventStoreUnavailable,
  type Position,
  type RecordedEvent,
  type Selection,
  type SubscriptionMessage,
} from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import { maxFailures, textLength } from './batches.ts';

type Options = Parameters<EventStore['subscribe']>[0];
type Placed = Exclude<SubscriptionMessage, { kind: 'caught_up' }>;

/** How many of the newest messages are kept, and how many characters of text they may hold. */
const usualSize = { messages: 2_000, text: 16_000_000 };
/** After this many events of others a projection is told how far it has come, as the event store itself does. */
const checkpointEvery = 512;

/** The same event store, whose `subscribe` shares one subscription; `all` covers every selection that it is asked for. */
export function createSharedReader<Store extends Pick<EventStore, 'subscribe'>>(
  eventStore: Store,
  all: Selection,
  size = usualSize,
): Store {
  let tail: Tail | null = null;
  let readers = 0;

  async function* subscribe(options: Options): AsyncGenerator<SubscriptionMessage, void, void> {
    let { after: position, processed: mark } = options;
    let isCaughtUp = false;
    const note = (message: SubscriptionMessage) => {
      if (message.kind === 'event') mark = message.event;
      if (message.kind === 'checkpoint') mark = message.passed ?? mark;
      if (message.kind !== 'caught_up') position = placeOf(message);
      return message;
    };
    readers += 1;
    try {
      while (!options.signal.aborted) {
        if (isCaughtUp && tail?.follows(position)) {
          for await (const message of tail.read(options, position)) yield note(message);
          continue;
        }
        isCaughtUp = false;
        // The subscription also finds out whether the log still has the last event.
        for await (const message of eventStore.subscribe({ ...options, after: position, processed: mark })) {
          yield note(message);
          isCaughtUp = message.kind === 'caught_up';
          if (isCaughtUp) break;
        }
        if (!isCaughtUp) return;
        if (tail?.follows(position)) continue;
        // The others change to the new tail, which begins before theirs.
        const replaced = tail;
        tail = openTail(eventStore, { ...all, after: position, processed: mark, maxFailures }, size);
        replaced?.close();
      }
    } finally {
      readers -= 1;
      if (readers === 0) tail?.close();
    }
  }

  return { ...eventStore, subscribe };
}

type Tail = ReturnType<typeof openTail>;

/** The messages after a position, of which the newest are kept. */
function openTail(
  eventStore: Pick<EventStore, 'subscribe'>,
  options: Omit<Options, 'signal'> & Selection,
  size: typeof usualSize,
) {
  const closing = new AbortController();
  const newest = createNewest(options.after, size);
  let failure: unknown = null;

  const close = () => {
    closing.abort();
    newest.wake();
  };

  async function gather(): Promise<void> {
    let passed: RecordedEvent | undefined;
    for await (const message of eventStore.subscribe({ ...options, signal: closing.signal })) {
      if (message.kind === 'caught_up') continue;
      if (message.kind === 'event') passed = message.event;
      newest.add(message.kind === 'event' ? message : { ...message, passed });
    }
  }

  void gather()
    .catch((error) => {
      failure = error;
    })
    .finally(close);

  return {
    close,
    /** Whether everything after the position is or will be here. */
    follows: (position: Position | null) => !closing.signal.aborted && !isAfter(newest.from(), position),

    /**
     * What is selected after a position that this follows. Ends when the reader is too slow, this is closed, or the log
     * cannot be read any further. In that last case, throws EventStoreUnavailable if the reader has a limit of failures.
     */
    async *read(
      { signal, maxFailures: limit, ...selection }: Options,
      after: Position | null,
    ): AsyncGenerator<Placed> {
      const isSelected = selector(selection);
      let next = newest.first();
      let others = 0;
      // Asked for each message and reader, `signal.aborted` took 3 % of the projections' time.
      let isOver = signal.aborted;
      const end = () => {
        isOver = true;
        newest.wake();
      };
      signal.addEventListener('abort', end);
      try {
        while (!isOver && next >= newest.first()) {
          const message = newest.at(next);
          if (!message && closing.signal.aborted) break;
          if (!message) {
            await newest.changed();
            continue;
          }
          next += 1;
          const position = placeOf(message);
          if (!isAfter(position, after)) continue;
          others += 1;
          const isOurs = message.kind === 'checkpoint' || isSelected(message.event);
          if (!isOurs && others < checkpointEvery) continue;
          others = 0;
          yield isOurs ? message : { kind: 'checkpoint', position, passed: message.event };
        }
        if (failure instanceof EventStoreUnavailable && limit !== undefined) throw failure;
      } finally {
        signal.removeEventListener('abort', end);
      }
    },
  };
}

/** The newest of the messages after a position, by their numbers; readers wait for the next one. */
function createNewest(after: Position | null, size: typeof usualSize) {
  const kept: Placed[] = [];
  /** The length of the text in what is kept. */
  let length = 0;
  let first = 0;
  let from = after;
  let changed = Promise.withResolvers<void>();
  const wake = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  return {
    add(message: Placed): void {
      kept.push(message);
      length += textLength(message);
      while (kept.length > size.messages || length > size.text) {
        const oldest = kept.shift() ?? message;
        from = placeOf(oldest);
        length -= textLength(oldest);
        first += 1;
      }
      wake();
    },
    at: (number: number): Placed | undefined => kept[number - first],
    /** The number of the first message that is kept. */
    first: () => first,
    /** The position before it. */
    from: () => from,
    /** Resolves when one is added, or when readers are woken. */
    changed: () => changed.promise,
    wake,
  };
}

function placeOf(message: Placed): Position {
  return message.kind === 'event' ? message.event.position : message.position;
}

function selector(selection: Selection): (event: RecordedEvent) => boolean {
  if ('streamPrefixes' in selection)
    return ({ streamName }) => selection.streamPrefixes.some((prefix) => streamName.startsWith(prefix));
  const types = new Set(selection.eventTypes);
  return ({ type }) => types.has(type);
}
