/**
 * All processes must have the same keys: the first one records the fingerprint of a key, and the others compare it. Two
 * TRANSACTION_ID_KEYs would give one reference two payments. LINK_KEY can be replaced, so the last event counts.
 */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { object, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

export const keyFingerprintEvents = {
  /** `fingerprint` tells nothing about the key itself. */
  KeyFingerprintRecorded: object({ at: utc, fingerprint: string() }),
};

export type KeyFingerprintEvent = EventOf<typeof keyFingerprintEvents>;

export const keyFingerprintFold: Fold<string | null, KeyFingerprintEvent> = {
  prefix: 'key-fingerprint-',
  initial: null,
  read: readerOf(keyFingerprintEvents),
  evolve: (_, { data }) => data.fingerprint,
};
/** `name` is the variable's. */
export const keyFingerprintStream = (name: string) => `${keyFingerprintFold.prefix}${name}`;
