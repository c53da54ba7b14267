/** Queries on the discrepancies that imports found, and on payments that an import may lack. */
import { type ListPage, readPage } from '@ledger/postgres/listing.ts';
import { indexable, matching, type TimeSpan } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import lists from '../../../content/tables/lists.json' with { type: 'json' };
import type { Discrepancy, ExportSource } from '../../events/reconciliation.ts';
import { payments } from '../payments/projection.ts';
import { reconciliation } from './projection.ts';

/** The open discrepancies, the latest first; null as `source` means both. Rejects when Postgres is down. */
export function openDiscrepancies(db: Knex, source: ExportSource | null, page: ListPage) {
  const query = db(`${reconciliation.name}.discrepancies`).whereNull('resolved_at');
  matching(query, { source });
  return readPage<{ id: string; difference: Discrepancy }>(db, query, lists.discrepancies, page);
}

export type PaidKey = { at: Date; transactionId: string };

/**
 * A page of the payments with money reported within the span, of the given merchants (null: of all). `paid` finds what
 * was paid then. `inSuspense` finds what is in suspense, by the time of recording and from a day before the span on,
 * because the row lacks the time of payment. Rejects when Postgres is down.
 */
export async function findCharged(
  db: Knex,
  by: 'paid' | 'inSuspense',
  { start, end }: TimeSpan,
  merchantCodes: readonly string[] | null,
  { limit, after }: { limit: number; after: PaidKey | null },
): Promise<PaidKey[]> {
  const query = db.withSchema(payments.name).timeout(20_000).limit(limit);
  const time = by === 'paid' ? 'paid_at' : 'at';
  if (by === 'paid') query.from('payments').where('paid_at', '>=', start).where('paid_at', '<', end);
  else
    query
      .from('exceptions')
      .whereIn('kind', ['amountMismatch', 'duplicate'])
      .whereRaw(`at >= ?::timestamptz - interval '1 day'`, [start])
      .groupBy('at', 'transaction_id');
  if (merchantCodes) query.whereIn('merchant_code', merchantCodes.map(indexable));
  if (after) query.whereRaw('(??, transaction_id) > (?, ?)', [time, after.at, after.transactionId]);
  return await query.orderBy([time, 'transaction_id']).select({ at: time, transactionId: 'transaction_id' });
}
