/**
 * Erasures that have begun. One is noted before the first key is destroyed, so that it is completed even if the process
 * ends in the middle.
 */
import type { Knex } from 'knex';
import type { ErasureReason } from '../events/personal-data.ts';
import { isPostgresError } from '../postgres/error-codes.ts';
import { createKeyTables, keySchema } from './postgres-key-store.ts';

export type Erasure = {
  transactionId: string;
  reason: ErasureReason;
  /** The actor of the event, such as `staff:<id>`. */
  actor: string;
};

/** Every function rejects when Postgres cannot be reached. */
export type Erasures = {
  begin(erasures: readonly Erasure[]): Promise<void>;
  complete(transactionIds: readonly string[]): Promise<void>;
  /** Those that began before a time, at most `limit`. */
  begunBefore(time: Date, limit: number): Promise<Erasure[]>;
};

export function createErasures(db: Knex): Erasures {
  const rows = () => db('erasures').withSchema(keySchema);
  const unlessMissing = (error: unknown): [] => {
    if (isPostgresError(error, 'undefinedTable')) return [];
    throw error;
  };
  return {
    async begin(erasures) {
      const added = erasures.map(({ transactionId, reason, actor }) => ({
        transaction_id: transactionId,
        reason,
        actor,
      }));
      const insert = () => rows().insert(added).onConflict('transaction_id').ignore().timeout(5_000);
      try {
        await insert();
      } catch (error) {
        if (!isPostgresError(error, 'undefinedTable')) throw error;
        await createKeyTables(db);
        await insert();
      }
    },
    async complete(transactionIds) {
      const found = rows().whereIn('transaction_id', [...transactionIds]);
      await found.delete().timeout(5_000).catch(unlessMissing);
    },
    async begunBefore(time, limit) {
      const query = rows().where('begun_at', '<', time).orderBy('begun_at').limit(limit);
      const columns = ['reason', 'actor', { transactionId: 'transaction_id' }];
      return await query.select(columns).timeout(5_000).catch(unlessMissing);
    },
  };
}
