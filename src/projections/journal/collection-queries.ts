/**
 * What an agency collected on a Malaysian day: the receipts with that value date. Read from the journal's own postings,
 * so that statements always agree with the books.
 */
import { pagesOf } from '@ledger/kernel/pages.ts';
import type { Knex } from 'knex';
import { boundsOfDay } from '../../common/malaysian-time.ts';
import type { Sen } from '../../common/money.ts';
import type { PaymentMode } from '../../common/payment-modes.ts';
import { sqlOf } from '../../common/sql.ts';
import type { EntryKind } from '../../events/postings.ts';
import { journal } from './projection.ts';
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

/** The first line of a payment's entry is the gateway's, the second the merchant's; the difference is the fee. */
const receipts = `
  from ${journal.name}.postings merchant
  join ${journal.name}.postings gateway
    on gateway.transaction_id = merchant.transaction_id and gateway.revision = merchant.revision and gateway.line = 1
  where merchant.kind = 'payment' and merchant.line = 2 and merchant.account = :account
    and merchant.value_at >= :start and merchant.value_at < :end and merchant.at <= :asOf`;
const method = `substr(gateway.account, length('gateway:') + 1) as method`;

function bindingsOf({ merchantCode, day, asOf }: Collection) {
  const bounds = boundsOfDay(day);
  if (!bounds) throw new RangeError('A day reads YYYY-MM-DD');
  return { account: merchantAccount(merchantCode), ...bounds, asOf };
}

/** A page of the day's receipts in the order in which they were paid: at most `limit`, those after `after`. */
export async function collectionPage(
  db: Knex,
  collection: Collection,
  { after, limit }: { after: Pick<CollectedReceipt, 'paidAt' | 'transactionId'> | null; limit: number },
): Promise<CollectedReceipt[]> {
  const next = after ? 'and (merchant.value_at, merchant.transaction_id) > (:paidAt, :transactionId)' : '';
  const { rows } = await db.raw<{ rows: CollectedReceipt[] }>(
    sqlOf('collected-receipts', { receipts, next }),
    { ...bindingsOf(collection), ...after, limit },
  );
  return rows;
}

/** All receipts of the day, with one page in memory at a time. */
export async function* collectedReceipts(
  db: Knex,
  collection: Collection,
): AsyncGenerator<CollectedReceipt, void, void> {
  const limit = 1_000;
  const load = (after: CollectedReceipt | null) => collectionPage(db, collection, { after, limit });
  for await (const page of pagesOf(limit, load)) yield* page;
}

/** The day's totals by method, in the order of their names. */
export async function collectionTotals(db: Knex, collection: Collection): Promise<MethodTotal[]> {
  const { rows } = await db.raw<{
    rows: (Pick<MethodTotal, 'method' | 'receipts'> & Record<'amount' | 'fee', string>)[];
  }>(
    `select ${method}, count(*) as receipts, sum(merchant.credit_sen)::text as amount,
       sum(gateway.debit_sen - merchant.credit_sen)::text as fee
     ${receipts}
     group by gateway.account order by gateway.account`,
    bindingsOf(collection),
  );
  return rows.map(({ amount, fee, ...row }) => ({
    ...row,
    amountSen: BigInt(amount),
    chargeSen: BigInt(fee),
  }));
}

/** Credits less debits of the agency's account, by what the day's statement, its account of the day, or both have. */
export type PartOfDay = { kind: EntryKind; isCollected: boolean; isRecorded: boolean; sumSen: bigint };

/** What explains the difference between the two. */
export async function accountOfDay(db: Knex, collection: Collection): Promise<PartOfDay[]> {
  const { rows } = await db.raw<{ rows: PartOfDay[] }>(sqlOf('account-of-day'), bindingsOf(collection));
  return rows.map(({ sumSen, ...part }) => ({ ...part, sumSen: BigInt(sumSen) }));
}
