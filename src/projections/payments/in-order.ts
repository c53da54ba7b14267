/** The payments that were requested in a span of time, for whoever goes through all of them. */
import type { Knex } from 'knex';
import { indexable } from '../../postgres/indexable.ts';
import { type TimeSpan, within } from '../../postgres/time-span.ts';
import { payments } from './projection.ts';

const pageSize = 500;

type Row = { transaction_id: string; requested_at: Date };

/**
 * Pages of transaction ids, in the order of request and within one moment in that of the ids' characters. Of all
 * merchants where `merchantCode` is null. Pages are read one by one: memory stays flat, and no transaction is held open.
 */
export async function* paymentsInOrder(
  db: Knex,
  span: TimeSpan,
  merchantCode: string | null,
): AsyncGenerator<string[]> {
  let after: Row | undefined;
  let rows: Row[];
  do {
    const page = db
      .withSchema(payments.name)
      .from('payments')
      .select('transaction_id', 'requested_at')
      .orderByRaw('requested_at, transaction_id collate "C"')
      .limit(pageSize);
    within(page, 'requested_at', span);
    if (merchantCode !== null) page.where('merchant_code', indexable(merchantCode));
    if (after)
      page.whereRaw('(requested_at, transaction_id collate "C") > (?, ?)', [
        after.requested_at,
        after.transaction_id,
      ]);
    rows = await page;
    after = rows.at(-1);
    if (after) yield rows.map(({ transaction_id }) => transaction_id);
  } while (rows.length === pageSize);
}
