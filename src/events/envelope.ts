/**
 * What surrounds an event in its stream: an id that recognises a repeat, who and what caused it, and a
 * tamper-evidence chain (every event carries the hash of the one before it and its own).
 */
import { createHash, hash as digestOf } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';

export type Metadata = {
  $correlationId: string;
  $causationId: string;
  /** `merchant:<code>`, `gateway`, `registry`, `payer`, `reactor:<name>`, `sealer`, `api:<key fingerprint>`, `staff:<id>`, `anybody`. */
  actor: string;
  schemaVersion: number;
  previousHash: string;
  hash: string;
};

export type Envelope<Event extends { type: string; data: unknown }> = Event & {
  id: string;
  metadata: Metadata;
};

/** Where an event comes from; `commandId`, a UUID, makes its events recognisable when an append is repeated. */
export type Cause = { commandId: string; correlationId: string; causationId: string; actor: string };

/** The hash that the first event of a stream names as its predecessor's. */
export const genesisHash = '0'.repeat(64);

/** Wraps the events that one command decided, chained onto `previousHash`. */
export function chain<Event extends { type: string; data: unknown }>(
  events: readonly Event[],
  previousHash: string,
  cause: Cause,
  schemaVersion: number,
): Envelope<Event>[] {
  let previous = previousHash;
  return events.map((event, index) => {
    const withoutHash = {
      $correlationId: cause.correlationId,
      $causationId: cause.causationId,
      actor: cause.actor,
      schemaVersion,
      previousHash: previous,
    };
    const hash = hashOf(event.type, event.data, withoutHash);
    previous = hash;
    return { ...event, id: uuidV5(cause.commandId, String(index)), metadata: { ...withoutHash, hash } };
  });
}

/** SHA-256, lower-case hex, over the canonical JSON of type, data and all metadata but the hash itself. */
export function hashOf(type: string, data: unknown, metadata: object): string {
  const { hash: _, ...rest } = metadata as Partial<Metadata>;
  return digestOf('sha256', canonicalJson({ type, data, metadata: rest }), 'hex');
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Chained = { type: string; data: unknown; metadata: unknown };

/** Whether an event is as it was written, and was chained onto the one whose hash is `previousHash`. Never throws. */
export function isChainedOnto({ type, data, metadata }: Chained, previousHash: string): boolean {
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { hash, previousHash: named } = metadata as Partial<Metadata>;
  try {
    return named === previousHash && hashOf(type, data, metadata) === hash;
  } catch (error) {
    // Nothing that was written is nested so deep that it cannot be walked through.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The hash that an event says is its own, which the next one is chained onto; before the first, the genesis. */
export function hashIn(event: Pick<Chained, 'metadata'> | undefined): string {
  return event ? textIn(event, 'hash') : genesisHash;
}

/** The hash that the event names as its predecessor's; `''` where it names none. */
export function previousHashIn(event: Pick<Chained, 'metadata'>): string {
  return textIn(event, 'previousHash');
}

function textIn({ metadata }: Pick<Chained, 'metadata'>, name: keyof Metadata): string {
  const value = typeof metadata === 'object' && metadata !== null && Reflect.get(metadata, name);
  return typeof value === 'string' ? value : '';
}

/**
 * RFC 9562, section 5.5: a UUID that is always the same for the same namespace (itself a UUID) and name.
 * Throws TypeError on any other namespace: ids made of nothing would take every command for a repeat.
 */
export function uuidV5(namespace: string, name: string): string {
  if (!uuid.test(namespace)) throw new TypeError('A UUID namespace must be a UUID');
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
