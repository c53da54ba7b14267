/**
 * Verifies the seals: that each is what was signed, by a trusted key, and continues the one before it; and, event by
 * event, that the log holds what they say.
 */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import type { Checkpoint } from '@ledger/transparency-log/note.ts';
import { emptyRange, growTree, leafHash, type Range } from '@ledger/transparency-log/tree.ts';
import { genesisHash, hashIn, isChainedOnto, previousHashIn } from '../../events/envelope.ts';
import { countIn, emptyTally, isCovered, leafEntry, leafOf, sealsStream } from '../../events/seals.ts';
import { allSeals } from '../seals/find-seals.ts';
import { readSignedSeal, type Seal } from '../seals/stored-seals.ts';
import { followKeys } from '../seals/succession.ts';
import type { LogCounts } from './resume.ts';
import { placeText, type Violations } from './violations.ts';

/** What a seal says about the log; `revision` is the seal's own. */
export type SealMark = Pick<Seal, 'at' | 'count' | 'hash' | 'lastEvent' | 'streams'> & {
  revision: number;
  /** Whether the hash is the root of a tree, and not a running hash. */
  isTree: boolean;
};

/**
 * Every valid seal, in order, and the keys that may have signed. With null as `trusted`, any signer is trusted, and the
 * keys are null. Needs some 300 bytes of memory for each seal.
 */
export async function verifySeals(
  eventStore: Pick<EventStore, 'load'>,
  trusted: readonly KeyTerm[] | null,
  violations: Violations,
) {
  const keys = followKeys(trusted);
  const marks: (SealMark & { line: number })[] = [];
  let before = { revision: -1, hash: genesisHash, count: 0, isTree: false };
  try {
    for await (const stored of allSeals(eventStore)) {
      const seal = checkSeal(stored, before, keys, violations);
      const { revision } = stored;
      before = { ...before, revision, hash: hashIn(stored) };
      if (!seal) continue;
      const { at, count, hash, lastEvent } = seal;
      const isTree = seal.checkpoint !== null;
      before = { ...before, count, isTree };
      // Nearly all seals name the same streams: they share one list.
      const last = marks.at(-1)?.streams ?? [];
      const streams = last.join() === seal.streams.join() ? last : seal.streams;
      marks.push({ revision, at, count, hash, lastEvent, streams, isTree, line: keys.line() });
    }
  } catch (error) {
    // Seals after one that is no longer a readable event cannot be read.
    if (!(error instanceof EventStoreUnavailable)) throw error;
    violations.add('seals', `Not all seals can be read: ${error.message}`);
  }
  const isTrusted = ({ line, revision }: (typeof marks)[number]) => {
    if (keys.isTrusted(line)) return true;
    violations.add('keys of seals', `Seal ${revision} was signed with a key that is not trusted`);
    return false;
  };
  return { marks: marks.filter(isTrusted) as readonly SealMark[], keys: keys.trusted() };
}

/** Null for a seal that the log cannot be compared with. */
function checkSeal(
  stored: RecordedEvent,
  before: { revision: number; hash: string; count: number; isTree: boolean },
  keys: ReturnType<typeof followKeys>,
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
  const fault = keys.take(seal, stored, before.count);
  if (fault !== null) {
    violations.add('keys of seals', `${name} ${fault}`);
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

/**
 * Compares the log with its seals, in order, all made before the log is read. After a violation the count continues from
 * what the seal says, so that the next seal is checked against its own part of the log. If the last event of a seal never
 * comes, its part is reported with the next seal. With `from`, the events up to that seal are not read. The tree of the log
 * must once be that of `since`, which may have been signed without a seal. Over 70 lines: its functions share the count.
 */
export function createSealCheck(
  marks: readonly SealMark[],
  violations: Violations,
  eventStore: Pick<EventStore, 'load'>,
  from: { mark: SealMark; range: Range; counts: LogCounts | null } | null,
  since: Pick<Checkpoint, 'root' | 'size'> | null,
) {
  const trees = marks.filter(({ isTree }) => isTree);
  const old = marks.findLast(({ isTree }) => !isTree);
  const byLastEvent = new Map(trees.map(({ lastEvent }, index) => [placeText(lastEvent), index]));
  const oldCheck = old && !from ? createOldCheck(old, violations) : null;
  let next = from ? trees.findIndex(({ revision }) => revision === from.mark.revision) + 1 : 0;
  let tree = growTree(from?.range ?? emptyRange);
  let met = from?.counts?.seals ?? 0;
  let uncovered = from?.counts?.uncovered ?? 0;
  let unsealed: { events: number; since: Date | null } = { events: 0, since: null };
  const leadsToSince = () => !since || (tree.size() === since.size && tree.root().equals(since.root));
  let isSinceMet = leadsToSince();

  async function compare(mark: SealMark): Promise<void> {
    if (mark.count === tree.size() && mark.hash === tree.root().toString('hex')) return;
    const before = trees[next - 1];
    const from = before?.count ?? 0;
    const since = before ? `after ${placeText(before.lastEvent)}` : 'from the start';
    const there =
      mark.count === tree.size()
        ? 'some are not what was sealed, or are out of order'
        : `${tree.size() - from} are there`;
    violations.add(
      'what was sealed',
      `Seal ${mark.revision} of ${mark.at}: of the ${mark.count - from} events ${since} up to ${placeText(mark.lastEvent)}, ${there}`,
    );
    const [stored] = await eventStore.load(sealsStream, mark.revision, 1);
    tree = growTree((stored && readSignedSeal(stored)?.checkpoint?.range) ?? emptyRange);
  }

  function addMissingUntil(index: number): void {
    for (const { lastEvent, revision, at } of trees.slice(next, index))
      violations.add(
        'what was sealed',
        `${placeText(lastEvent)}, the last event of seal ${revision} of ${at}, is not at its place in the log`,
      );
  }

  return {
    /** The seal that ends with the event, if any. */
    async take(event: RecordedEvent): Promise<SealMark | null> {
      oldCheck?.take(event);
      const awaited = trees[next] ?? (oldCheck?.isMet() === false ? old : undefined);
      if (!awaited) {
        unsealed = { events: unsealed.events + 1, since: unsealed.since ?? event.created };
        return null;
      }
      if (!isCovered(event, awaited.streams)) {
        uncovered += 1;
        return null;
      }
      tree.add(leafHash(leafEntry(leafOf(event))));
      isSinceMet ||= leadsToSince();
      const index = byLastEvent.get(placeText({ stream: event.streamName, revision: event.revision })) ?? -1;
      const mark = trees[index];
      if (!mark || index < next) return null;
      addMissingUntil(index);
      await compare(mark);
      next = index + 1;
      met += 1;
      return mark;
    },
    /** To be called after the last event. */
    end(): void {
      addMissingUntil(trees.length);
      oldCheck?.end();
      if (!isSinceMet)
        violations.add(
          'the log',
          `It does not lead to the checkpoint of ${since?.size} events, or no seal covers that yet`,
        );
    },
    /** How many seals had their last event in the log. */
    met: () => met + (oldCheck?.isMet() ? 1 : 0),
    /** The events after the last seal; `since` is when the first of them was stored. */
    unsealed: () => unsealed,
    /** The number of events in streams that the sealer did not know when it sealed them. */
    uncovered: () => uncovered,
  };
}

/** Compares the log with the last seal that has a running hash, which covers all that the earlier ones cover. */
function createOldCheck(seal: SealMark, violations: Violations) {
  let tally = emptyTally;
  let isMet = false;
  const name = () => `The log does not hold what seal ${seal.revision} of ${seal.at} and those before it`;
  return {
    take(event: RecordedEvent): void {
      if (isMet || !isCovered(event, seal.streams)) return;
      tally = countIn(tally, event);
      const { stream, revision } = seal.lastEvent;
      isMet = event.streamName === stream && event.revision === revision;
      if (isMet && (tally.count !== seal.count || tally.runningHash !== seal.hash))
        violations.add(
          'what was sealed',
          `${name()} counted: ${tally.count} of ${seal.count} events are there`,
        );
    },
    end(): void {
      if (!isMet) violations.add('what was sealed', `${name()} end with`);
    },
    isMet: () => isMet,
  };
}
