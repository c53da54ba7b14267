/**
 * A seal is a signed count of the log's events, with a hash over all of them. It reveals what a stream's own chain
 * cannot: that the last events of a stream, or a whole stream, were removed. Written by src/audit/seals/sealer.ts.
 */
import { createHash } from 'node:crypto';
import { array, type Infer, integer, min, object, pattern, string } from 'superstruct';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { type EventOf, utc } from '../kernel/structs.ts';
import { genesisHash, hashOf, metadataValue } from './envelope.ts';

export const sealsStream = 'ledger-seals';

const sha256 = pattern(string(), /^[0-9a-f]{64}$/);
const digits = pattern(string(), /^\d{1,20}$/);

export const LogSealed = object({
  at: utc,
  /** Of the last event it covers; in a restored copy of the log that event may be elsewhere. */
  position: object({ commit: digits, prepare: digits }),
  count: min(integer(), 1),
  runningHash: sha256,
  /** The last event it covers; the next seal continues after it. */
  lastEvent: object({ stream: string(), revision: min(integer(), 0), id: string() }),
  /** The prefixes of the streams that it covers; another version of the program may know others. */
  streams: array(string()),
  /** The hash in the metadata of the seal before; `genesisHash` in the first. */
  previousSeal: sha256,
  /** Ed25519, as SPKI in base64. */
  publicKey: string(),
  /** By that key, over `signedText`; base64. */
  signature: string(),
});
export type LogSealed = Infer<typeof LogSealed>;

export const sealEvents = { LogSealed };
export type LogSealedEvent = EventOf<typeof sealEvents>;

/** A running count of the log. */
export type Tally = { count: number; runningHash: string };

export const emptyTally: Tally = { count: 0, runningHash: genesisHash };

type Counted = {
  streamName: string;
  revision: number;
  id: string;
  type: string;
  data: unknown;
  metadata: unknown;
};

/**
 * The tally with one more event. Nothing specific to the store (positions, times) is included, so that a restored copy
 * of the log has the same tally.
 */
export function countIn({ count, runningHash }: Tally, event: Counted): Tally {
  const { streamName, revision, id } = event;
  const entry = JSON.stringify([runningHash, streamName, revision, id, chainHashOf(event)]);
  return { count: count + 1, runningHash: createHash('sha256').update(entry).digest('hex') };
}

/** The hash in the event's metadata, or a hash of its content if it has none. */
function chainHashOf(event: Counted): string {
  const carried = metadataValue(event, 'hash');
  if (typeof carried === 'string') return carried;
  const { type, data, metadata } = event;
  try {
    return hashOf(type, data, typeof metadata === 'object' && metadata !== null ? metadata : {});
  } catch (error) {
    // Nested too deep to be hashed, which no event of ours is.
    if (error instanceof RangeError) return '';
    throw error;
  }
}

/** The text that is signed: the canonical JSON of the rest of a seal, or of an acknowledgement, which has other fields. */
export function signedText(signed: object): string {
  return canonicalJson({ ...signed, signature: undefined });
}

/** Whether a seal of streams with these prefixes covers the event. */
export function isCovered({ streamName }: { streamName: string }, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => streamName.startsWith(prefix));
}
