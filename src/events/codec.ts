/** The border between what the log holds and what the program trusts: lifts and checks an event as it is read. */
import { type Struct, validate } from 'superstruct';
import { matchesSchema } from '../kernel/matches-schema.ts';
import { type PaymentEvent, paymentEvents } from './payment.ts';
import { type ProjectEvent, projectEvents } from './project.ts';
import { type RebuildEvent, rebuildEvents } from './rebuild.ts';
import { type ReconciliationEvent, reconciliationEvents } from './reconciliation.ts';
import { LogSealed } from './seals.ts';
import { type SessionEvent, sessionEvents } from './session.ts';
import { GatewayResultUnmatched, type UnmatchedEvent, unmatchedEvents } from './unmatched.ts';
import { upcast } from './upcast.ts';
import { type UserEvent, userEvents } from './user.ts';

/** An event this program cannot read: corrupt, of an unknown type, or written by a newer version. */
export class UnreadableEvent extends Error {
  override name = 'UnreadableEvent';
}

type Stored = { type: string; data: unknown; metadata: unknown };

/** A stored event as a payment event of the current schema. Throws UnreadableEvent; its message holds no values. */
export function readPaymentEvent(stored: Stored): PaymentEvent {
  return readAs(paymentEvents, stored) as PaymentEvent;
}

/** Likewise for an event of a user. */
export function readUserEvent(stored: Stored): UserEvent {
  return readAs(userEvents, stored) as UserEvent;
}

/** Likewise for an event of a projection's rebuilds. */
export function readRebuildEvent(stored: Stored): RebuildEvent {
  return readAs(rebuildEvents, stored) as RebuildEvent;
}

/** Likewise for an event of a session. */
export function readSessionEvent(stored: Stored): SessionEvent {
  return readAs(sessionEvents, stored) as SessionEvent;
}

/** Likewise for an event of a project. */
export function readProjectEvent(stored: Stored): ProjectEvent {
  return readAs(projectEvents, stored) as ProjectEvent;
}

/** Likewise for a result in quarantine: its data. */
export function readUnmatchedResult(stored: Stored): GatewayResultUnmatched {
  return readAs({ GatewayResultUnmatched }, stored).data as GatewayResultUnmatched;
}

/** Likewise for what staff said of one. */
export function readUnmatchedEvent(stored: Stored): UnmatchedEvent {
  return readAs(unmatchedEvents, stored) as UnmatchedEvent;
}

/** Likewise for an event of a difference that an import found. */
export function readReconciliationEvent(stored: Stored): ReconciliationEvent {
  return readAs(reconciliationEvents, stored) as ReconciliationEvent;
}

/** Likewise for a seal of the log: its data. */
export function readSeal(stored: Stored): LogSealed {
  return readAs({ LogSealed }, stored).data as LogSealed;
}

function readAs(structs: object, { type, data, metadata }: Stored): { type: string; data: unknown } {
  if (!Object.hasOwn(structs, type)) throw new UnreadableEvent(`Unknown event type ${type}`);
  const lifted = lift(type, data, metadata);
  const failure = failureOf(type, lifted, Reflect.get(structs, type) as Struct<unknown>);
  if (failure)
    throw new UnreadableEvent(`${type} does not fit its schema at ${failure.path.join('.') || 'its root'}`);
  return { type, data: lifted };
}

/** superstruct throws on what is nested too deep to be walked through, or has a `toString` that is no function. */
function failureOf(type: string, data: unknown, struct: Struct<unknown>) {
  try {
    return matchesSchema(data, struct) ? undefined : validate(data, struct)[0];
  } catch (error) {
    throw new UnreadableEvent(`${type} cannot be checked`, { cause: error });
  }
}

function lift(type: string, data: unknown, metadata: unknown): unknown {
  const version = typeof metadata === 'object' && metadata !== null && Reflect.get(metadata, 'schemaVersion');
  try {
    return upcast(type, Number(version), data);
  } catch (error) {
    throw new UnreadableEvent(error instanceof Error ? error.message : String(error));
  }
}
