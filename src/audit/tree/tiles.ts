/**
 * The nodes of the log's tree, kept in PostgreSQL so that proofs need not read the log: tiles of 256 hashes, of every
 * eighth level, as in c2sp.org/tlog-tiles. They are derived from the log and nobody trusts them: whatever is made from
 * them is checked against a signed root. Decision 37.
 */
import type { Knex } from 'knex';
import type { Position } from '../../eventstore/event-store.ts';
import { emptyIfUndefined } from '../../postgres/error-codes.ts';
import { growTree, type NodeAt, nodeHash, type Range, rangeOf, rootOf } from './tree.ts';

const levelsInTile = 8;
const tileSize = 2 ** levelsInTile;
const hashSize = 32;

/** The tables, if they are missing. `position` is that of the first leaf of a tile of leaves, in this copy of the log. */
export async function createTileTable(db: Knex): Promise<void> {
  await db.raw(`
    create table if not exists log_tiles (
      level integer not null, index bigint not null, hashes bytea not null,
      commit_position bigint, prepare_position bigint,
      primary key (level, index)
    )`);
  await db.raw(
    `create index if not exists log_tiles_by_position on log_tiles (commit_position, prepare_position)`,
  );
}

type Part = { level: number; index: number; offset: number; hashes: Buffer[]; position: Position | null };

/** A tree that grows by the leaves of the log, and whose nodes are written when `flush` is called. */
export function growTiles(db: Knex, start: Range) {
  const parts = new Map<string, Part>();
  const counts = new Map<number, number>();
  let position: Position | null = null;
  const tree = growTree(start, (treeLevel, node) => {
    if (treeLevel % levelsInTile !== 0) return;
    const level = treeLevel / levelsInTile;
    const count = counts.get(level) ?? Math.floor(start.size / tileSize ** level);
    counts.set(level, count + 1);
    const [index, offset] = [Math.floor(count / tileSize), count % tileSize];
    const part = parts.get(`${level}/${index}`);
    const isFirst = level === 0 && offset === 0;
    if (part) part.hashes.push(node);
    else
      parts.set(`${level}/${index}`, {
        level,
        index,
        offset,
        hashes: [node],
        position: isFirst ? position : null,
      });
  });
  return {
    ...tree,
    add(leaf: Buffer, at: Position): void {
      position = at;
      tree.add(leaf);
    },
    /** How many tiles wait to be written. */
    waiting: () => parts.size,
    async flush(): Promise<void> {
      const written = [...parts.values()];
      parts.clear();
      for (const part of written) await write(db, part);
    },
  };
}

/** Extends the tile, and leaves the hashes that come after: another process may have written them. */
async function write(db: Knex, { level, index, offset, hashes, position }: Part): Promise<void> {
  const bytes = Buffer.concat(hashes);
  const from = offset * hashSize;
  const { rowCount } = await (offset === 0
    ? db.raw(
        `insert into log_tiles values (?, ?, ?, ?, ?) on conflict (level, index)
         do update set hashes = overlay(log_tiles.hashes placing excluded.hashes from 1),
           commit_position = excluded.commit_position, prepare_position = excluded.prepare_position`,
        [level, index, bytes, position && String(position.commit), position && String(position.prepare)],
      )
    : db.raw(
        `update log_tiles set hashes = overlay(hashes placing ? from ?)
         where level = ? and index = ? and length(hashes) >= ?`,
        [bytes, from + 1, level, index, from],
      ));
  if (rowCount === 0) throw new TilesUnusable(`Tile ${level}/${index} is missing or too short`);
}

/** The stored nodes do not lead to a root that was signed: they are missing, or somebody has changed them. */
export class TilesUnusable extends Error {
  override name = 'TilesUnusable';
}

const maxTiles = 64;

/** Keeps the last tiles that were read. The function returned throws TilesUnusable and the database's errors. */
export function readTiles(db: Knex): NodeAt {
  const kept = new Map<string, Promise<Buffer>>();
  async function load(level: number, index: number): Promise<Buffer> {
    const query = db.raw<{ rows: { hashes: Buffer }[] }>(
      'select hashes from log_tiles where level = ? and index = ?',
      [level, index],
    );
    return (await emptyIfUndefined(query))[0]?.hashes ?? Buffer.alloc(0);
  }
  function tileOf(level: number, index: number): Promise<Buffer> {
    const name = `${level}/${index}`;
    const tile = kept.get(name) ?? load(level, index);
    kept.delete(name);
    kept.set(name, tile);
    const [oldest = ''] = kept.keys();
    if (kept.size > maxTiles) kept.delete(oldest);
    return tile;
  }
  return async (treeLevel, index) => {
    const level = Math.floor(treeLevel / levelsInTile);
    const count = 2 ** (treeLevel % levelsInTile);
    const first = index * count;
    const tile = await tileOf(level, Math.floor(first / tileSize));
    const offset = (first % tileSize) * hashSize;
    if (tile.length < offset + count * hashSize)
      throw new TilesUnusable(`Tile ${level}/${Math.floor(first / tileSize)} is missing or too short`);
    let nodes = hashesIn(tile.subarray(offset, offset + count * hashSize));
    while (nodes.length > 1)
      nodes = nodes.flatMap((node, at) => (at % 2 === 0 ? [nodeHash(node, nodes[at + 1] as Buffer)] : []));
    return nodes[0] as Buffer;
  };
}

/** The tree of this size; null if the stored nodes do not lead to the root, in hexadecimal. */
export async function checkedRange(
  db: Knex,
  { count, hash }: { count: number; hash: string },
): Promise<Range | null> {
  try {
    const range = await rangeOf(readTiles(db), count);
    return rootOf(range).toString('hex') === hash ? range : null;
  } catch (error) {
    if (error instanceof TilesUnusable) return null;
    throw error;
  }
}

const hashesIn = (bytes: Buffer): Buffer[] =>
  Array.from({ length: bytes.length / hashSize }, (_, at) =>
    bytes.subarray(at * hashSize, (at + 1) * hashSize),
  );

/** The index of the leaf of an event at this position; null if it is not among the tiles. */
export async function findLeaf(
  db: Knex,
  leaf: Buffer,
  { commit, prepare }: Position,
): Promise<number | null> {
  const query = db.raw<{ rows: { index: number; hashes: Buffer }[] }>(
    `select index, hashes from log_tiles where (commit_position, prepare_position) <= (?, ?)
     order by commit_position desc, prepare_position desc limit 1`,
    [String(commit), String(prepare)],
  );
  const [tile] = await emptyIfUndefined(query);
  const offset = tile ? hashesIn(tile.hashes).findIndex((each) => each.equals(leaf)) : -1;
  return tile && offset >= 0 ? tile.index * tileSize + offset : null;
}
