/** Tells `ledger verify` which faults are explained by acknowledgements. */
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { isSigned } from '@ledger/transparency-log/key.ts';
import { openCheckpoint } from '@ledger/transparency-log/note.ts';
import {
  type AcknowledgementEvent,
  acknowledgementsStream,
  contentHashOf,
  type EventFault,
  readAcknowledgement,
} from '../../events/acknowledgements.ts';
import { tryRead, UnreadableEvent } from '../../events/codec.ts';
import { signedText } from '../../events/seals.ts';
import { isInTime, type KeyPeriod } from '../seals/succession.ts';
import { type Place, placeText, type Violations } from './violations.ts';

export type Acknowledgements = Awaited<ReturnType<typeof loadAcknowledgements>>;

/** Null unless one of these keys has signed it in its time. */
export function acknowledgedIn(
  stored: RecordedEvent,
  trusted: readonly KeyPeriod[],
): AcknowledgementEvent | null {
  const read = tryRead(readAcknowledgement, stored);
  const isValid = !(read instanceof UnreadableEvent) && isSigned(read.data, signedText(read.data));
  return isValid && isInTime(trusted, read.data.publicKey, stored) ? read : null;
}

/**
 * The acknowledgements that a trusted key has signed. With null, no key is trusted and none counts. `take` is called
 * with every event of the log, because one counts only for the event as it was found.
 */
export async function loadAcknowledgements(
  eventStore: Pick<EventStore, 'load'>,
  trusted: readonly KeyPeriod[] | null,
  violations: Violations,
) {
  const stored = trusted ? await eventStore.load(acknowledgementsStream) : [];
  const said = stored.flatMap((event) => (trusted && acknowledgedIn(event, trusted)) ?? []);
  const faults = said.flatMap((each) => (each.type === 'FaultAcknowledged' ? each.data : []));
  const byPlace = Map.groupBy(faults, placeText);
  const explained = said.flatMap(({ type, data }) => {
    if (type !== 'OlderLogAccepted') return [];
    const lost = data.checkpoints.map((note) => openCheckpoint(note, null));
    const sizes = lost.flatMap((each) => (typeof each === 'string' ? [] : each.size));
    const what = `An older copy of the log was restored, without what was sealed up to ${Math.max(...sizes)} events`;
    return `${what}. Accepted by ${data.by} on ${data.at}: ${data.reason}`;
  });
  return {
    trusted,
    take(event: RecordedEvent, hashBefore: string): void {
      const place = placeText({ stream: event.streamName, revision: event.revision });
      const found = byPlace.get(place);
      if (!found) return;
      const contentHash = contentHashOf(event, hashBefore);
      const fitting = found.filter((each) => each.contentHash === contentHash);
      byPlace.set(place, fitting);
      if (fitting.length < found.length)
        violations.add('acknowledgements', `${place} is not the event that was acknowledged`);
    },
    /** A violation, unless it is explained; any fault of an event explains that its stream is parked there. */
    report(
      fault: EventFault | 'parked streams',
      place: Place,
      sentence: string,
      to: Violations = violations,
    ): void {
      const given = byPlace.get(placeText(place)) ?? [];
      const fitting = given.find((each) => each.fault === fault || fault === 'parked streams');
      if (fitting)
        explained.push(`${sentence}. Explained by ${fitting.by} on ${fitting.at}: ${fitting.reason}`);
      else to.add(fault, sentence);
    },
    explained,
  };
}
