/** Load → decide → append at the expected revision; after a conflict, load and decide again. */
import {
  type Epoch,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type RecordedEvent,
  WrongExpectedRevision,
} from '@ledger/event-store/event-store.ts';
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import { isPlain, KeysUnavailable, type SealEvents, sealedValuesOf } from '@ledger/personal-data/sealed.ts';
import { UnreadableEvent } from '../events/codec.ts';
import { type Cause, chain, eventIdOf, hashIn, isChainedOnto, previousHashIn } from '../events/envelope.ts';
import { type Decider, Refused } from './decider.ts';

/** A folded stream, and where its next event goes. */
export type Head<State> = {
  state: State;
  revision: ExpectedRevision;
  /** The next event is chained onto it. */
  hash: string;
  /** When it was known; undefined for a stream without events. */
  epoch?: Epoch | undefined;
};

/** The stream after a command, and the events it added: none when the command had already taken effect. */
export type Executed<State, Event> = Head<State> & { events: readonly Event[] };

export type Execute<State, Command, Event> = (
  streamName: string,
  command: Command,
  cause: Cause,
  options?: {
    /** Tries an append to a new stream first, so that the usual request costs one round trip. */
    creates?: boolean;
    /** A head that has already been loaded; the stream is then loaded only after a conflict. */
    from?: Head<State> | null;
    /** The same `commandId` is the same command: given again, it adds nothing. Cannot be used with `from`. */
    once?: boolean;
  },
) => Promise<Executed<State, Event>>;

/**
 * A stream that changes more often than this while a command waits is under attack, not under load. (A page may record
 * several accesses of one session at the same time.)
 */
const maxConflicts = 100;

/** Seals nothing, for streams that hold no personal data. Nothing is ever appended in plain text. */
const sealNothing: SealEvents = (_, events) => {
  for (const { type, data } of events)
    if (sealedValuesOf(data).some(({ value }) => isPlain(value)))
      throw new Error(`${type} would be appended with personal data in plain text`);
  return events;
};

/**
 * Creates the function that executes a decider's commands. `load` replaces the store's own for a decider that `readsPart`;
 * it must return the last event too.
 *
 * The function throws Refused, EventStoreUnavailable, KeysUnavailable, and UnreadableEvent, also for a new event that
 * could not be read back, which is then not written. Over 70 lines: each try depends on what those before it have sent.
 */
export function createExecute<State, Command, Event extends { type: string; data: unknown }>(dependencies: {
  eventStore: Pick<EventStore, 'append' | 'load'>;
  decider: Decider<State, Command, Event>;
  load?: (streamName: string) => Promise<readonly RecordedEvent[]>;
  seal?: SealEvents;
  /** How many heads are kept, of the streams appended to last: the next command on one of them reads nothing. */
  remembered?: number;
}): Execute<State, Command, Event> {
  const { eventStore, decider, seal = sealNothing } = dependencies;
  const load = dependencies.load ?? eventStore.load;
  const heads = new RecentMap<Head<State>>(dependencies.remembered ?? 0);

  return async (streamName, command, cause, { creates = false, from = null, once = false } = {}) => {
    /** What was sent and counts as not stored, by the id of its first event: after a lost connection it may arrive late. */
    const sent = new Map<string, readonly Event[]>();

    /** Null after a conflict: others have appended since this head. */
    async function append(
      head: Head<State>,
      events: readonly Event[],
    ): Promise<Executed<State, Event> | null> {
      // Each try has ids of its own: the store confirms by its id alone an event that an earlier try stored late.
      const own = sent.size === 0 ? cause : { ...cause, commandId: eventIdOf(cause, -sent.size) };
      const chained = chain(events, head.hash, own);
      for (const event of chained) decider.read(event);
      try {
        const { revision, epoch } = await eventStore.append(streamName, chained, head.revision, head.epoch);
        const state = events.reduce(decider.evolve, head.state);
        const appended = { state, revision, hash: hashIn(chained.at(-1)), epoch };
        // The store confirms a repeat by its id alone: the hash of what it has stored may be another.
        if (!once) heads.set(streamName, appended);
        return { ...appended, events };
      } catch (error) {
        heads.delete(streamName);
        if (!(error instanceof WrongExpectedRevision)) throw error;
        if (!once) sent.set(eventIdOf(own, 0), events);
        return null;
      }
    }

    /** What to append to a head that was not read; null where the stream has to be read first. */
    function decideUnread(head: Head<State>): readonly Event[] | null {
      const decided = decider.decide(command, head.state);
      // The stream may have changed. An append would fail on its revision; a refusal or "nothing to do" is decided again.
      if (decided instanceof Refused || decided.length === 0) return null;
      try {
        return seal(streamName, decided);
      } catch (error) {
        // Without a key nothing new is taken, but what is there already must be answered.
        if (error instanceof KeysUnavailable) return null;
        throw error;
      }
    }

    const unread = (once ? undefined : heads.get(streamName)) ?? (creates ? headOf([], decider) : null);
    const expected = from || !unread ? null : decideUnread(unread);
    const first = unread && expected && (await append(unread, expected));
    if (first) return first;
    let head = from;
    for (let conflicts = sent.size; conflicts < maxConflicts; conflicts += 1) {
      let isDone = false;
      if (!head) {
        const stored = await load(streamName);
        head = headOf(stored, decider);
        const arrived = stored.map(({ id }) => sent.get(id)).find((events) => events !== undefined);
        if (arrived) return { ...head, events: arrived };
        isDone = once && stored.some(({ id }) => id === eventIdOf(cause, 0));
      }
      const decided = decider.decide(command, head.state);
      if (decided instanceof Refused) throw decided;
      if (isDone || decided.length === 0) return { ...head, events: [] };
      const executed = await append(head, seal(streamName, decided));
      if (executed) return executed;
      head = null;
    }
    throw new EventStoreUnavailable(
      `Stream ${streamName} changed ${maxConflicts} times while a command waited`,
    );
  };
}

/**
 * Gives a command for each item, and continues when one is refused or cannot be read. `added` counts events: none by a
 * command that had already taken effect. Throws EventStoreUnavailable; the commands before that have taken effect.
 */
export async function executeEach<Item>(
  items: readonly Item[],
  give: (item: Item) => Promise<{ events: readonly unknown[] }>,
) {
  let [added, refused] = [0, 0];
  const reasons = new Set<string>();
  for (const item of items)
    try {
      added += (await give(item)).events.length;
    } catch (error) {
      if (!(error instanceof Refused || error instanceof UnreadableEvent)) throw error;
      refused += 1;
      reasons.add(error instanceof Refused ? error.message : 'Its events cannot be read');
    }
  return { added, refused, reasons: [...reasons] };
}

type Folding<State, Event> = Omit<Decider<State, never, Event>, 'decide' | 'prefix'>;

/** Folds a stream; gives the decider's `initial` if there is none. Throws EventStoreUnavailable and UnreadableEvent. */
export async function loadHead<State, Event>(
  eventStore: Pick<EventStore, 'load'>,
  streamName: string,
  decider: Folding<State, Event>,
): Promise<Head<State>> {
  return headOf(await eventStore.load(streamName), decider);
}

/** Throws UnreadableEvent. */
export function headOf<State, Event>(
  stored: readonly RecordedEvent[],
  { initial, read, evolve, readsPart = false }: Folding<State, Event>,
): Head<State> {
  const end = endOf(stored, readsPart);
  return { state: stored.map((event) => read(event)).reduce(evolve, initial), ...end };
}

/**
 * The end of a stream, for callers that fold it themselves. Nothing is decided or shown on events that somebody has
 * changed: throws UnreadableEvent if one is, or does not follow the event before it. If only part of the stream was
 * loaded, an event is checked against the one before it only where both were loaded.
 */
export function endOf(stored: readonly RecordedEvent[], isPart = false): Omit<Head<unknown>, 'state'> {
  let last: RecordedEvent | undefined;
  for (const event of stored) {
    const isNext = !isPart || event.revision === (last?.revision ?? -1) + 1;
    if (!isChainedOnto(event, isNext ? hashIn(last) : previousHashIn(event)))
      throw new UnreadableEvent(
        `${event.type} at revision ${event.revision} of ${event.streamName} was changed, or does not follow the event before it`,
      );
    last = event;
  }
  return { revision: last?.revision ?? 'no_stream', hash: hashIn(last), epoch: last?.epoch };
}
