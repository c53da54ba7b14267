/** Keeps data keys in Postgres, in blocks that are encrypted under DATA_KEY. */
import type { Knex } from 'knex';
import { KeysUnavailable } from '../events/personal-data.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { isPostgresError } from '../postgres/error-codes.ts';
import { decrypt, encrypt, keyBytes, type WrappingKeys } from './data-keys.ts';
import { isDestroyed, type KeyBlock, type KeyStore, keyIn, readKeyId } from './key-store.ts';

/** The schema that no rebuild touches. */
export const keySchema = 'personal_data';
/** The Postgres channel that announces that keys were destroyed. */
export const destroyedChannel = 'personal_data_destroyed';

const indexBlock = 'index';
/** Not more of them are under work at a time. */
const rewrapPage = 50;

type Stored = { id: string; kek_id: string; sealed: Buffer };

export function createPostgresKeyStore({
  db,
  wrapping,
  runtime,
}: {
  db: Knex;
  wrapping: WrappingKeys;
  runtime: Pick<Runtime, 'randomBytes'>;
}): KeyStore {
  const rows = (on: Knex = db) => on<Stored>('key_blocks').withSchema(keySchema);

  const wrap = ({ id, keys }: KeyBlock): Stored => ({
    id,
    kek_id: wrapping.current.id,
    sealed: encrypt(wrapping.current.key, keys, id, runtime),
  });
  const unwrap = ({ id, kek_id, sealed }: Stored): Buffer => {
    const key = wrapping.all.get(kek_id)?.key;
    if (!key)
      throw new KeysUnavailable(
        `Keys are encrypted under the data key ${kek_id}, which is neither DATA_KEY nor in DATA_KEY_PREVIOUS`,
      );
    return decrypt(key, sealed, id);
  };

  /** Changes a block while nobody else can. */
  async function change(id: string, update: (keys: Buffer, kekId: string) => boolean): Promise<boolean> {
    return await db.transaction(async (trx) => {
      const [stored] = await rows(trx).where({ id }).forUpdate();
      if (!stored) return false;
      const keys = unwrap(stored);
      if (!update(keys, stored.kek_id)) return false;
      await rows(trx).where({ id }).update(wrap({ id, keys }));
      await trx.raw('select pg_notify(?, ?)', [destroyedChannel, '']);
      return true;
    });
  }

  const store: KeyStore = {
    async add(blocks) {
      await rows().insert(blocks.map(wrap)).timeout(10_000);
    },
    async read(ids) {
      const found = await rows()
        .whereIn('id', [...ids])
        .timeout(2_000);
      return new Map(found.map((stored) => [stored.id, unwrap(stored)]));
    },
    async destroy(keyIds) {
      const named = keyIds.map(readKeyId).filter((each) => each !== null);
      for (const [block, keys] of Map.groupBy(named, ({ block }) => block))
        await change(block, (bytes) => {
          const live = keys.filter(({ index }) => !isDestroyed(keyIn(bytes, index)));
          for (const { index } of live) keyIn(bytes, index).fill(0);
          return live.length > 0;
        });
    },
    async removeUnused(ids) {
      await rows()
        .whereIn('id', [...ids])
        .delete()
        .timeout(2_000);
    },
    async indexKey() {
      const made = wrap({ id: indexBlock, keys: runtime.randomBytes(keyBytes) });
      await rows().insert(made).onConflict('id').ignore().timeout(2_000);
      const key = (await store.read([indexBlock])).get(indexBlock);
      if (!key) throw new KeysUnavailable('The key of the blind index is missing');
      return key;
    },
    async rewrap(onProgress = () => undefined) {
      let done = 0;
      let last = '';
      for (;;) {
        const ids: string[] = await rows()
          .where('id', '>', last)
          .whereNot('kek_id', wrapping.current.id)
          .orderBy('id')
          .limit(rewrapPage)
          .pluck('id');
        for (const id of ids) if (await change(id, (_, kekId) => kekId !== wrapping.current.id)) done += 1;
        onProgress(done);
        if (ids.length < rewrapPage) return done;
        last = ids.at(-1) ?? last;
      }
    },
  };
  return withTables(store, db);
}

/** Makes the tables when a function finds that there are none, and calls it again. */
function withTables(store: KeyStore, db: Knex): KeyStore {
  const retried =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await call(...args);
      } catch (error) {
        if (!isPostgresError(error, 'undefinedTable')) throw error;
        await createKeyTables(db);
        return await call(...args);
      }
    };
  return {
    add: retried(store.add),
    read: retried(store.read),
    destroy: retried(store.destroy),
    removeUnused: retried(store.removeUnused),
    indexKey: retried(store.indexKey),
    rewrap: retried(store.rewrap),
  };
}

/** `if not exists` alone fails when two processes create the same thing at once. */
export async function createKeyTables(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [keySchema]);
    await trx.raw(`
      create schema if not exists ${keySchema};
      create table if not exists ${keySchema}.key_blocks (
        id text collate "C" primary key,
        kek_id text not null,
        sealed bytea not null,
        created_at timestamptz not null default now()
      );
      alter table ${keySchema}.key_blocks alter column sealed set storage external;
      create table if not exists ${keySchema}.erasures (
        transaction_id text primary key,
        reason text not null,
        actor text not null,
        begun_at timestamptz not null default now()
      );`);
  });
}
