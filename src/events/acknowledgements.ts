/**
 * What is wrong with the log and was explained by staff, so that `ledger verify` does not fail because of it for ever. Each names
 * what was found, and is signed with the key of the seals: who can only write to the log cannot explain away
 * what they have changed.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { array, enums, type Infer, integer, min, object, pattern, string } from 'superstruct';
import { readerOf } from './codec.ts';
import type { StoredEvent } from './envelope.ts';

export const acknowledgementsStream = 'verify-acknowledgements';

/**
 * What may be wrong with one event, as `ledger verify` calls it; the last is an acknowledgement that no trusted key has
 * signed.
 */
const eventFaults = ['changed events', 'broken chains', 'unreadable events', 'acknowledgements'] as const;
export type EventFault = (typeof eventFaults)[number];

export const FaultAcknowledged = object({
  at: utc,
  /** Where the event is. */
  stream: string(),
  revision: min(integer(), 0),
  fault: enums(eventFaults),
  /** Of the event as it was found: `contentHashOf`. */
  contentHash: pattern(string(), /^[0-9a-f]{64}$/),
  reason: string(),
  /** Such as `staff:<login>`. */
  by: string(),
  /** Ed25519, as SPKI in base64. */
  publicKey: string(),
  /** By that key, over `signedText` of seals.ts; base64. */
  signature: string(),
});
export type FaultAcknowledged = Infer<typeof FaultAcknowledged>;

/** An older copy of the log was restored on purpose: the sealer goes on from it. */
export const OlderLogAccepted = object({
  at: utc,
  /** The signed notes of the checkpoints that it does not have, and that were kept outside it. */
  checkpoints: array(string()),
  /** The last four as in FaultAcknowledged. */
  reason: string(),
  by: string(),
  publicKey: string(),
  signature: string(),
});

const acknowledgementEvents = { FaultAcknowledged, OlderLogAccepted };
export type AcknowledgementEvent = EventOf<typeof acknowledgementEvents>;
export const readAcknowledgement = readerOf(acknowledgementEvents);

/**
 * SHA-256, lower-case hex, over all that is stored of the event and the hash of the event before it in its stream: nobody
 * can rewrite what came before and have the break explained. Null if it is nested too deep to be hashed.
 */
export function contentHashOf(
  { data, id, metadata, revision, streamName, type }: StoredEvent,
  hashBefore: string,
): string | null {
  try {
    const content = canonicalJson({ streamName, revision, id, type, data, metadata, hashBefore });
    return createHash('sha256').update(content).digest('hex');
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
