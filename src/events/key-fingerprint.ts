/**
 * That all processes have the same key: the first one that uses a key records its fingerprint, and every other one
 * compares. Two TRANSACTION_ID_KEYs would give one reference of a merchant two payments. A key that can be replaced, as
 * LINK_KEY can, is the one of the last event.
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
