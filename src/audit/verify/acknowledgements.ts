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
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import { isSigned, type SealKey } from '../seals/key.ts';
import { faultsOf, noEvents } from './log.ts';
import type { Violations } from './violations.ts';

type Place = { stream: string; revision: number };

const nameOf = ({ stream, revision }: Place) => `${stream} revision ${revision}`;

export type Acknowledgements = Awaited<ReturnType<typeof loadAcknowledgements>>;

/**
 * Those that a trusted key has signed; any other is a violation. With null no key is trusted, and none counts. One counts
 * only for the event as it was found: `take` is called with every event of the log, and `end` after the last one.
 */
export async function loadAcknowledgements(
  eventStore: Pick<EventStore, 'load'>,
  trusted: readonly string[] | null,
  violations: Violations,
) {
  const waiting: FaultAcknowledged[] = [];
  const valid = new Map<string, FaultAcknowledged[]>();
  const explained: string[] = [];
  for (const stored of await eventStore.load(acknowledgementsStream)) {
    const read = tryRead(readAcknowledgement, stored);
    if (read instanceof UnreadableEvent || !isSigned(read.data))
      violations.add('acknowledgements', `Acknowledgement ${stored.revision} is not what was signed`);
    else if (trusted?.includes(read.data.publicKey)) waiting.push(read.data);
    else if (trusted)
      violations.add(
        'acknowledgements',
        `Acknowledgement ${stored.revision} was signed with a key that is not trusted`,
      );
  }
  const byPlace = Map.groupBy(waiting, nameOf);
  return {
    take(event: RecordedEvent): void {
      const place = nameOf({ stream: event.streamName, revision: event.revision });
      const found = byPlace.get(place);
      if (!found || !byPlace.delete(place)) return;
      const contentHash = contentHashOf(event);
      const fitting = found.filter((each) => each.contentHash === contentHash);
      valid.set(place, fitting);
      if (fitting.length < found.length)
        violations.add('acknowledgements', `${place} is not the event that was acknowledged`);
    },
    end(): void {
      for (const place of byPlace.keys())
        violations.add('acknowledgements', `${place} was acknowledged, and is not in the log`);
    },
    /** A violation, unless it is acknowledged. Where an event is unreadable, that its stream is parked there needs no word. */
    report(fault: EventFault, place: Place, sentence: string): void {
      const said = valid
        .get(nameOf(place))
        ?.find((each) => each.fault === fault || fault === 'parked streams');
      if (said) explained.push(`${sentence}. Explained by ${said.by} on ${said.at}: ${said.reason}`);
      else violations.add(fault, sentence);
    },
    explained,
  };
}

/** One for each projection that has parked a stream. */
export function parkedFaults({ name, parked }: ProjectionStatus) {
  return parked.map((each) => ({
    place: each,
    sentence: `${name} has parked ${nameOf(each)} (${each.type}) since ${each.parkedAt}: ${each.message}`,
  }));
}

/**
 * Records that the faults of one event are explained; resolves to a sentence on each, none if nothing is wrong with it.
 * Throws EventStoreUnavailable and WrongExpectedRevision.
 */
export async function acknowledge(
  {
    eventStore,
    key,
    statuses,
  }: {
    eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast'>;
    key: SealKey;
    statuses: readonly ProjectionStatus[];
  },
  { at, place, reason }: { at: Date; place: Place; reason: string },
  cause: Cause,
): Promise<string[]> {
  const loaded = await eventStore.load(place.stream, Math.max(0, place.revision - 1), 2);
  const event = loaded.find(({ revision }) => revision === place.revision);
  if (!event) return [];
  const before = loaded.find(({ revision }) => revision < place.revision);
  const head = before ? { revision: before.revision, hash: hashIn(before) } : noEvents;
  const parked = statuses.flatMap(parkedFaults).filter((each) => nameOf(each.place) === nameOf(place));
  const faults = [
    ...faultsOf(event, head),
    ...parked.map(({ sentence }) => ({ kind: 'parked streams' as const, sentence })),
  ];
  const kinds = new Set(faults.map(({ kind }) => kind));
  const events = Array.from(kinds, (fault): FaultAcknowledgedEvent => {
    const unsigned = {
      at: at.toISOString(),
      ...place,
      fault,
      contentHash: contentHashOf(event),
      reason,
      by: cause.actor,
      publicKey: key.publicKey,
    };
    return { type: 'FaultAcknowledged', data: { ...unsigned, signature: key.sign(signedText(unsigned)) } };
  });
  const last = await eventStore.loadLast(acknowledgementsStream);
  if (events.length > 0)
    await eventStore.append(
      acknowledgementsStream,
      chain(events, hashIn(last ?? undefined), cause),
      last?.revision ?? 'no_stream',
    );
  return faults.map(({ sentence }) => sentence);
}
