/**
 * Personal data in events. An event holds them sealed: encrypted under a data key that is kept outside the log and can
 * be destroyed. Folds and deciders pass sealed values on and never look inside; src/personal-data seals and opens them.
 */
import { dynamic, object, type Struct, string } from 'superstruct';

/** `data` is base64url of nonce, ciphertext and tag of AES-256-GCM; `key` is the id of its data key. */
export type SealedData = { key: string; data: string };

/** Events of schema version 1 were written in plain text, which an upcast marks as such; none is written any more. */
export type Sealed<T> = SealedData | { plain: T };

/** A sealed value in a folded state; `erased` once the event says so. */
export type Held<T> = Sealed<T> | { erased: true };

const sealedData = object({ key: string(), data: string() });

/** The struct of a sealed value; `content` is that of the value itself, which can be checked only in plain text. */
export function sealed<T>(content: Struct<T, unknown>): Struct<Sealed<T>, null> {
  const plain = object({ plain: content as Struct<unknown> }) as Struct<unknown, unknown>;
  // Not `union`, which the quick check of events (kernel/matches-schema.ts) does not see through.
  return dynamic<unknown>((value) =>
    isPlain(value) ? plain : (sealedData as Struct<unknown, unknown>),
  ) as Struct<Sealed<T>, null>;
}

export function isPlain(value: unknown): value is { plain: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'plain');
}

/**
 * The fields of an event's data that hold sealed values: what the service shows about a person, and what it received
 * as evidence. No other field of an event holds personal data.
 */
export const sealedFields = ['personal', 'evidence'] as const;
export type SealedField = (typeof sealedFields)[number];

/** Where a sealed value belongs: it opens nowhere else. */
export type SealedPlace = { stream: string; field: SealedField };

export type Opened<T> =
  | { kind: 'open'; value: T }
  /** The key has been destroyed. */
  | { kind: 'erased' }
  /** The key cannot be read at present. */
  | { kind: 'unavailable' };

/** What reads personal data; never rejects. */
export type OpenSealed = <T>(held: Held<T>, place: SealedPlace) => Promise<Opened<T>>;

/** The keys of personal data cannot be reached at present. The message holds no personal data. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

/** What projections need to read and index personal data. */
export type PersonalDataReader = {
  open: OpenSealed;
  /** Replaces each term by a keyed digest, the same each time. Throws KeysUnavailable. */
  indexTerms(terms: readonly string[]): Promise<string[]>;
};

/** The sealed values of an event's data, with the fields that hold them. */
export function sealedValuesOf(data: unknown): { field: SealedField; value: Sealed<unknown> }[] {
  if (typeof data !== 'object' || data === null) return [];
  return sealedFields.flatMap((field) => {
    const value: unknown = Reflect.get(data, field);
    return typeof value === 'object' && value !== null ? [{ field, value: value as Sealed<unknown> }] : [];
  });
}
