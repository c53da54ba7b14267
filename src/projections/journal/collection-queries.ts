/**
 * What an agency collected on a Malaysian day: the receipts with that value date. Read from the journal's own postings,
 * so that statements always agree with the books.
 */
import { rowsOf } from '@ledger/kernel/pages.ts';
import { type Listed, type ListPage, readPage } from '@ledger/postgres/listing.ts';
import type { Knex } from 'knex';
import lists from '../../../content/tables/lists.json' with { type: 'json' };
import { boundsOfDay } from '../../common/malaysian-time.ts';
import type { Sen } from '../../common/money.ts';
import type { PaymentMode } from '../../common/payment-modes.ts';
import { sqlOf } from '../../common/sql.ts';
import type { EntryKind } from '../../events/postings.ts';
import { merchantAccount } from './queries.ts';

export type Collection = {
  merchantCode: string;
  /** `YYYY-MM-DD`, Malaysian. */
  day: string;
  /** What was recorded after this is left out. */
  asOf: Date;
};

export type CollectedReceipt = {
  transactionId: string;
  receiptNo: string;
  /** The merchant's own. */
  reference: string;
  method: PaymentMode | 'unknown';
  /** The merchant's. */
  amountSen: Sen;
  /** What the payer paid on top. */
  chargeSen: Sen;
  /** When it was paid: the bank's time where it gave one. */
  paidAt: Date;
  recordedAt: Date;
  /** Recorded after the day had ended: a statement made at its end does not include it. */
  isLate: boolean;
};

export type MethodTotal = {
  method: CollectedReceipt['method'];
  receipts: number;
  amountSen: bigint;
  chargeSen: bigint;
};

function bindingsOf({ merchantCode, day, asOf }: Collection) {
  const bounds = boundsOfDay(day);
  if (!bounds) throw new RangeError('A day reads YYYY-MM-DD');
  return { account: merchantAccount(merchantCode), ...bounds, asOf };
}

const receiptsOf = (db: Knex, collection: Collection) =>
  db.from(db.raw(`(${sqlOf('collected-receipts')}) as receipts`, bindingsOf(collection)));

/** A page of the day's receipts in the order in which they were paid. */
export const collectionPage = (db: Knex, collection: Collection, page: ListPage) =>
  readPage<CollectedReceipt>(db, receiptsOf(db, collection), lists.collectedReceipts, {
    ...page,
    sort: 'paid',
  });

const receiptsInMemory = 1_000;

/** All receipts of the day, with one page in memory at a time. */
export const collectedReceipts = (db: Knex, collection: Collection) =>
  rowsOf<Listed<CollectedReceipt>>(receiptsInMemory, (after) =>
    collectionPage(db, collection, { after, limit: receiptsInMemory }),
  );

/** The day's totals by method, in the order of their names. */
export async function collectionTotals(db: Knex, collection: Collection): Promise<MethodTotal[]> {
  const sums = {
    receipts: db.raw('count(*)'),
    amount: db.raw('sum(amount_sen)::text'),
    fee: db.raw('sum(charge_sen)::text'),
  };
  const rows = await receiptsOf(db, collection).select('method', sums).groupBy('method').orderBy('method');
  return rows.map(({ amount, fee, ...row }) => ({
    ...row,
    amountSen: BigInt(amount),
    chargeSen: BigInt(fee),
  }));
}

/** Credits less debits of the agency's account, by what the day's statement, its account of the day, or both have. */
type PartOfDay = { kind: EntryKind; isCollected: boolean; isRecorded: boolean; sumSen: bigint };

/** What explains the difference between the two. */
export async function accountOfDay(db: Knex, collection: Collection): Promise<PartOfDay[]> {
  const { rows } = await db.raw<{ rows: PartOfDay[] }>(sqlOf('account-of-day'), bindingsOf(collection));
  return rows.map(({ sumSen, ...part }) => ({ ...part, sumSen: BigInt(sumSen) }));
}
