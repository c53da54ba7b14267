/** `ledger verify --acknowledge`: records that staff have explained what is wrong with an event. */
import {
  acknowledgementsStream,
  contentHashOf,
  type FaultAcknowledgedEvent,
} from '../../events/acknowledgements.ts';
import { type Cause, chain, hashIn } from '../../events/envelope.ts';
import { signedText } from '../../events/seals.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { forAll, type SealKey } from '../seals/key.ts';
import { faultsOf, hashBefore, noEvents } from './log.ts';

/**
 * Appends an acknowledgement of each fault of an event; resolves to a sentence on each fault, none if nothing is wrong with
 * the event. Throws EventStoreUnavailable and WrongExpectedRevision.
 */
export async function acknowledge(
  { eventStore, key }: { eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast'>; key: SealKey },
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
  const events = faults.map(({ kind }): FaultAcknowledgedEvent => {
    const said = { at: at.toISOString(), ...place, fault: kind, contentHash, reason };
    const unsigned = { ...said, by: cause.actor, publicKey: key.publicKey };
    return { type: 'FaultAcknowledged', data: { ...unsigned, signature: key.sign(signedText(unsigned)) } };
  });
  const last = await eventStore.loadLast(acknowledgementsStream);
  const envelopes = chain(events, hashIn(last ?? undefined), cause);
  await eventStore.append(acknowledgementsStream, envelopes, last?.revision ?? 'no_stream');
  return faults.map(({ sentence }) => sentence);
}
