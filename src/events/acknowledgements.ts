/**
 * Faults of the log that staff have explained, so that `ledger verify` does not fail because of them for ever. Each is
 * signed with the key of the seals, so that somebody who can only write to the log cannot explain a change away.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { array, enums, integer, min, object, pattern, string } from 'superstruct';
import { readerOf } from './codec.ts';
import { type StoredEvent, unlessTooDeep } from './envelope.ts';

export const acknowledgementsStream = 'verify-acknowledgements';

/** What `ledger verify` may find wrong with one event. An acknowledgement is wrong if no trusted key has signed it. */
const eventFaults = ['changed events', 'broken chains', 'unreadable events', 'acknowledgements'] as const;
export type EventFault = (typeof eventFaults)[number];

const acknowledged = {
  at: utc,
  reason: string(),
  /** Such as `staff:<login>`. */
  by: string(),
  /** Ed25519, as SPKI in base64. */
  publicKey: string(),
  /** The signature by that key over `signedText` of seals.ts, in base64. */
  signature: string(),
};

const FaultAcknowledged = object({
  ...acknowledged,
  /** Where the event is. */
  stream: string(),
  revision: min(integer(), 0),
  fault: enums(eventFaults),
  /** What `contentHashOf` returns for the event as it was found. */
  contentHash: pattern(string(), /^[0-9a-f]{64}$/),
});

/** An older copy of the log was restored on purpose: the sealer continues from it. */
const OlderLogAccepted = object({
  ...acknowledged,
  /** The signed notes of the checkpoints that were kept outside the log and that the older copy lacks. */
  checkpoints: array(string()),
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
  const content = { streamName, revision, id, type, data, metadata, hashBefore };
  return unlessTooDeep(() => hash('sha256', canonicalJson(content)));
}
