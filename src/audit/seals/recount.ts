/**
 * The tree of the log, which the sealer counts again before it signs anything: from a seal before all that was signed
 * or is kept, or from the first event. It must agree with what was signed or is kept.
 */
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { eventsToEnd } from '@ledger/event-store/events-to-end.ts';
import type { Checkpoint } from '@ledger/transparency-log/note.ts';
import { emptyRange, growTree, leafHash, type Range } from '@ledger/transparency-log/tree.ts';
import { countIn, emptyTally, isCovered, leafEntry, leafOf, sealsStream } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import { allSeals, type LastSeal, lastEventOf, loadLastSeal } from './find-seals.ts';
import type { KeptCheckpoints } from './kept-checkpoints.ts';
import { disagreement, readSignedSeal, signedSealIn } from './stored-seals.ts';

type Store = Pick<EventStore, 'load' | 'loadLast'>;

/** The leaves up to `until` are the events of these streams. */
type Coverage = { until: number; streams: readonly string[] };

/** Throws Unaccountable if what was sealed, or is kept, is missing or was changed. */
export async function beginRecount(eventStore: Store, kept: KeptCheckpoints) {
  await kept.createTable();
  const last = await loadLastSeal(eventStore);
  const sealed = last.seal?.checkpoint ? { ...last.seal.checkpoint, name: `seal ${last.revision}` } : null;
  const expected = [...(sealed ? [sealed] : []), ...(await kept.load())];
  const before = await fromSealBefore(last, eventStore);
  const { after, coverages, range } =
    before && expected.every(({ size }) => size >= before.range.size)
      ? before
      : { range: emptyRange, after: null, coverages: await allCoverages(eventStore) };
  return {
    last,
    /** The name of the log in the checkpoints so far. */
    origin: expected[0]?.origin,
    /** The events to count: those of these streams after this position. */
    streams: [...new Set([...coverages.flatMap(({ streams }) => streams), ...streamPrefixes])],
    after,
    tree: checkedTree(range, coverages, expected),
  };
}

/** A tree that throws Unaccountable as soon as it does not agree with a checkpoint of its size. */
function checkedTree(
  range: Range,
  coverages: readonly Coverage[],
  expected: readonly (Checkpoint & { name: string })[],
) {
  const tree = growTree(range);
  const missing = () => expected.find(({ size }) => size > tree.size());
  return {
    size: tree.size,
    range: tree.range,
    /** Adds the event's leaf and returns it; null if no leaf is made of this event. */
    add(event: RecordedEvent): Buffer | null {
      const coverage = coverages.find(({ until }) => tree.size() < until);
      if (!isCovered(event, coverage?.streams ?? streamPrefixes)) return null;
      const leaf = leafHash(leafEntry(leafOf(event)));
      tree.add(leaf);
      for (const { size, root, name } of expected)
        if (size === tree.size() && !root.equals(tree.root())) throw disagreement(name);
      return leaf;
    },
    /** Whether everything that was signed or is kept has been counted again. */
    isRecounted: () => missing() === undefined,
    /** At the end of the log. Throws Unaccountable if it ends before what was signed or is kept. */
    assertRecounted(): void {
      const beyond = missing();
      if (beyond) throw disagreement(beyond.name);
    },
  };
}

/** From the seal before the last, which the root in the last one covers; null if that one has no tree. */
async function fromSealBefore({ seal, revision }: LastSeal, eventStore: Store) {
  if (!seal?.checkpoint || revision === 'no_stream' || revision === 0) return null;
  const [stored] = await eventStore.load(sealsStream, revision - 1, 1);
  if (!stored) throw disagreement(`seal ${revision}`);
  const before = signedSealIn(stored);
  const range = before.checkpoint?.range;
  if (!range) return null;
  const coverages = [{ until: seal.count, streams: seal.streams }];
  return { range, after: (await lastEventOf(before, eventStore)).position, coverages };
}

async function allCoverages(eventStore: Store): Promise<Coverage[]> {
  const coverages: Coverage[] = [];
  for await (const stored of allSeals(eventStore)) {
    const seal = readSignedSeal(stored);
    if (!seal?.checkpoint) continue;
    if (coverages.at(-1)?.streams.join() === seal.streams.join()) coverages.pop();
    coverages.push({ until: seal.count, streams: seal.streams });
  }
  return coverages;
}

/** The first checkpoint must not cover another log than the last seal with a running hash. Throws Unaccountable. */
export async function recountRunningHash(
  { seal, revision }: LastSeal,
  eventStore: Pick<EventStore, 'subscribe'>,
  reading: { signal: AbortSignal; maxFailures: number },
): Promise<void> {
  if (!seal || seal.checkpoint) return;
  let tally = emptyTally;
  for await (const event of eventsToEnd(eventStore, {
    streamPrefixes: seal.streams,
    after: null,
    ...reading,
  })) {
    tally = countIn(tally, event);
    if (tally.count === seal.count) break;
  }
  if (tally.runningHash !== seal.hash) throw disagreement(`seal ${revision}`);
}
