/**
 * A seal says how much log there was at a time: a count and a hash that every event up to there went into, signed. The
 * chain of a stream tells of nothing that was taken off its end, or of a stream taken out whole; a seal does. Written by
 * src/audit/sealer.ts.
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
  /** Where the last event it covers is in the log it was made of; in a restored copy it may be elsewhere. */
  position: object({ commit: digits, prepare: digits }),
  /** Events of the log up to here. */
  count: min(integer(), 1),
  runningHash: sha256,
  /** The last event it covers: where the next seal goes on. */
  lastEvent: object({ stream: string(), revision: min(integer(), 0), id: string() }),
  /** It covers the streams whose names start with one of these; a program of another version may know others. */
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

/** How far a count of the log has come. */
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
 * The tally with one more event. Nothing in it is the store's own (positions, times), so that a restored copy of the log
 * comes to the same.
 */
export function countIn({ count, runningHash }: Tally, event: Counted): Tally {
  const { streamName, revision, id } = event;
  const entry = JSON.stringify([runningHash, streamName, revision, id, chainHashOf(event)]);
  return { count: count + 1, runningHash: createHash('sha256').update(entry).digest('hex') };
}

/** The hash that the event carries; of what carries none, one of its content. */
function chainHashOf(event: Counted): string {
  const carried = metadataValue(event, 'hash');
  if (typeof carried === 'string') return carried;
  const { type, data, metadata } = event;
  try {
    return hashOf(type, data, typeof metadata === 'object' && metadata !== null ? metadata : {});
  } catch (error) {
    // Nothing that was written is nested too deep to be walked through.
    if (error instanceof RangeError) return '';
    throw error;
  }
}

/** What is signed: the canonical JSON of all that the seal says. */
export function signedText(seal: Omit<LogSealed, 'signature'> | LogSealed): string {
  return canonicalJson({ ...seal, signature: undefined });
}

/** Whether a seal of streams with these prefixes covers the event. */
export function isCovered({ streamName }: { streamName: string }, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => streamName.startsWith(prefix));
}
