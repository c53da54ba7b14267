/**
 * Personal data in events. An event holds them sealed: encrypted under a data key that is kept outside the log and can
 * be destroyed. Folds and deciders pass sealed values on and never look inside; personal-data.ts seals and opens them.
 */
import { chosen } from '@ledger/kernel/matches-schema.ts';
import { utc } from '@ledger/kernel/structs.ts';
import { array, enums, object, type Struct, string } from 'superstruct';

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
  return chosen<unknown>((value) =>
    isPlain(value) ? plain : (sealedData as Struct<unknown, unknown>),
  ) as Struct<Sealed<T>, null>;
}

export function isPlain(value: unknown): value is { plain: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'plain');
}

/** On request of the person or of the agency; or because RETENTION says so. */
const erasureReasons = ['requested', 'retention'] as const;
export type ErasureReason = (typeof erasureReasons)[number];

/** The keys of all personal data that earlier events hold have been destroyed; those of version 1 are in plain text. */
export const personalDataErased = object({ at: utc, reason: enums(erasureReasons), keys: array(string()) });

/** What a folded stream knows of the keys of its personal data. */
export type HeldKeys = {
  /** The keys that would have to be destroyed. */
  keys: readonly string[];
  /** Whether events of version 1 hold personal data in plain text. */
  plain: boolean;
  /** When personal data were last erased; later events may hold some again. */
  erasedAt: string | null;
};

export const holdsNothing: HeldKeys = { keys: [], plain: false, erasedAt: null };

export function isHolding({ keys, plain }: HeldKeys): boolean {
  return keys.length > 0 || plain;
}

export function holding(held: HeldKeys, data: unknown): HeldKeys {
  const values = sealedValuesOf(data);
  if (values.length === 0) return held;
  const found = values.flatMap(({ value }) => ('key' in value ? value.key : []));
  const keys = new Set([...held.keys, ...found]);
  return { ...held, keys: [...keys], plain: held.plain || values.some(({ value }) => isPlain(value)) };
}

/**
 * The fields of an event's data that hold sealed values: what the service shows about a person, what it received as
 * evidence, and secrets of its own, which are nobody's personal data. No other field of an event holds personal data.
 */
const sealedFields = ['personal', 'evidence', 'secret'] as const;
type SealedField = (typeof sealedFields)[number];

/** Where a sealed value belongs: it opens nowhere else. */
export type SealedPlace = { stream: string; field: SealedField };

export type Opened<T> =
  | { kind: 'open'; value: T }
  /** The key has been destroyed. */
  | { kind: 'erased' }
  /** The key cannot be read: at present, or never again because the key itself or the sealed value was lost. */
  | { kind: 'unavailable'; isLost: boolean };

/** What reads personal data; never rejects. */
export type OpenSealed = <T>(held: Held<T>, place: SealedPlace) => Promise<Opened<T>>;

/** The keys of personal data cannot be reached at present. The message holds no personal data. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

/** The value, or null if nobody will ever read it again. Throws KeysUnavailable if it cannot be read at present. */
export async function openOrWait<T>(open: OpenSealed, held: Held<T>, place: SealedPlace): Promise<T | null> {
  const opened = await open(held, place);
  if (opened.kind === 'unavailable' && !opened.isLost)
    throw new KeysUnavailable('The keys of personal data cannot be read at present');
  return opened.kind === 'open' ? opened.value : null;
}

export type PersonalDataReader = {
  open: OpenSealed;
  /** Replaces each token by a keyed digest, the same each time. Throws KeysUnavailable. */
  blindIndex(tokens: readonly string[]): Promise<string[]>;
};

export function sealedValuesOf(data: unknown): { field: SealedField; value: Sealed<unknown> }[] {
  if (typeof data !== 'object' || data === null) return [];
  return sealedFields.flatMap((field) => {
    const value: unknown = Reflect.get(data, field);
    return typeof value === 'object' && value !== null ? [{ field, value: value as Sealed<unknown> }] : [];
  });
}

/**
 * Seals the personal data of events, which deciders give in plain text, before the events are chained: the hashes cover
 * what is sealed. Throws KeysUnavailable.
 */
export type SealEvents = <Sealing extends { type: string; data: unknown }>(
  streamName: string,
  events: readonly Sealing[],
) => readonly Sealing[];
