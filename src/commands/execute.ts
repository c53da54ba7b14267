/** Load → decide → append at the expected revision; after a conflict, load and decide again. */
import { type Cause, chain, type Envelope, hashIn } from '../events/envelope.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../eventstore/event-store.ts';
import { type Decider, Refused } from './decider.ts';

/** A folded stream, and where its next event goes. */
export type Head<State> = {
  state: State;
  revision: ExpectedRevision;
  /** The next event is chained onto it. */
  hash: string;
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
  },
) => Promise<Executed<State, Event>>;

/** The `execute` of a decider: `ExecuteOf<typeof paymentDecider>`. */
export type ExecuteOf<D> =
  D extends Decider<infer State, infer Command, infer Event> ? Execute<State, Command, Event> : never;

/**
 * Creates the function that executes a decider's commands. `load` replaces the store's own where a decision needs only
 * part of a stream; it must return the last event too.
 *
 * The function throws Refused, EventStoreUnavailable, and UnreadableEvent, also for a new event that could not be read
 * back, which is then not written.
 */
export function createExecute<State, Command, Event extends { type: string; data: unknown }>({
  eventStore,
  decider,
  load = eventStore.load,
  maxConflicts = 50,
}: {
  eventStore: Pick<EventStore, 'append' | 'load'>;
  decider: Decider<State, Command, Event>;
  load?: (streamName: string) => Promise<readonly RecordedEvent[]>;
  /** A stream that changes more often than this while a command waits is under attack, not under load. */
  maxConflicts?: number;
}): Execute<State, Command, Event> {
  const loadAgain = async (streamName: string) => headOf(await load(streamName), decider);

  return async (streamName, command, cause, { creates = false, from = null } = {}) => {
    let head = from ?? (creates ? headOf([], decider) : await loadAgain(streamName));
    for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
      const events = decider.decide(command, head.state);
      if (events instanceof Refused) throw events;
      const chained: Envelope<Event>[] = chain(events, head.hash, cause);
      const last = chained.at(-1);
      if (!last) return { ...head, events };
      for (const event of chained) decider.read(event);
      try {
        const { revision } = await eventStore.append(streamName, chained, head.revision);
        const state = events.reduce(decider.evolve, head.state);
        return { state, revision, hash: last.metadata.hash, events };
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        head = await loadAgain(streamName);
      }
    }
    throw new EventStoreUnavailable(
      `Stream ${streamName} changed ${maxConflicts} times while a command waited`,
    );
  };
}

type Fold<State, Event> = Pick<Decider<State, never, Event>, 'initial' | 'read' | 'evolve'>;

/** Folds a stream; gives the decider's `initial` if there is none. Throws EventStoreUnavailable and UnreadableEvent. */
export async function loadHead<State, Event>(
  eventStore: Pick<EventStore, 'load'>,
  streamName: string,
  decider: Fold<State, Event>,
): Promise<Head<State>> {
  return headOf(await eventStore.load(streamName), decider);
}

export function headOf<State, Event>(
  stored: readonly RecordedEvent[],
  { initial, read, evolve }: Fold<State, Event>,
): Head<State> {
  return { state: stored.map((event) => read(event)).reduce(evolve, initial), ...endOf(stored) };
}

/** The end of a stream, for callers that fold it themselves. */
export function endOf(stored: readonly RecordedEvent[]): Omit<Head<unknown>, 'state'> {
  const last = stored.at(-1);
  return { revision: last?.revision ?? 'no_stream', hash: hashIn(last) };
}
