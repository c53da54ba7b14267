/**
 * A seal is a signed count of the log's events, with a hash over all of them. It reveals what a stream's own chain
 * cannot: that the last events of a stream, or a whole stream, were removed. Written by src/audit/seals/sealer.ts as
 * checkpoints of a Merkle tree; the `LogSealed` of older releases, with a running hash, is now only verified.
 */
import { hash as digestOf } from 'node:crypto';
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { array, type Infer, integer, min, object, optional, pattern, string } from 'superstruct';
import { readerOf } from './codec.ts';
import { genesisHash, hashOf, metadataValue, type StoredEvent, unlessTooDeep } from './envelope.ts';
import { paymentStreamPrefix } from './payment.ts';

export const sealsStream = 'ledger-seals';

const sha256 = pattern(string(), /^[0-9a-f]{64}$/);
const digits = pattern(string(), /^\d{1,20}$/);

const lastEvent = object({ stream: string(), revision: min(integer(), 0), id: string() });

export const LogSealed = object({
  at: utc,
  /** The position of the last event it covers; in a restored copy of the log that event may be elsewhere. */
  position: object({ commit: digits, prepare: digits }),
  count: min(integer(), 1),
  runningHash: sha256,
  /** The last event it covers; the next seal continues after it. */
  lastEvent,
  /** The prefixes of the streams that it covers; another version of the program may know others. */
  streams: array(string()),
  /** The hash in the metadata of the seal before; `genesisHash` in the first. */
  previousSeal: sha256,
  /** Ed25519, as SPKI in base64. */
  publicKey: string(),
  /** The signature by that key over `signedText`, in base64. */
  signature: string(),
});
export type LogSealed = Infer<typeof LogSealed>;

export const CheckpointSigned = object({
  at: utc,
  /** C2SP checkpoint: origin, number of leaves and root, with the signatures of the log and of witnesses. */
  checkpoint: string(),
  /** The tree as the roots of its largest complete subtrees, in base64: nothing more is needed to continue it. */
  range: array(string()),
  /**
   * These four are those of LogSealed. The leaves since the last seal are the events of streams with these prefixes.
   */
  lastEvent,
  streams: array(string()),
  publicKey: string(),
  /** In the first seal of a key: the key before it, and its signature over the `signedText` of the rest. */
  handOver: optional(object({ publicKey: string(), signature: string() })),
  signature: string(),
});
export type CheckpointSigned = Infer<typeof CheckpointSigned>;

export const sealEvents = { LogSealed, CheckpointSigned };
export type LogSealedEvent = EventOf<typeof sealEvents>;
export const readSeal = readerOf(sealEvents);

type Tally = { count: number; runningHash: string };

export const emptyTally: Tally = { count: 0, runningHash: genesisHash };

/** The tally with one more event: without positions and times, so that a restored copy of the log has the same one. */
export function countIn({ count, runningHash }: Tally, event: StoredEvent): Tally {
  const { streamName, revision, id } = event;
  const entry = JSON.stringify([runningHash, streamName, revision, id, chainHashOf(event)]);
  return { count: count + 1, runningHash: sha256Of(entry) };
}

/**
 * What the leaf of an event states. The digest binds content to stream, revision and id. The tag is the same for all
 * events of a stream, and only those who know the stream's name can tell which one it is; the label is `''`, or when
 * the payment was requested and from whom if the event is the first of one. By these two an export shows what must be
 * in it.
 */
export type Leaf = [tag: string, label: string, digest: string];

export function leafOf(event: StoredEvent): Leaf {
  const { streamName, revision, id } = event;
  const entry = JSON.stringify([streamName, revision, id, chainHashOf(event)]);
  const isFirst = revision === 0 && streamName.startsWith(paymentStreamPrefix);
  return [sha256Of(streamName).slice(0, 16), isFirst ? labelOf(event.data) : '', sha256Of(entry)];
}

const sha256Of = (text: string) => digestOf('sha256', text, 'hex');

/** Such as `2026-11-20T01:00:00.000Z demo-app`. */
function labelOf(data: unknown): string {
  const textAt = (value: unknown, name: string) =>
    typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  // Somebody may have written a value that cannot be converted to text, such as {"toString":1}.
  return orElse(() => `${textAt(data, 'at')} ${textAt(textAt(data, 'merchant'), 'code')}`, '');
}

/** The bytes that are hashed as a leaf. */
export const leafEntry = (leaf: Leaf): Buffer => Buffer.from(JSON.stringify(leaf));

/** The hash in the event's metadata, or a hash of its content if it has none. */
function chainHashOf(event: StoredEvent): string {
  const carried = metadataValue(event, 'hash');
  if (typeof carried === 'string') return carried;
  const { type, data, metadata } = event;
  const others = typeof metadata === 'object' && metadata !== null ? metadata : {};
  return unlessTooDeep(() => hashOf(type, data, others)) ?? '';
}

/** The text that is signed: the canonical JSON of the rest of a seal, or of an acknowledgement, which has other fields. */
export function signedText(signed: object): string {
  return canonicalJson({ ...signed, signature: undefined });
}

/**
 * Whether a seal of streams with these prefixes covers the event, so that it is a leaf. Of an event that is sealed, the
 * prefixes are those of the first seal at or after it, whatever this version of the program knows, so that its leaf stays
 * where it was counted; of a later event, they are `streamPrefixes`. Three walk the log by this rule: the sealer
 * (src/audit/seals/recount.ts), whoever proves that an event is sealed (leaves.ts there), and src/audit/verify/seals.ts.
 */
export function isCovered({ streamName }: { streamName: string }, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => streamName.startsWith(prefix));
}
