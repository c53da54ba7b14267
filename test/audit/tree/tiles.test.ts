// The nodes that are kept in PostgreSQL: proofs from them, what is missing or changed, and where a leaf is.
import test from 'ava';
import {
  checkedRange,
  createTileTable,
  findLeaf,
  growTiles,
  readTiles,
  TilesUnusable,
} from '../../../src/audit/tree/tiles.ts';
import {
  emptyRange,
  growTree,
  isConsistent,
  leafHash,
  proveConsistency,
  proveInclusion,
  rootOfInclusion,
} from '../../../src/audit/tree/tree.ts';
import { connectPostgres } from '../../../src/postgres/pool.ts';
import { log } from '../../projections/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';

const leaves = Array.from({ length: 66_000 }, (_, at) => leafHash(Buffer.from(`${at}`)));
const positionOf = (index: number) => ({ commit: BigInt(index * 2 + 1), prepare: BigInt(index * 2) });
const rootAt = (size: number) => {
  const tree = growTree();
  for (const leaf of leaves.slice(0, size)) tree.add(leaf);
  return tree.root();
};

test('tiles written piece by piece hold the tree, on three levels', async (t) => {
  const db = connectPostgres({ url: (await createDatabase()).url, log });
  t.teardown(() => db.destroy());
  t.is(await checkedRange(db, { count: 1, hash: '' }), null, 'there is no table yet');
  await createTileTable(db);
  await createTileTable(db);
  let range = emptyRange;
  for (const size of [1, 2, 255, 256, 257, 700, 65_535, 65_800, 66_000]) {
    const tree = growTiles(db, range);
    for (let index = range.size; index < size; index += 1)
      tree.add(leaves[index] as Buffer, positionOf(index));
    await tree.flush();
    const root = rootAt(size);
    t.deepEqual(tree.root(), root);
    const found = await checkedRange(db, { count: size, hash: root.toString('hex') });
    t.is(found?.size, size);
    range = found ?? emptyRange;
  }
  // Another process that writes what it has read of the same log changes nothing.
  const slower = growTiles(db, emptyRange);
  for (let index = 0; index < 300; index += 1) slower.add(leaves[index] as Buffer, positionOf(index));
  await slower.flush();
  const [size, root] = [66_000, rootAt(66_000)];
  const nodeAt = readTiles(db);
  for (const index of [0, 255, 256, 65_535, 65_536, 65_999]) {
    const leaf = leaves[index] as Buffer;
    t.deepEqual(
      rootOfInclusion(leaf, { index, size, proof: await proveInclusion(nodeAt, index, size) }),
      root,
    );
    t.is(await findLeaf(db, leaf, positionOf(index)), index);
    t.is(await findLeaf(db, leaf, positionOf((index + 30_000) % size)), null);
  }
  for (const first of [1, 256, 257, 65_000, 65_536]) {
    const before = { size: first, root: rootAt(first) };
    t.true(isConsistent(before, { size, root }, await proveConsistency(nodeAt, first, size)));
  }
  const hash = root.toString('hex');
  await db.raw(
    `update log_tiles set hashes = overlay(hashes placing '\\x00' from 1) where level = 1 and index = 0`,
  );
  t.truthy(await checkedRange(db, { count: size, hash }), 'a node that it is not made from');
  await db.raw(
    `update log_tiles set hashes = overlay(hashes placing '\\x00' from 1) where level = 2 and index = 0`,
  );
  t.is(await checkedRange(db, { count: size, hash }), null);
  await db.raw('delete from log_tiles where level = 0 and index = 3');
  await t.throwsAsync(readTiles(db)(0, 3 * 256), { instanceOf: TilesUnusable });
  const whole = growTree();
  for (const leaf of leaves.slice(0, 3 * 256 + 5)) whole.add(leaf);
  const gap = growTiles(db, whole.range());
  gap.add(leaves[0] as Buffer, positionOf(0));
  await t.throwsAsync(gap.flush(), { instanceOf: TilesUnusable }, 'a tile is never begun in its middle');
});
