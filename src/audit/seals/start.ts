/** Where sealing starts: before the last seal, whose part of the log is counted again, or at the first event. */
import type { Knex } from 'knex';
import { hashIn, previousHashIn } from '../../events/envelope.ts';
import { leafEntry, leafOf, sealsStream } from '../../events/seals.ts';
import type { EventStore, Position } from '../../eventstore/event-store.ts';
import { checkedRange, createTileTable, findLeaf, readTiles } from '../tree/tiles.ts';
import { emptyRange, isConsistent, leafHash, proveConsistency, type Range, rootOf } from '../tree/tree.ts';
import type { KeptCheckpoint, KeptCheckpoints } from './kept.ts';
import {
  allSeals,
  disagreement,
  type LastSeal,
  lastEventOf,
  loadLastSeal,
  readSignedSeal,
  type Seal,
  signedSealIn,
} from './stored-seals.ts';

/** The leaves up to `until` are the events of these streams. */
export type Era = { until: number; streams: readonly string[] };

type Dependencies = {
  eventStore: Pick<EventStore, 'load' | 'loadLast'>;
  db: Knex;
  kept: KeptCheckpoints;
};

export type Start = {
  last: LastSeal;
  /** The last seal if it has a running hash, to be counted once more before the first checkpoint. */
  old: Seal | null;
  /** The tree to begin with, and the position of its last leaf. */
  range: Range;
  after: Position | null;
  eras: readonly Era[];
  /** What the tree must agree with when it has that size. */
  expected: readonly KeptCheckpoint[];
  /** The name of the log in the checkpoints so far; null if there are none. */
  origin: string | null;
};

/** Throws Unaccountable if what was sealed, or is kept, is missing or inconsistent. */
export async function findStart({ eventStore, db, kept }: Dependencies): Promise<Start> {
  await createTileTable(db);
  await kept.createTable();
  const last = await loadLastSeal(eventStore);
  const checkpoints = await kept.load();
  const sealed = last.seal?.checkpoint ? { ...last.seal.checkpoint, name: `seal ${last.revision}` } : null;
  const expected = [...(sealed ? [sealed] : []), ...checkpoints];
  const common = {
    last,
    old: last.seal && !sealed ? last.seal : null,
    expected,
    origin: expected[0]?.origin ?? null,
  };
  const before = await beforeLast(last, { eventStore, db });
  if (!before || !last.seal) {
    await db.raw('delete from log_tiles');
    return { ...common, range: emptyRange, after: null, eras: await allEras(eventStore) };
  }
  for (const each of checkpoints)
    if (each.size < before.range.size && !(await continues(each, before.range, db)))
      throw disagreement(each.name);
  return { ...common, ...before, eras: [{ until: last.seal.count, streams: last.seal.streams }] };
}

/**
 * The tree at the seal before the last; null if there is none, its nodes are not what it signed, or the log is a copy
 * with other positions than that from which they were made.
 */
async function beforeLast(
  { seal, revision }: LastSeal,
  { eventStore, db }: Pick<Dependencies, 'eventStore' | 'db'>,
): Promise<Pick<Start, 'range' | 'after'> | null> {
  if (!seal?.checkpoint || revision === 'no_stream' || revision === 0) return null;
  const [stored, lastStored] = await eventStore.load(sealsStream, revision - 1, 2);
  if (!stored || !lastStored || hashIn(stored) !== previousHashIn(lastStored))
    throw disagreement(`seal ${revision}`);
  const { checkpoint } = signedSealIn(stored);
  const lastEvent = await lastEventOf(lastStored, eventStore);
  const leaf = leafHash(leafEntry(leafOf(lastEvent)));
  if (!checkpoint || (await findLeaf(db, leaf, lastEvent.position)) !== seal.count - 1) return null;
  const range = await checkedRange(db, { count: checkpoint.size, hash: checkpoint.root.toString('hex') });
  return range && { range, after: (await lastEventOf(stored, eventStore)).position };
}

async function continues(first: KeptCheckpoint, range: Range, db: Knex): Promise<boolean> {
  const second = { size: range.size, root: rootOf(range) };
  return isConsistent(first, second, await proveConsistency(readTiles(db), first.size, second.size));
}

/** Which streams' events the leaves are, from the first one on. */
export async function allEras(eventStore: Pick<EventStore, 'load'>): Promise<Era[]> {
  const eras: Era[] = [];
  for await (const stored of allSeals(eventStore)) {
    const seal = readSignedSeal(stored);
    if (!seal?.checkpoint) continue;
    const { size: until } = seal.checkpoint;
    const { streams } = seal;
    if (eras.at(-1)?.streams.join() === streams.join()) eras.pop();
    eras.push({ until, streams });
  }
  return eras;
}
