/** Keeps data keys in Postgres, in blocks that are encrypted under a wrapping key, and beside them the erasures under way. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { Knex } from 'knex';
import {
  type Erasures,
  isDestroyed,
  type KeyBlock,
  type KeyStore,
  keyBytes,
  keyIdOf,
  keyIn,
  keyInSealed,
  readKeyId,
  type StoredBlock,
  unwrapBlock,
  type WrappingKeys,
  wrapBlock,
} from './key-store.ts';
import { createKeyTables, type KeyTables, keySchema } from './key-tables.ts';
import { KeysUnavailable } from './sealed.ts';

/** The Postgres channel that announces that keys were destroyed. */
export const destroyedChannel = 'personal_data_destroyed';

const indexBlock = 'index';
/** How many blocks are wrapped again at a time. */
const rewrapPage = 50;

/**
 * `madeWithKeys` is a table that has rows only if there were keys: with such rows, the schema is not created again.
 * Over 70 lines: one function for each question, and what two of them share.
 */
export function createPostgresKeyStore(dependencies: {
  db: Knex;
  wrapping: WrappingKeys;
  madeWithKeys: string;
  runtime: Pick<Runtime, 'randomBytes'>;
}): KeyStore {
  const { db, madeWithKeys, wrapping, runtime } = dependencies;
  const tables = createKeyTables(db, madeWithKeys);
  const wrap = (block: KeyBlock) => wrapBlock(block, wrapping, runtime);
  const unwrap = (stored: StoredBlock) => unwrapBlock(stored, wrapping);

  /** The block without these keys, null if it has none of them; and how many of them it had. */
  function destroyed(stored: StoredBlock, indexes: readonly number[]) {
    const keys = unwrap(stored);
    if (keys instanceof KeysUnavailable) throw keys;
    const places = indexes.map((index) => (keys ? keyIn(keys, index) : keyInSealed(stored.sealed, index)));
    const live = places.filter((place) => !isDestroyed(place));
    for (const place of live) place.fill(0);
    if (live.length === 0) return { block: null, count: 0 };
    return { block: keys ? wrap({ id: stored.id, keys }) : stored, count: live.length };
  }

  /**
   * Records that a key was destroyed while its block was missing, for when that is stored again: a block of this key,
   * under the key's id, so that backups and `rewrap` take it along.
   */
  const destroyedAlone = (block: string, index: number) =>
    wrap({ id: keyIdOf(block, index), keys: Buffer.alloc(keyBytes) });

  async function insert(blocks: readonly KeyBlock[], on: Knex = db): Promise<void> {
    await rows(on).insert(blocks.map(wrap)).onConflict('id').ignore().timeout(10_000);
  }

  let knownIndex: Buffer | null = null;
  /**
   * Every database has this block, and `rewrap` moves it too. If it was lost, it is stored again by a process that knows it.
   * Undefined if its bytes were changed.
   */
  async function readIndex(): Promise<Buffer | KeysUnavailable | undefined> {
    await tables.ready();
    const keys = knownIndex ?? runtime.randomBytes(keyBytes);
    await insert([{ id: indexBlock, keys }]).catch(tables.lookAgain);
    const read = (await store.read([indexBlock])).get(indexBlock);
    if (read instanceof Buffer) knownIndex = read;
    return read;
  }

  const store: KeyStore = {
    async add(blocks) {
      const index = await readIndex();
      // A process with another data key than the others would seal what none of them can read.
      if (index instanceof KeysUnavailable) throw new ConfigError([index.message]);
      await db.transaction(async (trx) => await insert(await withoutDestroyed(blocks, trx), trx));
    },
    async read(ids) {
      await tables.ready();
      const found = await rows(db)
        .whereIn('id', [...ids])
        .timeout(2_000)
        .catch(tables.lookAgain);
      return new Map(
        found.flatMap((stored) => {
          const keys = unwrap(stored);
          return keys ? [[stored.id, keys]] : [];
        }),
      );
    },
    async destroy(keyIds, record) {
      await tables.ready();
      const found = keyIds.map(readKeyId).filter((each) => each !== null);
      // Nobody may have the key of the blind index destroyed with an event that names it.
      const named = found.filter(({ block }) => block !== indexBlock);
      let changed = 0;
      let there = 0;
      for (const [block, keys] of Map.groupBy(named, (each) => each.block)) {
        const indexes = keys.map(({ index }) => index);
        const alone = indexes.map((index) => destroyedAlone(block, index));
        let live = 0;
        const update = (stored: StoredBlock) => {
          const without = destroyed(stored, indexes);
          live = without.count;
          return without.block;
        };
        const recordLive = async (trx: Knex.Transaction) => {
          if (live > 0) await record?.(live, trx);
        };
        if (await changeBlock(db, block, update, alone, recordLive)) changed += 1;
        there += live;
      }
      if (changed > 0) await store.freeOldVersions();
      return there;
    },
    async freeOldVersions() {
      // If it fails, autovacuum does it later.
      await db.raw(`vacuum ${keySchema}.key_blocks`).catch(() => undefined);
    },
    async missing(ids) {
      const found: string[] = await rows(db)
        .whereIn('id', [...ids])
        .pluck('id')
        .timeout(2_000);
      return ids.filter((id) => !found.includes(id));
    },
    async removeUnused(ids) {
      await rows(db)
        .whereIn('id', [...ids])
        .delete()
        .timeout(2_000);
    },
    async indexKey() {
      const key = await readIndex();
      if (key instanceof Buffer) return key;
      throw key ?? new KeysUnavailable('The key of the blind index was changed and is lost');
    },
    async rewrap() {
      await tables.ready();
      const others = () => rows(db).whereNot('kek_id', wrapping.current.id);
      let moved = 0;
      let last = '';
      for (;;) {
        const page = others().where('id', '>', last).orderBy('id').limit(rewrapPage);
        const ids: string[] = await page.pluck('id');
        for (const id of ids) {
          const isMoved = await changeBlock(db, id, (stored) => {
            const keys = stored.kek_id === wrapping.current.id ? null : unwrap(stored);
            return keys instanceof Buffer ? wrap({ id, keys }) : null;
          });
          if (isMoved) moved += 1;
        }
        last = ids.at(-1) ?? last;
        if (ids.length < rewrapPage) break;
      }
      const [counted] = await others().count<{ left: number }[]>({ left: '*' });
      return { moved, left: counted?.left ?? 0 };
    },
    erasures: createErasures(db, tables),
  };
  return store;
}

const rows = (on: Knex) => on<StoredBlock>('key_blocks').withSchema(keySchema);

/**
 * Changes a block while nobody else can, and nobody adds one; `update` returns what to write, or null. `instead` is added
 * if there is no such block. `record` writes what belongs to a change.
 */
async function changeBlock(
  db: Knex,
  id: string,
  update: (stored: StoredBlock) => StoredBlock | null,
  instead: readonly StoredBlock[] = [],
  record = async (_: Knex.Transaction): Promise<void> => undefined,
): Promise<boolean> {
  return await db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [keySchema]);
    const [stored] = await rows(trx).where({ id }).forUpdate();
    const updated = stored && update(stored);
    const added = stored ? [] : [...instead];
    if (updated) await rows(trx).where({ id }).update(updated);
    else if (added.length > 0) await rows(trx).insert(added).onConflict('id').ignore();
    else return false;
    await record(trx);
    await trx.raw('select pg_notify(?, ?)', [destroyedChannel, '']);
    return true;
  });
}

/** Zeros the keys of the blocks that were destroyed while they were missing. Until the transaction ends, no more are. */
async function withoutDestroyed(blocks: readonly KeyBlock[], trx: Knex.Transaction): Promise<KeyBlock[]> {
  await trx.raw('select pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [keySchema]);
  const alone = rows(trx).joinRaw(
    `join unnest(?::text[]) as block on id > block || '.' and id < block || '/'`,
    [blocks.map(({ id }) => id)],
  );
  const keyIds: string[] = await alone.pluck('id').timeout(2_000);
  const found = Map.groupBy(
    keyIds.map(readKeyId).filter((each) => each !== null),
    (each) => each.block,
  );
  return blocks.map(({ id, keys }) => {
    const left = Buffer.from(keys);
    for (const { index } of found.get(id) ?? []) keyIn(left, index).fill(0);
    return { id, keys: left };
  });
}

function createErasures(db: Knex, tables: KeyTables): Erasures {
  const erasures = () => db('erasures').withSchema(keySchema);
  return {
    async begin(begun) {
      await tables.ready();
      // The column has the name that an earlier release gave it, when only payments were erased.
      const added = begun.map(({ subject, ...rest }) => ({ transaction_id: subject, ...rest }));
      await erasures().insert(added).onConflict('transaction_id').ignore().timeout(5_000);
    },
    async complete(subjects) {
      await tables.ready();
      await erasures()
        .whereIn('transaction_id', [...subjects])
        .delete()
        .timeout(5_000);
    },
    async begunBefore(time, { after, limit }) {
      await tables.ready();
      const query = erasures().where('begun_at', '<', time).where('transaction_id', '>', after);
      query.orderBy('transaction_id').limit(limit);
      return await query.select('reason', 'actor', { subject: 'transaction_id' }).timeout(5_000);
    },
  };
}
