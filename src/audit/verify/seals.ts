/**
 * Verifies the seals: that each is what was signed, by a trusted key, and continues the one before it; and, event by
 * event, that the log holds what they say.
 */
import { genesisHash, hashIn, isChainedOnto, previousHashIn } from '../../events/envelope.ts';
import { countIn, emptyTally, isCovered, type LogSealed } from '../../events/seals.ts';
import { type EventStore, EventStoreUnavailable, type RecordedEvent } from '../../eventstore/event-store.ts';
import { allSeals, readSignedSeal } from '../seals/stored-seals.ts';
import type { Violations } from './violations.ts';

/** What a seal says about the log; `revision` is the seal's own. */
export type SealMark = Pick<LogSealed, 'at' | 'count' | 'runningHash' | 'lastEvent' | 'streams'> & {
  revision: number;
};

/**
 * Every valid seal, in order. `trusted` holds public keys as seals name them; with null, any signer is trusted. Needs some
 * 300 bytes of memory for each seal.
 */
export async function verifySeals(
  eventStore: Pick<EventStore, 'load'>,
  trusted: readonly string[] | null,
  violations: Violations,
): Promise<SealMark[]> {
  const marks: SealMark[] = [];
  let before = { revision: -1, hash: genesisHash, count: 0 };
  try {
    for await (const stored of allSeals(eventStore)) {
      const seal = checkSeal(stored, before, trusted, violations);
      const { revision } = stored;
      before = { revision, hash: hashIn(stored), count: seal?.count ?? before.count };
      if (!seal) continue;
      const { at, count, runningHash, lastEvent } = seal;
      // Nearly all seals name the same streams: they share one list.
      const last = marks.at(-1)?.streams ?? [];
      const streams = last.join() === seal.streams.join() ? last : seal.streams;
      marks.push({ revision, at, count, runningHash, lastEvent, streams });
    }
  } catch (error) {
    // Seals after one that is no longer a readable event cannot be read.
    if (!(error instanceof EventStoreUnavailable)) throw error;
    violations.add('seals', `Not all seals can be read: ${error.message}`);
  }
  return marks;
}

/** Null for a seal that the log cannot be compared with. */
function checkSeal(
  stored: RecordedEvent,
  before: { revision: number; hash: string; count: number },
  trusted: readonly string[] | null,
  violations: Violations,
): LogSealed | null {
  const name = `Seal ${stored.revision}`;
  const isNext = stored.revision === before.revision + 1;
  if (!isNext) violations.add('the chain of seals', `Seal ${before.revision + 1} is missing`);
  const seal = readSignedSeal(stored);
  if (!seal || !isChainedOnto(stored, isNext ? before.hash : previousHashIn(stored))) {
    violations.add('seals', `${name} is not what was signed, or does not follow the seal before it`);
    return null;
  }
  if (trusted && !trusted.includes(seal.publicKey)) {
    violations.add('keys of seals', `${name} was signed with a key that is not trusted`);
    return null;
  }
  if ((isNext && seal.previousSeal !== before.hash) || seal.count <= before.count)
    violations.add('the chain of seals', `${name} does not continue the seal before it`);
  return seal;
}

/**
 * Compares the log with its seals. `marks` are the seals in order, all made before the log is read. After a violation
 * the count continues from what the seal says, so that the next seal is checked against its own part of the log. If the
 * last event of a seal never comes, its part is reported with the next seal.
 */
export function createSealCheck(marks: readonly SealMark[], violations: Violations) {
  const byLastEvent = new Map(marks.map(({ lastEvent }, index) => [nameOf(lastEvent), index]));
  let next = 0;
  let met = 0;
  let tally = emptyTally;
  let uncovered = 0;
  let unsealed: { events: number; since: Date | null } = { events: 0, since: null };

  function compare(mark: SealMark): void {
    if (mark.count === tally.count && mark.runningHash === tally.runningHash) return;
    const before = marks[next - 1];
    const from = before?.count ?? 0;
    const since = before ? `after ${nameOf(before.lastEvent)}` : 'from the start';
    const there =
      mark.count === tally.count
        ? 'some are not what was sealed, or are out of order'
        : `${tally.count - from} are there`;
    violations.add(
      'what was sealed',
      `Seal ${mark.revision} of ${mark.at}: of the ${mark.count - from} events ${since} up to ${nameOf(mark.lastEvent)}, ${there}`,
    );
  }

  function addMissingUntil(index: number): void {
    for (const { lastEvent, revision, at } of marks.slice(next, index))
      violations.add(
        'what was sealed',
        `${nameOf(lastEvent)}, the last event of seal ${revision} of ${at}, is not at its place in the log`,
      );
  }

  return {
    take(event: RecordedEvent): void {
      const awaited = marks[next];
      if (!awaited) {
        unsealed = { events: unsealed.events + 1, since: unsealed.since ?? event.created };
        return;
      }
      if (!isCovered(event, awaited.streams)) {
        uncovered += 1;
        return;
      }
      tally = countIn(tally, event);
      const place = nameOf({ stream: event.streamName, revision: event.revision });
      const index = byLastEvent.get(place) ?? -1;
      const mark = marks[index];
      if (!mark || index < next) return;
      addMissingUntil(index);
      compare(mark);
      tally = { count: mark.count, runningHash: mark.runningHash };
      next = index + 1;
      met += 1;
    },
    /** To be called after the last event. */
    end: () => addMissingUntil(marks.length),
    /** How many seals had their last event in the log. */
    met: () => met,
    /** The events after the last seal; `since` is when the first of them was stored. */
    unsealed: () => unsealed,
    /** The number of events in streams that the sealer did not know when it sealed them. */
    uncovered: () => uncovered,
  };
}

function nameOf({ stream, revision }: { stream: string; revision: number }): string {
  return `${stream} revision ${revision}`;
}
