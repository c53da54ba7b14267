/** How staff find payments: by what is on a receipt or in a complaint, or by what they have in common. */
import type { Knex } from 'knex';
import type { Channel, PaymentStatus } from '../../events/payment.ts';
import type { Sen } from '../../kernel/money.ts';
import type { PaymentMode } from '../../kernel/payment-modes.ts';
import { indexable } from '../../postgres/indexable.ts';
import { type TimeSpan, within } from '../../postgres/time-span.ts';
import { payments } from './projection.ts';

/** Null, or no token, is all. */
export type PaymentFilter = {
  /** A merchant's reference, a transaction id or a receipt number, exactly. */
  named: string | null;
  /** All of these are among the payer's, see search-tokens.ts. */
  searchTokens: readonly string[];
  merchantCode: string | null;
  status: PaymentStatus | null;
  /** Of the current result, or else of the last attempt. */
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

/** Says nothing about the payer. */
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

/** The latest requested first. Rejects within a few seconds when Postgres is down. */
export async function searchPayments(
  db: Knex,
  { named, searchTokens, merchantCode, status, mode, requested, paid }: PaymentFilter,
  { limit, after }: { limit: number; after: PaymentKey | null },
): Promise<FoundPayment[]> {
  const query = db(`${payments.name}.payments`).limit(limit).timeout(10_000);
  if (named !== null) {
    const name = indexable(named);
    // Ids are in capitals, however somebody typed one.
    const ids = { reference: name, receipt_no: name, transaction_id: name.toUpperCase() };
    query.where((either) => {
      for (const [column, value] of Object.entries(ids)) either.orWhere(column, value);
    });
  }
  if (searchTokens.length > 0) query.whereRaw('search_tokens @> ?::text[]', [[...searchTokens]]);
  if (merchantCode !== null) query.where('merchant_code', indexable(merchantCode));
  if (status !== null) query.where({ status });
  if (mode !== null) query.where({ mode });
  within(query, 'requested_at', requested);
  within(query, 'paid_at', paid);
  if (after)
    query.whereRaw('(requested_at, transaction_id) < (?, ?)', [after.requestedAt, after.transactionId]);
  return await query
    .orderByRaw('requested_at desc, transaction_id desc')
    .select('channel', 'reference', 'status', 'mode', {
      transactionId: 'transaction_id',
      merchantCode: 'merchant_code',
      amountSen: 'amount_sen',
      receiptNo: 'receipt_no',
      requestedAt: 'requested_at',
    });
}
