/** Reads stored events: upcasts each to the current schema and checks it, so that the program can trust the result. */
import { matchesSchema } from '@ledger/kernel/matches-schema.ts';
import { ErrorWithoutValues, reasonOf } from '@ledger/kernel/reason-of.ts';
import type { EventOf } from '@ledger/kernel/structs.ts';
import { type Struct, validate } from 'superstruct';
import { metadataValue } from './envelope.ts';
import { upcast } from './upcast.ts';

/** An event this program cannot read: corrupt, of an unknown type, or written by a newer version. */
export class UnreadableEvent extends ErrorWithoutValues {
  override name = 'UnreadableEvent';
}

type Stored = { type: string; data: unknown; metadata: unknown };

/** A kind of stream: how its events are read, and the state that they lead to. */
export type Fold<State, Event> = {
  /** The names of its streams begin with it. */
  prefix: string;
  initial: State;
  /** Throws UnreadableEvent, also on an event of another kind of stream. */
  read(stored: Stored): Event;
  /** Total: never throws. An event that makes no sense in this state changes nothing. */
  evolve(state: State, event: Event): State;
};

/**
 * Reads stored events of one kind of stream as events of the current schema; `structs` are those of its types.
 * The function returned throws UnreadableEvent, whose message holds no values.
 */
export function readerOf<Structs extends Record<string, Pick<Struct, 'TYPE'>>>(
  structs: Structs,
): (stored: Stored) => EventOf<Structs> {
  return (stored) => {
    const { type } = stored;
    const struct = Object.hasOwn(structs, type) ? structs[type] : undefined;
    if (!struct) throw new UnreadableEvent(`Unknown event type ${type}`);
    const lifted = lift(stored);
    const failure = failureOf(type, lifted, struct as Struct<unknown>);
    if (failure)
      throw new UnreadableEvent(`${type} does not fit its schema at ${failure.path.join('.') || 'its root'}`);
    return { type, data: lifted } as EventOf<Structs>;
  };
}

/** Whether the event is of one of the types of these structs. */
export function isEventOf<Structs extends Record<string, Pick<Struct, 'TYPE'>>>(
  structs: Structs,
  event: { type: string },
): event is EventOf<Structs> & { type: string } {
  return Object.hasOwn(structs, event.type);
}

/** superstruct throws on data that is nested too deep, or that has a `toString` which is not a function. */
function failureOf(type: string, data: unknown, struct: Struct<unknown>) {
  try {
    return matchesSchema(data, struct) ? undefined : validate(data, struct)[0];
  } catch (error) {
    throw new UnreadableEvent(`${type} cannot be checked`, { cause: error });
  }
}

function lift(stored: Stored): unknown {
  try {
    return upcast(stored.type, Number(metadataValue(stored, 'schemaVersion')), stored.data);
  } catch (error) {
    throw new UnreadableEvent(reasonOf(error));
  }
}

/** The result of `read` for an event that may have been tampered with, or the error when it cannot be read. */
export function tryRead<Event>(read: (stored: Stored) => Event, stored: Stored): Event | UnreadableEvent {
  try {
    return read(stored);
  } catch (error) {
    return asUnreadable(error);
  }
}

/** Throws any other error. */
export function asUnreadable(error: unknown): UnreadableEvent {
  if (error instanceof UnreadableEvent) return error;
  throw error;
}
