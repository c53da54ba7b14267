/** What scheduled requery asks of the projection `payments`. */
import type { Knex } from 'knex';
import { payments } from './payments.ts';

/**
 * Ids of at most `limit` payments that the registry is to be asked about by `now`, the longest due first, without those
 * in `except`. A row may be behind its stream. Rejects within a few seconds when Postgres is down.
 */
export async function findDueRequeries(
  db: Knex,
  { now, except, limit }: { now: Date; except: readonly string[]; limit: number },
): Promise<string[]> {
  return await db
    .withSchema(payments.name)
    .from('payments')
    .where('requery_at', '<=', now)
    .whereRaw('not transaction_id = any(?)', [[...except]])
    .orderBy('requery_at')
    .limit(limit)
    .pluck('transaction_id')
    .timeout(5_000);
}
