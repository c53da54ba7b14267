/** Where sealing starts: from a seal before all that is signed or kept, or at the first event. */
import type { EventStore, Position } from '@ledger/event-store/event-store.ts';
import type { Checkpoint } from '@ledger/transparency-log/note.ts';
import { emptyRange, type Range } from '@ledger/transparency-log/tree.ts';
import { hashIn, previousHashIn } from '../../events/envelope.ts';
import { sealsStream } from '../../events/seals.ts';
import type { KeptCheckpoints } from './kept.ts';
import {
  allSeals,
  disagreement,
  type LastSeal,
  lastEventOf,
  loadLastSeal,
  readSignedSeal,
  signedSealIn,
} from './stored-seals.ts';

/** The leaves up to `until` are the events of these streams. */
type Era = { until: number; streams: readonly string[] };

type Dependencies = { eventStore: Pick<EventStore, 'load' | 'loadLast'>; kept: KeptCheckpoints };

export type Start = {
  last: LastSeal;
  /** The tree to begin with, and the position of its last leaf. */
  range: Range;
  after: Position | null;
  eras: readonly Era[];
  /** What the tree must agree with when it has that size. */
  expected: readonly (Checkpoint & { name: string })[];
  /** The name of the log in the checkpoints so far; null if there are none. */
  origin: string | null;
};

/** Throws Unaccountable if what was sealed, or is kept, is missing or was changed. */
export async function findStart({ eventStore, kept }: Dependencies): Promise<Start> {
  await kept.createTable();
  const last = await loadLastSeal(eventStore);
  const sealed = last.seal?.checkpoint ? { ...last.seal.checkpoint, name: `seal ${last.revision}` } : null;
  const expected = [...(sealed ? [sealed] : []), ...(await kept.load())];
  const common = { last, expected, origin: expected[0]?.origin ?? null };
  const before = await beforeLast(last, eventStore);
  if (before && last.seal && expected.every(({ size }) => size >= before.range.size))
    return { ...common, ...before, eras: [{ until: last.seal.count, streams: last.seal.streams }] };
  return { ...common, range: emptyRange, after: null, eras: await allEras(eventStore) };
}

/** The tree at the seal before the last; null if that is not one of a tree. */
async function beforeLast(
  { seal, revision }: LastSeal,
  eventStore: Dependencies['eventStore'],
): Promise<Pick<Start, 'range' | 'after'> | null> {
  if (!seal?.checkpoint || revision === 'no_stream' || revision === 0) return null;
  const [stored, lastStored] = await eventStore.load(sealsStream, revision - 1, 2);
  if (!stored || !lastStored || hashIn(stored) !== previousHashIn(lastStored))
    throw disagreement(`seal ${revision}`);
  const before = signedSealIn(stored);
  const range = before.checkpoint?.range;
  return range ? { range, after: (await lastEventOf(before, eventStore)).position } : null;
}

async function allEras(eventStore: Pick<EventStore, 'load'>): Promise<Era[]> {
  const eras: Era[] = [];
  for await (const stored of allSeals(eventStore)) {
    const seal = readSignedSeal(stored);
    if (!seal?.checkpoint) continue;
    if (eras.at(-1)?.streams.join() === seal.streams.join()) eras.pop();
    eras.push({ until: seal.count, streams: seal.streams });
  }
  return eras;
}
