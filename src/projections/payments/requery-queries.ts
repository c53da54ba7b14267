/** What scheduled requery asks of the projection `payments`, and the one thing that it writes there. */
import type { Knex } from 'knex';
import { payments } from './projection.ts';

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

/**
 * Puts a payment that is due at `now` off until `until`. Nothing to record: it stays due by its events, and when its
 * row is written anew it is merely asked about earlier. Rejects within a few seconds when Postgres is down.
 */
export async function postponeRequery(
  db: Knex,
  transactionId: string,
  { now, until }: { now: Date; until: Date },
): Promise<void> {
  await db
    .withSchema(payments.name)
    .from('payments')
    .where('transaction_id', transactionId)
    .where('requery_at', '<=', now)
    .update({ requery_at: until })
    .timeout(5_000);
}
