/** Load → decide → append at the expected revision; on conflict, load and decide again. */
import { type Cause, chain, type Envelope, genesisHash, type Metadata } from '../events/envelope.ts';
import { schemaVersion } from '../events/upcast.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../eventstore/event-store.ts';
import { type Decider, Refused } from './decider.ts';

type AnyEvent = { type: string; data: unknown };

export type Executed<State, Event> = { state: State; events: readonly Event[] };

export type Execute<State, Command, Event> = (
  streamName: string,
  command: Command,
  cause: Cause,
  options?: { creates: boolean },
) => Promise<Executed<State, Event>>;

/** A stream that loses this many races in a row is under attack, not under load. */
const maxConflicts = 50;

/**
 * Makes the one way in which a command reaches a stream. `read` turns a stored event into one of the decider's
 * and throws on what it cannot read; it is also asked of every event before it is written.
 *
 * The function returned resolves to the state after the command and the events it added (none when it had
 * already happened). It throws what the decider refused (Refused) and EventStoreUnavailable. With `creates`
 * it tries an append to a new stream first, so that the usual request costs one round trip.
 */
export function createExecute<State, Command, Event extends AnyEvent>(dependencies: {
  eventStore: Pick<EventStore, 'append' | 'load'>;
  decider: Decider<State, Command, Event>;
  read: (stored: AnyEvent & { metadata: unknown }) => Event;
}): Execute<State, Command, Event> {
  const { eventStore, decider, read } = dependencies;
  const empty = { state: decider.initial, revision: 'no_stream' as const, hash: genesisHash };

  const load = async (streamName: string) => fold(await eventStore.load(streamName), decider, read);

  return async (streamName, command, cause, options) => {
    let head: Head<State> = options?.creates ? empty : await load(streamName);
    for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
      const events = decider.decide(command, head.state);
      if (events instanceof Refused) throw events;
      if (events.length === 0) return { state: head.state, events };
      const chained: Envelope<Event>[] = chain(events, head.hash, cause, schemaVersion);
      for (const event of chained) read(event);
      try {
        await eventStore.append(streamName, chained, head.revision);
        return { state: events.reduce(decider.evolve, head.state), events };
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        head = await load(streamName);
      }
    }
    throw new EventStoreUnavailable(
      `Stream ${streamName} changed ${maxConflicts} times while a command waited`,
    );
  };
}

type Head<State> = { state: State; revision: number | 'no_stream'; hash: string };

function fold<State, Command, Event extends AnyEvent>(
  stored: readonly RecordedEvent[],
  decider: Decider<State, Command, Event>,
  read: (stored: RecordedEvent) => Event,
): Head<State> {
  const last = stored.at(-1);
  return {
    state: stored.map(read).reduce(decider.evolve, decider.initial),
    revision: last?.revision ?? 'no_stream',
    hash: last ? (last.metadata as Metadata).hash : genesisHash,
  };
}
