/**
 * What surrounds an event in its stream: an id by which a repeat is recognised, who and what caused it, and the chain
 * of hashes that shows tampering (every event carries its own hash and that of the one before it).
 */
import { hash as digestOf } from 'node:crypto';
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import { v5 as uuidV5 } from 'uuid';
import { schemaVersion } from './upcast.ts';

export type Metadata = {
  $correlationId: string;
  $causationId: string;
  /** `merchant:<code>`, `gateway`, `registry`, `payer`, `reactor:<name>`, `sealer`, `api:<key fingerprint>`, `staff:<id>`, `anybody`. */
  actor: string;
  schemaVersion: number;
  previousHash: string;
  hash: string;
};

/** Where a command's events come from; `commandId`, a UUID, makes them recognisable when an append is repeated. */
export type Cause = { commandId: string; correlationId: string; causationId: string; actor: string };

/** The cause of a command that nothing else caused. */
export const ownCause = (commandId: string, actor: string): Cause => ({
  commandId,
  correlationId: commandId,
  causationId: commandId,
  actor,
});

/** The previous hash of the first event of a stream. */
export const genesisHash = '0'.repeat(64);

/** Wraps the events that one command decided, chained onto `previousHash`. Throws TypeError when `commandId` is no UUID. */
export function chain<Event extends { type: string; data: unknown }>(
  events: readonly Event[],
  previousHash: string,
  cause: Cause,
) {
  const { actor, causationId: $causationId, correlationId: $correlationId } = cause;
  let previous = previousHash;
  return events.map((event, index) => {
    const withoutHash = { $correlationId, $causationId, actor, schemaVersion, previousHash: previous };
    const hash = hashOf(event.type, event.data, withoutHash);
    previous = hash;
    return { ...event, id: eventIdOf(cause, index), metadata: { ...withoutHash, hash } };
  });
}

/** The id of an event of a command. Events are counted from 0. */
export const eventIdOf = ({ commandId }: Cause, index: number) => uuidV5(String(index), commandId);

/** SHA-256, lower-case hex, over the canonical JSON of type, data and all metadata but the hash itself. */
export function hashOf(type: string, data: unknown, metadata: object): string {
  const { hash: _, ...rest } = metadata as Partial<Metadata>;
  return digestOf('sha256', canonicalJson({ type, data, metadata: rest }), 'hex');
}

type Stored = { metadata: unknown };
type Chained = Stored & { type: string; data: unknown };

/** An event with its place in the log, of which seals and acknowledgements are made. */
export type StoredEvent = Chained & { streamName: string; revision: number; id: string };

/** Whether an event is unchanged and chained onto the one whose hash is `previousHash`. Never throws. */
export function isChainedOnto({ type, data, metadata }: Chained, previousHash: string): boolean {
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { hash, previousHash: named } = metadata as Partial<Metadata>;
  const right = unlessTooDeep(() => hashOf(type, data, metadata));
  return named === previousHash && right !== null && hash === right;
}

/** Null for content that is nested too deeply to be hashed, as no event of ours is. */
export function unlessTooDeep(hash: () => string): string | null {
  try {
    return hash();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The hash in an event's metadata, onto which the next one is chained; before the first event, the genesis hash. */
export function hashIn(event: Stored | undefined): string {
  return event ? (metadataText(event, 'hash') ?? '') : genesisHash;
}

/** The previous event's hash as the metadata give it; `''` if they have none. */
export function previousHashIn(event: Stored): string {
  return metadataText(event, 'previousHash') ?? '';
}

/** Such as `staff:<id>`; `''` if the metadata have none. */
export function actorOf(event: Stored | undefined): string {
  return event ? (metadataText(event, 'actor') ?? '') : '';
}

/** Stored metadata are not validated: null if there is no such text. */
export function metadataText(event: Stored, name: keyof Metadata): string | null {
  const value = metadataValue(event, name);
  return typeof value === 'string' ? value : null;
}

export function metadataValue({ metadata }: Stored, name: keyof Metadata): unknown {
  return typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, name) : undefined;
}
