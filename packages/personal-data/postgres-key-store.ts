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

  /** The block without these keys, and how many of them it had. */
  function destroyed(stored: StoredBlock, indexes: readonly number[]) {
    const keys = unwrap(stored);
    if (keys instanceof KeysUnavailable) throw keys;
    const places = indexes.map((index) => (keys ? keyIn(keys, index) : keyInSealed(stored.sealed, index)));
    const live = places.filter((place) => !isDestroyed(place));
    for (const place of live) place.fill(0);
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
      let hasChanged = false;
      let there = 0;
      for (const [id, keys] of Map.groupBy(named, ({ block }) => block)) {
        const indexes = keys.map(({ index }) => index);
        const isChanged = await changeBlock(db, id, async (stored, trx) => {
          if (!stored) {
            const alone = indexes.map((index) => destroyedAlone(id, index));
            await rows(trx).insert(alone).onConflict('id').ignore();
            return true;
          }
          const { block, count } = destroyed(stored, indexes);
          if (count === 0) return false;
          await rows(trx).where({ id }).update(block);
          await record?.(count, trx);
          there += count;
          return true;
        });
        hasChanged ||= isChanged;
      }
      if (hasChanged) await store.freeOldVersions();
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
          const isMoved = await changeBlock(db, id, async (stored, trx) => {
            const keys = stored && stored.kek_id !== wrapping.current.id && unwrap(stored);
            if (!(keys instanceof Buffer)) return false;
            await rows(trx).where({ id }).update(wrap({ id, keys }));
            return true;
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
 * Calls `change` with a block while nobody else can change it or add one; undefined if there is no such block. It returns
 * whether it changed something, which is then announced.
 */
async function changeBlock(
  db: Knex,
  id: string,
  change: (stored: StoredBlock | undefined, trx: Knex.Transaction) => Promise<boolean>,
): Promise<boolean> {
  return await db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [keySchema]);
    const [stored] = await rows(trx).where({ id }).forUpdate();
    const isChanged = await change(stored, trx);
    if (isChanged) await trx.raw('select pg_notify(?, ?)', [destroyedChannel, '']);
    return isChanged;
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
      if (begun.length === 0) return;
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
