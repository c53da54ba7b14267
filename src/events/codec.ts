/** Reads stored events: upcasts each to the current schema and checks it, so that the program can trust the result. */
import { matchesSchema } from '@ledger/kernel/matches-schema.ts';
import { ErrorWithoutValues, reasonOf } from '@ledger/kernel/reason-of.ts';
import type { EventOf } from '@ledger/kernel/structs.ts';
import { personalDataErased } from '@ledger/personal-data/sealed.ts';
import { type Struct, validate } from 'superstruct';
import { acknowledgementEvents } from './acknowledgements.ts';
import { metadataValue } from './envelope.ts';
import { keyFingerprintEvents } from './key-fingerprint.ts';
import { merchantEvents } from './merchant.ts';
import { passkeyUseEvents } from './passkeys.ts';
import { paymentEvents } from './payment.ts';
import { projectEvents } from './project.ts';
import { rebuildEvents } from './rebuild.ts';
import { reconciliationEvents } from './reconciliation.ts';
import { sealEvents } from './seals.ts';
import { sessionEvents } from './session.ts';
import { settlementEvents } from './settlement.ts';
import { sharedNumberEvents } from './shared-number.ts';
import { quarantineEvents, unmatchedEvents } from './unmatched.ts';
import { upcast } from './upcast.ts';
import { userEvents } from './user.ts';

/** An event this program cannot read: corrupt, of an unknown type, or written by a newer version. */
export class UnreadableEvent extends ErrorWithoutValues {
  override name = 'UnreadableEvent';
}

type Stored = { type: string; data: unknown; metadata: unknown };

export const readPaymentEvent = readerOf(paymentEvents);
export const readUserEvent = readerOf(userEvents);
export const readPasskeyUse = readerOf(passkeyUseEvents);
export const readSessionEvent = readerOf(sessionEvents);
export const readMerchantEvent = readerOf(merchantEvents);
export const readProjectEvent = readerOf(projectEvents);
export const readRebuildEvent = readerOf(rebuildEvents);
export const readReconciliationEvent = readerOf(reconciliationEvents);
/** A result in the quarantine; its resolution is an unmatched event. */
export const readUnmatchedResult = readerOf(quarantineEvents);
export const readUnmatchedEvent = readerOf(unmatchedEvents);
/** `PersonalDataErased`, in whichever stream. */
export const readErasure = readerOf({ PersonalDataErased: personalDataErased });
export const readSharedNumberEvent = readerOf(sharedNumberEvents);
export const readSettlementEvent = readerOf(settlementEvents);
export const readKeyFingerprintEvent = readerOf(keyFingerprintEvents);
export const readSeal = readerOf(sealEvents);
export const readAcknowledgement = readerOf(acknowledgementEvents);

/**
 * Reads stored events of one kind of stream as events of the current schema; `structs` are those of its types.
 * The function returned throws UnreadableEvent, whose message holds no values.
 */
function readerOf<Structs extends Record<string, Pick<Struct, 'TYPE'>>>(
  structs: Structs,
): (stored: Stored) => EventOf<Structs> {
  const structOf = new Map(Object.entries(structs));
  return (stored) => {
    const { type } = stored;
    const struct = structOf.get(type);
    if (!struct) throw new UnreadableEvent(`Unknown event type ${type}`);
    const lifted = lift(stored);
    const failure = failureOf(type, lifted, struct as Struct<unknown>);
    if (failure)
      throw new UnreadableEvent(`${type} does not fit its schema at ${failure.path.join('.') || 'its root'}`);
    return { type, data: lifted } as EventOf<Structs>;
  };
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
    if (error instanceof UnreadableEvent) return error;
    throw error;
  }
}
