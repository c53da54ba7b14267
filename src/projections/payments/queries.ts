/** Queries on the projection `payments`. They reject within a few seconds when Postgres is down. */
import { pagesOf } from '@ledger/kernel/pages.ts';
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { unlessUndefined } from '@ledger/postgres/error-codes.ts';
import { indexable, matching, type TimeSpan, within } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { Sen } from '../../common/money.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import type { Standing } from '../../events/payment-standing.ts';
import type { Scope } from '../../events/user.ts';
import { payments } from './projection.ts';
import { macOf } from './row-mac.ts';
import { type FoundPayment, searchPayments } from './search.ts';

/** A payment as far as it has been projected. `updatedAt` is the time of its last event, by the event store's clock. */
export type PaymentRow = { revision: number; state: RequestedPayment; updatedAt: Date };

type StoredRow = Pick<PaymentRow, 'revision' | 'state'> & { transaction_id: string; mac: string };

const rows = (db: Knex) => db(`${payments.name}.payments`);

export type PaymentQueries = ReturnType<typeof createPaymentQueries>;

/** They read rows, which may lag. `onForged` is told of a payment whose row is not what the projection wrote. */
export function createPaymentQueries(
  db: Knex,
  personalData: Pick<PersonalDataReader, 'blindIndex'>,
  onForged: (transactionId: string) => Promise<void>,
) {
  /** The state of a row; null if somebody has changed it. */
  async function genuine({ transaction_id: id, revision, state, mac }: StoredRow) {
    if (mac === (await macOf({ id, revision, state }, personalData))) return state;
    await onForged(id);
    return null;
  }

  return {
    /** Null when there is no row (yet), or somebody has changed it. In both cases, and when it rejects, read the stream. */
    async findPayment(transactionId: string): Promise<PaymentRow | null> {
      const query = rows(db).where('transaction_id', transactionId).first();
      const row: (StoredRow & { updated_at: Date }) | undefined = await query.timeout(2_000);
      // Until the projections of this release have made the tables, there is no MAC.
      if (row?.mac === undefined) return null;
      const state = await genuine(row);
      return state && { revision: row.revision, state, updatedAt: row.updated_at };
    },

    /** See `pageOfMerchant`. The state is null if somebody has changed the row: read the stream. */
    async findOfMerchant(filter: MerchantFilter, page: { limit: number; after: string | null }) {
      const found = await pageOfMerchant(db, filter, page);
      if (!found) return null;
      const states = found.rows.map(async (row) => ({
        transactionId: row.transaction_id,
        state: await genuine(row),
      }));
      return { rows: await Promise.all(states), nextAfter: found.nextAfter };
    },

    /**
     * Ids of the payments with this receipt number, the latest first. Gateways give the numbers, so several payments
     * may have the same; when a gateway gives all of them the same, the search ends after 1,000.
     */
    async findByReceiptNo(receiptNo: string): Promise<string[]> {
      const query = rows(db).where('receipt_no', indexable(receiptNo)).orderBy('requested_at', 'desc');
      return await query.limit(1_000).pluck('transaction_id').timeout(2_000);
    },

    /** The latest payments of the generic channel, newest first. */
    latestPayments: (): Promise<FoundPayment[]> =>
      searchPayments(db, { channel: 'generic' }, { limit: 20, after: null }),
  };
}

/** Payments of the generic channel; null, or an empty list, means all. */
type MerchantFilter = {
  merchantCode: string;
  reference: string | null;
  statuses: readonly Standing[];
  amountSen: Sen | null;
  requested: TimeSpan;
};

/** How many payments are read for one page at most. With a narrow filter, a page may therefore be short. */
const maxScanned = 10_000;

const order = 'requested_at desc, transaction_id desc';

/**
 * A page of rows, the latest requested first, and the id after which the next page begins; null if there is none. Null
 * instead of a page if the payment `after` is not the merchant's. Rejects within a few seconds when Postgres is down.
 */
async function pageOfMerchant(
  db: Knex,
  { merchantCode, reference, statuses, amountSen, requested }: MerchantFilter,
  { limit, after }: { limit: number; after: string | null },
): Promise<{ rows: StoredRow[]; nextAfter: string | null } | null> {
  const own = () => rows(db).where({ channel: 'generic', merchant_code: indexable(merchantCode) });
  const scanned = own().orderByRaw(order).limit(maxScanned);
  within(scanned, 'requested_at', requested);
  matching(scanned, { reference });
  if (after !== null) {
    const last: { requested_at: Date } | undefined = await own()
      .where('transaction_id', after)
      .first('requested_at')
      .timeout(5_000);
    if (!last) return null;
    scanned.whereRaw('(requested_at, transaction_id) < (?, ?)', [last.requested_at, after]);
  }
  const query = db.from(scanned.clone().as('scanned')).select('transaction_id', 'revision', 'state', 'mac');
  if (statuses.length > 0) query.whereIn('status', statuses);
  if (amountSen !== null) query.where('amount_sen', amountSen);
  // One more than requested shows whether another page follows.
  query.orderByRaw(order).limit(limit + 1);
  const found: StoredRow[] = await query.timeout(5_000);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (last && found.length > limit) return { rows: page, nextAfter: last.transaction_id };
  const end: string[] = await scanned
    .offset(maxScanned - 1)
    .limit(1)
    .pluck('transaction_id')
    .timeout(5_000);
  // New payments may have moved that end upwards, past payments that are on this page.
  return { rows: page, nextAfter: end[0] ? (last?.transaction_id ?? end[0]) : null };
}

/**
 * Ids of at most `limit` payments that hold personal data and on which nothing has happened since `before`, in order,
 * from after the id `after`; with `again`, only those that were erased before. A row may be behind its stream.
 */
export async function findHolding(
  db: Knex,
  { before, again, after, limit }: { before: Date; again: boolean; after: string; limit: number },
): Promise<string[]> {
  const query = rows(db).where({ holds_personal_data: true }).where('updated_at', '<', before);
  if (again) query.where({ was_erased: true });
  query.whereRaw('transaction_id collate "C" > ?', [after]).orderByRaw('transaction_id collate "C"');
  return await unlessUndefined(query.limit(limit).pluck('transaction_id').timeout(10_000), []);
}

/** Those of the payments whose personal data were erased. */
export async function findErased(db: Knex, ids: readonly string[]): Promise<Set<string>> {
  const query = rows(db).whereIn('transaction_id', ids).where({ was_erased: true });
  return new Set<string>(await unlessUndefined(query.pluck('transaction_id').timeout(5_000), []));
}

/** Ids of at most `limit` unpaid payments that have expired by a time, in order, from after the id `after`. */
export async function findExpired(
  db: Knex,
  { by, after, limit }: { by: Date; after: string; limit: number },
): Promise<string[]> {
  const query = rows(db).where('expires_at', '<=', by).whereRaw('transaction_id collate "C" > ?', [after]);
  query.orderByRaw('transaction_id collate "C"').limit(limit);
  return await unlessUndefined(query.pluck('transaction_id').timeout(10_000), []);
}

const pageSize = 500;

/**
 * Pages of the ids of payments requested in a span, of one merchant or of all (null), in order of request, then of id.
 * Each page is a query of its own, so memory use stays constant and no transaction is held open.
 */
export async function* paymentsInOrder(
  db: Knex,
  { span, merchantCode, scope }: { span: TimeSpan; merchantCode: string | null; scope: Scope },
): AsyncGenerator<string[]> {
  const order = 'requested_at, transaction_id collate "C"';
  const load = async (last: { transaction_id: string; requested_at: Date } | null) => {
    const query = rows(db).select('transaction_id', 'requested_at').orderByRaw(order).limit(pageSize);
    within(query, 'requested_at', span);
    matching(query, { merchant_code: merchantCode });
    if (scope) query.whereIn('merchant_code', scope);
    if (last) query.whereRaw(`(${order}) > (?, ?)`, [last.requested_at, last.transaction_id]);
    return await query;
  };
  for await (const page of pagesOf(pageSize, load)) yield page.map(({ transaction_id }) => transaction_id);
}
