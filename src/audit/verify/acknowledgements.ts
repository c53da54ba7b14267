/** Acknowledgements of faults: records them, and tells `ledger verify` which faults they explain. */
import {
  acknowledgementsStream,
  contentHashOf,
  type EventFault,
  type FaultAcknowledged,
  type FaultAcknowledgedEvent,
} from '../../events/acknowledgements.ts';
import { readAcknowledgement, tryRead, UnreadableEvent } from '../../events/codec.ts';
import { type Cause, chain, hashIn } from '../../events/envelope.ts';
import { signedText } from '../../events/seals.ts';
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import { isSigned, type SealKey } from '../seals/key.ts';
import { faultsOf, noEvents } from './log.ts';
import type { Violations } from './violations.ts';

type Place = { stream: string; revision: number };

const nameOf = ({ stream, revision }: Place) => `${stream} revision ${revision}`;

export type Acknowledgements = Awaited<ReturnType<typeof loadAcknowledgements>>;

/**
 * Those that a trusted key has signed; any other is a violation. With null no key is trusted, and none counts. `take` is
 * called with every event of the log, because one counts only for the event as it was found.
 */
export async function loadAcknowledgements(
  eventStore: Pick<EventStore, 'load'>,
  trusted: readonly string[] | null,
  violations: Violations,
) {
  const said: FaultAcknowledged[] = [];
  for (const stored of trusted ? await eventStore.load(acknowledgementsStream) : []) {
    const read = tryRead(readAcknowledgement, stored);
    const isValid = !(read instanceof UnreadableEvent) && isSigned(read.data);
    if (isValid && trusted?.includes(read.data.publicKey)) said.push(read.data);
    else
      violations.add(
        'acknowledgements',
        `Acknowledgement ${stored.revision} is not what a trusted key has signed`,
      );
  }
  const byPlace = Map.groupBy(said, nameOf);
  const explained: string[] = [];
  return {
    take(event: RecordedEvent): void {
      const place = nameOf({ stream: event.streamName, revision: event.revision });
      const found = byPlace.get(place);
      if (!found) return;
      const contentHash = contentHashOf(event);
      const fitting = found.filter((each) => each.contentHash === contentHash);
      byPlace.set(place, fitting);
      if (fitting.length < found.length)
        violations.add('acknowledgements', `${place} is not the event that was acknowledged`);
    },
    /** A violation, unless it is explained; any fault of an event explains that its stream is parked there. */
    report(fault: EventFault | 'parked streams', place: Place, sentence: string): void {
      const given = byPlace.get(nameOf(place)) ?? [];
      const fitting = given.find((each) => each.fault === fault || fault === 'parked streams');
      if (fitting)
        explained.push(`${sentence}. Explained by ${fitting.by} on ${fitting.at}: ${fitting.reason}`);
      else violations.add(fault, sentence);
    },
    explained,
  };
}

/**
 * Records that the faults of one event are explained; resolves to a sentence on each, none if nothing is wrong with it.
 * Throws EventStoreUnavailable and WrongExpectedRevision.
 */
export async function acknowledge(
  { eventStore, key }: { eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast'>; key: SealKey },
  { at, place, reason }: { at: Date; place: Place; reason: string },
  cause: Cause,
): Promise<string[]> {
  const loaded = await eventStore.load(place.stream, Math.max(0, place.revision - 1), 2);
  const event = loaded.find(({ revision }) => revision === place.revision);
  if (!event) return [];
  const before = loaded.find(({ revision }) => revision < place.revision);
  const faults = faultsOf(event, before ? { revision: before.revision, hash: hashIn(before) } : noEvents);
  if (faults.length === 0) return [];
  const events = faults.map(({ kind }): FaultAcknowledgedEvent => {
    const contentHash = contentHashOf(event);
    const said = { at: at.toISOString(), ...place, fault: kind, contentHash, reason };
    const unsigned = { ...said, by: cause.actor, publicKey: key.publicKey };
    return { type: 'FaultAcknowledged', data: { ...unsigned, signature: key.sign(signedText(unsigned)) } };
  });
  const last = await eventStore.loadLast(acknowledgementsStream);
  const envelopes = chain(events, hashIn(last ?? undefined), cause);
  await eventStore.append(acknowledgementsStream, envelopes, last?.revision ?? 'no_stream');
  return faults.map(({ sentence }) => sentence);
}
