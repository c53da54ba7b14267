/** How staff find payments: by what is on a receipt or in a complaint, or by what they have in common. */
import type { Knex } from 'knex';
import type { Channel, PaymentStatus } from '../../events/payment.ts';
import type { Sen } from '../../kernel/money.ts';
import type { PaymentMode } from '../../kernel/payment-modes.ts';
import { indexable } from '../../postgres/indexable.ts';
import { type TimeSpan, within } from '../../postgres/time-span.ts';
import { payments } from './projection.ts';

/** Null, or no terms, is all. */
export type PaymentFilter = {
  /** A merchant's reference, a transaction id or a receipt number, exactly. */
  named: string | null;
  /** All of these words are among the payer's, see payer-terms.ts. */
  searchTokens: readonly string[];
  merchantCode: string | null;
  status: PaymentStatus | null;
  /** Of the standing result, else of the last attempt. */
  mode: PaymentMode | null;
  requested: TimeSpan | null;
  paid: TimeSpan | null;
};

export const allPayments: PaymentFilter = {
  named: null,
  searchTokens: [],
  merchantCode: null,
  status: null,
  mode: null,
  requested: null,
  paid: null,
};

/** Nothing of the payer is in it. */
export type FoundPayment = {
  transactionId: string;
  channel: Channel;
  merchantCode: string;
  reference: string;
  status: PaymentStatus;
  mode: PaymentMode | '';
  amountSen: Sen;
  receiptNo: string | null;
  requestedAt: Date;
};

/** Where a page ends; the next one begins after it. */
export type PaymentKey = Pick<FoundPayment, 'requestedAt' | 'transactionId'>;

const columns = {
  transactionId: 'transaction_id',
  channel: 'channel',
  merchantCode: 'merchant_code',
  reference: 'reference',
  status: 'status',
  mode: 'mode',
  amountSen: 'amount_sen',
  receiptNo: 'receipt_no',
  requestedAt: 'requested_at',
};

/** The latest asked for first. Rejects within a few seconds when Postgres is down. */
export async function searchPayments(
  db: Knex,
  { named, searchTokens, merchantCode, status, mode, requested, paid }: PaymentFilter,
  { limit, after }: { limit: number; after: PaymentKey | null },
): Promise<FoundPayment[]> {
  const query = db.withSchema(payments.name).from('payments').select(columns).limit(limit).timeout(10_000);
  if (named !== null) {
    const name = indexable(named);
    query.where((either) =>
      either
        .where('reference', name)
        .orWhere('receipt_no', name)
        // Ids are in capitals, however somebody typed one.
        .orWhere('transaction_id', name.toUpperCase()),
    );
  }
  if (searchTokens.length > 0) query.whereRaw('search_tokens @> ?::text[]', [[...searchTokens]]);
  if (merchantCode !== null) query.where('merchant_code', indexable(merchantCode));
  if (status !== null) query.where({ status });
  if (mode !== null) query.where({ mode });
  within(query, 'requested_at', requested);
  within(query, 'paid_at', paid);
  if (after)
    query.whereRaw('(requested_at, transaction_id) < (?, ?)', [after.requestedAt, after.transactionId]);
  return await query.orderBy([
    { column: 'requested_at', order: 'desc' },
    { column: 'transaction_id', order: 'desc' },
  ]);
}
