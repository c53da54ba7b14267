/** Records that staff have explained what is wrong with an event, or that they have restored an older copy of the log. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { forAll, type SealKey } from '@ledger/transparency-log/key.ts';
import {
  type AcknowledgementEvent,
  acknowledgementsStream,
  contentHashOf,
} from '../../events/acknowledgements.ts';
import { type Cause, chain, hashIn } from '../../events/envelope.ts';
import { signedText } from '../../events/seals.ts';
import { checkpointOfSize, lastCheckpoint } from '../seals/find-seals.ts';
import type { KeptCheckpoint, KeptCheckpoints } from '../seals/kept-checkpoints.ts';
import { faultsOf, hashBefore, noEvents } from './log.ts';

type Stores = { eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast'>; key: SealKey };

/**
 * Appends an acknowledgement of each fault of an event; resolves to a sentence on each fault, none if nothing is wrong with
 * the event. Throws EventStoreUnavailable and WrongExpectedRevision.
 */
export async function acknowledge(
  { eventStore, key }: Stores,
  { at, place, reason }: { at: Date; place: { stream: string; revision: number }; reason: string },
  cause: Cause,
): Promise<string[]> {
  const loaded = await eventStore.load(place.stream, Math.max(0, place.revision - 1), 2);
  const event = loaded.find(({ revision }) => revision === place.revision);
  if (!event) return [];
  const before = loaded.find(({ revision }) => revision < place.revision);
  const head = before ? { revision: before.revision, hash: hashIn(before) } : noEvents;
  const faults = faultsOf(event, head, [{ ...forAll(key.publicKey), end: null }]);
  const contentHash = contentHashOf(event, hashBefore(event, head));
  if (faults.length === 0 || contentHash === null) return [];
  const events = faults.map(({ kind }) => {
    const said = { at: at.toISOString(), ...place, fault: kind, contentHash, reason };
    return { type: 'FaultAcknowledged' as const, data: signed(said, key, cause) };
  });
  await append(eventStore, events, cause);
  return faults.map(({ sentence }) => sentence);
}

/**
 * Appends an acceptance of the kept checkpoints that the log does not have, and forgets all that are kept, so that the
 * sealer continues from the last seal of the log. Resolves to those that it does not have; nothing is done if there are
 * none. Throws Unaccountable, EventStoreUnavailable, WrongExpectedRevision and the errors of the database and the disk.
 */
export async function acceptOlderLog(
  { eventStore, kept, key }: Stores & { kept: Pick<KeptCheckpoints, 'load' | 'forget'> },
  { at, reason }: { at: Date; reason: string },
  cause: Cause,
): Promise<KeptCheckpoint[]> {
  // In this order, because a seal is appended before its checkpoint is kept.
  const checkpoints = await kept.load();
  const last = await lastCheckpoint(eventStore);
  const missing: KeptCheckpoint[] = [];
  for (const checkpoint of checkpoints) {
    const found = last && (await checkpointOfSize(eventStore, checkpoint.size, last));
    if (!found?.checkpoint.root.equals(checkpoint.root)) missing.push(checkpoint);
  }
  if (missing.length === 0) return [];
  const said = { at: at.toISOString(), checkpoints: missing.map(({ note }) => note), reason };
  await append(eventStore, [{ type: 'OlderLogAccepted', data: signed(said, key, cause) }], cause);
  await kept.forget();
  return missing;
}

function signed<Said extends object>(said: Said, key: SealKey, { actor }: Cause) {
  const unsigned = { ...said, by: actor, publicKey: key.publicKey };
  return { ...unsigned, signature: key.sign(signedText(unsigned)) };
}

async function append(
  eventStore: Stores['eventStore'],
  events: readonly AcknowledgementEvent[],
  cause: Cause,
): Promise<void> {
  const last = await eventStore.loadLast(acknowledgementsStream);
  const envelopes = chain(events, hashIn(last ?? undefined), cause);
  await eventStore.append(acknowledgementsStream, envelopes, last?.revision ?? 'no_stream');
}
