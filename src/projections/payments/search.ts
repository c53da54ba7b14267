/** Searches for payments, by what people type and by filters. Rejects within a few seconds when Postgres is down. */
import { unlessUndefined } from '@ledger/postgres/error-codes.ts';
import { type ListPage, readPage } from '@ledger/postgres/listing.ts';
import { type AmountRange, between, matching, type TimeSpan, within } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import lists from '../../../content/tables/lists.json' with { type: 'json' };
import type { Sen } from '../../common/money.ts';
import type { PaymentMode } from '../../common/payment-modes.ts';
import type { Channel } from '../../events/payment.ts';
import type { Standing } from '../../events/payment-standing.ts';
import { payments } from './projection.ts';
import { whereFound } from './search-keys.ts';

/** Null, or an empty list, means all. */
export type PaymentFilter = {
  ids?: readonly string[] | null;
  /** A transaction id, a number of a receipt, of the gateway or of an order, or any part of the merchant's reference. */
  named?: string | null;
  /** One of each of these is among the payer's search tokens (search-tokens.ts), as the blind index has them. */
  searchTokens?: readonly string[][];
  channel?: Channel | null;
  merchantCode?: string | null;
  status?: Standing | null;
  /** The mode of the current result, or else of the last attempt. */
  mode?: PaymentMode | null;
  requested?: TimeSpan | null;
  paid?: TimeSpan | null;
  amounts?: AmountRange;
};

/** Says nothing about the payer. */
export type FoundPayment = {
  transactionId: string;
  channel: Channel;
  merchantCode: string;
  reference: string;
  status: Standing;
  mode: PaymentMode | '';
  amountSen: Sen;
  receiptNo: string | null;
  requestedAt: Date;
  /** Whether it has an open exception. */
  isWaiting: boolean;
};

/** The latest requested first. */
export const searchPayments = async (db: Knex, filter: PaymentFilter, page: ListPage) =>
  await readPage<FoundPayment>(db, paymentsOf(db, await narrowed(db, filter)), lists.payments, page);

const few = 1_000;

/**
 * The same filter with ids in place of what is searched for, unless they are many. PostgreSQL cannot estimate how many
 * payments have some keys: where it expects many, it searches in the order of the page, at worst through the whole
 * table.
 */
export async function narrowed(db: Knex, filter: PaymentFilter): Promise<PaymentFilter> {
  const { named = null, searchTokens = [] } = filter;
  if (named === null && searchTokens.length === 0) return filter;
  const found = paymentsOf(db, { named, searchTokens }).limit(few + 1);
  const ids = await unlessUndefined(found.pluck('transaction_id').timeout(10_000), []);
  return ids.length > few ? filter : { ...filter, ids, named: null, searchTokens: [] };
}

export function paymentsOf(db: Knex, filter: PaymentFilter): Knex.QueryBuilder {
  const { channel, ids = null, merchantCode, mode, named = null, searchTokens = [], status } = filter;
  const query = db(`${payments.name}.payments`);
  if (ids !== null) query.whereRaw('transaction_id = any(?)', [[...ids]]);
  if (named !== null) whereFound(query, named);
  if (searchTokens.length > 0) {
    const payers = db(`${payments.name}.payers`).select('transaction_id');
    for (const spellings of searchTokens) payers.whereRaw('tokens && ?::text[]', [spellings]);
    query.whereIn('transaction_id', payers);
  }
  matching(query, { channel, merchant_code: merchantCode, status, mode });
  between(query, 'amount_sen', filter.amounts);
  within(query, 'requested_at', filter.requested);
  within(query, 'paid_at', filter.paid);
  return query;
}
