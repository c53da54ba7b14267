/** Holds the log to its seals, event by event: what each seal says there was must be there when its last event comes. */
import { countIn, emptyTally, isCovered } from '../../events/seals.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import type { SealMark } from '../verify/seals.ts';
import type { Violations } from '../verify/violations.ts';

export type SealCheck = {
  take(event: RecordedEvent): void;
  /** To be called after the last event. */
  end(): void;
  /** Seals whose last event came. */
  met(): number;
  /** After the last seal; `since` is when the first of them was stored. */
  unsealed(): { events: number; since: Date | null };
  /** Of streams that the sealer of their time did not know. */
  uncovered(): number;
};

/**
 * `marks` are the seals in order, all made before the log is read. A seal at fault is a finding, and counting goes on
 * from what it says: the next is held to its own part of the log. Where the last event of a seal never comes, its part
 * is told together with the next.
 */
export function createSealCheck(marks: readonly SealMark[], violations: Violations): SealCheck {
  const byLastEvent = new Map(marks.map(({ lastEvent }, index) => [placeOf(lastEvent), index]));
  let next = 0;
  let met = 0;
  let tally = emptyTally;
  let uncovered = 0;
  let unsealed: { events: number; since: Date | null } = { events: 0, since: null };

  function compare(mark: SealMark): void {
    if (mark.count === tally.count && mark.runningHash === tally.runningHash) return;
    const before = marks[next - 1];
    const from = before?.count ?? 0;
    const part = `Seal ${mark.revision} of ${mark.at}: of the ${mark.count - from} events ${since(before)} up to ${eventOf(mark)}`;
    const there = tally.count - from;
    if (mark.count === tally.count)
      violations.add('what was sealed', `${part}, some are not what was sealed, or not in their order`);
    else violations.add('what was sealed', `${part}, ${there} are there`);
  }

  function loseUntil(index: number): void {
    for (const mark of marks.slice(next, index)) {
      const where = `${eventOf(mark)}, with which seal ${mark.revision} of ${mark.at} ends`;
      violations.add('what was sealed', `${where}, is not in the log where it was`);
    }
  }

  return {
    take(event) {
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
      const place = placeOf({ stream: event.streamName, revision: event.revision });
      const index = byLastEvent.get(place) ?? -1;
      const mark = marks[index];
      if (!mark || index < next) return;
      loseUntil(index);
      compare(mark);
      tally = { count: mark.count, runningHash: mark.runningHash };
      next = index + 1;
      met += 1;
    },
    end: () => loseUntil(marks.length),
    met: () => met,
    unsealed: () => unsealed,
    uncovered: () => uncovered,
  };
}

function since(before: SealMark | undefined): string {
  return before ? `after ${eventOf(before)}` : 'from the start';
}

function eventOf({ lastEvent }: SealMark): string {
  return `${lastEvent.stream} revision ${lastEvent.revision}`;
}

function placeOf({ stream, revision }: { stream: string; revision: number }): string {
  return `${revision}@${stream}`;
}
