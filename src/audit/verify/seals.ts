/**
 * Verifies the seals: that each is what was signed, by a trusted key, and continues the one before it; and, event by
 * event, that the log holds what they say.
 */
import { genesisHash, hashIn, isChainedOnto, previousHashIn } from '../../events/envelope.ts';
import { countIn, emptyTally, isCovered, leafEntry, leafOf } from '../../events/seals.ts';
import { type EventStore, EventStoreUnavailable, type RecordedEvent } from '../../eventstore/event-store.ts';
import { allSeals, readSignedSeal, type Seal } from '../seals/stored-seals.ts';
import { emptyRange, growTree, leafHash, type Range } from '../tree/tree.ts';
import type { Violations } from './violations.ts';

/** What a seal says about the log; `revision` is the seal's own. */
export type SealMark = Pick<Seal, 'at' | 'count' | 'hash' | 'lastEvent' | 'streams'> & {
  revision: number;
  /** Whether the hash is the root of a tree, and not a running hash. */
  isTree: boolean;
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
  let before = { revision: -1, hash: genesisHash, count: 0, isTree: false };
  try {
    for await (const stored of allSeals(eventStore)) {
      const seal = checkSeal(stored, before, trusted, violations);
      const { revision } = stored;
      before = { ...before, revision, hash: hashIn(stored) };
      if (!seal) continue;
      const { at, count, hash, lastEvent } = seal;
      const isTree = seal.checkpoint !== null;
      before = { ...before, count, isTree };
      // Nearly all seals name the same streams: they share one list.
      const last = marks.at(-1)?.streams ?? [];
      const streams = last.join() === seal.streams.join() ? last : seal.streams;
      marks.push({ revision, at, count, hash, lastEvent, streams, isTree });
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
  before: { revision: number; hash: string; count: number; isTree: boolean },
  trusted: readonly string[] | null,
  violations: Violations,
): Seal | null {
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
  const continuesHash = !isNext || seal.previousSeal === null || seal.previousSeal === before.hash;
  // The first tree counts the events before it once more.
  const isFirstTree = seal.checkpoint !== null && !before.isTree;
  if (
    !continuesHash ||
    (seal.checkpoint === null && before.isTree) ||
    !(seal.count > before.count || isFirstTree)
  )
    violations.add('the chain of seals', `${name} does not continue the seal before it`);
  return seal;
}

/** What seals state of the events so far. `resume` continues from what a seal says; false if it cannot. */
type Counter = {
  add(event: RecordedEvent): void;
  count(): number;
  hash(): string;
  resume(mark: SealMark): Promise<boolean>;
};

function runningCounter(): Counter {
  let tally = emptyTally;
  return {
    add: (event) => {
      tally = countIn(tally, event);
    },
    count: () => tally.count,
    hash: () => tally.runningHash,
    async resume({ count, hash }) {
      tally = { count, runningHash: hash };
      return true;
    },
  };
}

/** The tree of a seal, from elsewhere than the log; null if it is not there. Whoever gives it has checked its root. */
export type RangeAt = (mark: Pick<SealMark, 'count' | 'hash'>) => Promise<Range | null>;

function treeCounter(start: Range, rangeAt: RangeAt): Counter {
  let tree = growTree(start);
  return {
    add: (event) => tree.add(leafHash(leafEntry(leafOf(event)))),
    count: () => tree.size(),
    hash: () => tree.root().toString('hex'),
    async resume(mark) {
      const range = await rangeAt(mark);
      if (range) tree = growTree(range);
      return range !== null;
    },
  };
}

/**
 * Compares the log with its seals, in order, all made before the log is read: first those with a running hash, then the
 * checkpoints, whose tree has all events once more. With `from`, the events up to that seal are not read, and `range` is
 * the tree of it.
 */
export function createSealCheck(
  marks: readonly SealMark[],
  violations: Violations,
  { from, range = emptyRange, rangeAt }: { from?: SealMark | undefined; range?: Range; rangeAt: RangeAt },
) {
  const trees = marks.filter(({ isTree }) => isTree);
  const running = from ? [] : marks.filter(({ isTree }) => !isTree);
  const checks = [compareSeals(running, violations, runningCounter())];
  const next = from ? trees.findIndex(({ revision }) => revision === from.revision) + 1 : 0;
  if (trees.length > 0) checks.push(compareSeals(trees, violations, treeCounter(range, rangeAt), next));
  const last = checks.at(-1) as (typeof checks)[number];
  return {
    async take(event: RecordedEvent): Promise<void> {
      for (const each of checks) await each.take(event);
    },
    /** To be called after the last event. */
    end: () => {
      for (const each of checks) each.end();
    },
    /** How many seals had their last event in the log. */
    met: () => checks.reduce((sum, each) => sum + each.met(), 0),
    /** The events after the last seal; `since` is when the first of them was stored. */
    unsealed: last.unsealed,
    /** The number of events in streams that the sealer did not know when it sealed them. */
    uncovered: last.uncovered,
  };
}

/**
 * Compares the log with seals of one form. After a violation the count continues from what the seal says, so that the next
 * seal is checked against its own part of the log. If the last event of a seal never comes, its part is reported with the
 * next seal.
 */
function compareSeals(marks: readonly SealMark[], violations: Violations, counter: Counter, start = 0) {
  const byLastEvent = new Map(marks.map(({ lastEvent }, index) => [nameOf(lastEvent), index]));
  let next = start;
  let met = 0;
  let isLost = false;
  let uncovered = 0;
  let unsealed: { events: number; since: Date | null } = { events: 0, since: null };

  async function compare(mark: SealMark): Promise<void> {
    if (isLost || (mark.count === counter.count() && mark.hash === counter.hash())) return;
    const before = marks[next - 1];
    const from = before?.count ?? 0;
    const since = before ? `after ${nameOf(before.lastEvent)}` : 'from the start';
    const there =
      mark.count === counter.count()
        ? 'some are not what was sealed, or are out of order'
        : `${counter.count() - from} are there`;
    isLost = !(await counter.resume(mark));
    violations.add(
      'what was sealed',
      `Seal ${mark.revision} of ${mark.at}: of the ${mark.count - from} events ${since} up to ${nameOf(mark.lastEvent)}, ${there}${isLost ? '; the seals after it cannot be compared' : ''}`,
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
    async take(event: RecordedEvent): Promise<void> {
      const awaited = marks[next];
      if (!awaited) {
        unsealed = { events: unsealed.events + 1, since: unsealed.since ?? event.created };
        return;
      }
      if (!isCovered(event, awaited.streams)) {
        uncovered += 1;
        return;
      }
      counter.add(event);
      const place = nameOf({ stream: event.streamName, revision: event.revision });
      const index = byLastEvent.get(place) ?? -1;
      const mark = marks[index];
      if (!mark || index < next) return;
      addMissingUntil(index);
      await compare(mark);
      next = index + 1;
      met += 1;
    },
    end: () => addMissingUntil(marks.length),
    met: () => met,
    unsealed: () => unsealed,
    uncovered: () => uncovered,
  };
}

function nameOf({ stream, revision }: { stream: string; revision: number }): string {
  return `${stream} revision ${revision}`;
}
