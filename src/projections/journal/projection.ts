/**
 * The journal: double-entry bookkeeping in sen, made from payments' events by the rule in events/postings.ts, and from
 * those of settlements. A row per posting, never changed; the sums of each account and day, for quick balances; and the
 * books of each payment, on which its next entries depend.
 */
import type { Knex } from 'knex';
import { approvalEvents } from '../../events/approvals.ts';
import { readPaymentEvent } from '../../events/codec.ts';
import { deliveryEvents } from '../../events/deliveries.ts';
import { paymentIdOf, paymentStreamPrefix } from '../../events/payment.ts';
import { type Books, type Entry, enter } from '../../events/postings.ts';
import { requeryEvents } from '../../events/requery.ts';
import { settlementStreamPrefix } from '../../events/settlement.ts';
import { sharedNumberStreamPrefix } from '../../events/shared-number.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { dayOf } from '../../kernel/malaysian-time.ts';
import { createTables, indexable, type Table, upsert } from '../../postgres/table.ts';
import { type Projection, ProjectionFault } from '../runtime/projection.ts';
import { dailySumsTable, insertPostings, type PostingRow, postingsTable } from './postings-table.ts';
import { linesByCharge, settlementIndexes, settlementTables, writeSettlements } from './settlements.ts';
import {
  type Claim,
  claimsOf,
  sharedNumberIndexes,
  sharedNumberTables,
  writeClaims,
  writeExplanations,
} from './shared-numbers.ts';

const booksTable = {
  name: 'books',
  // json for the reasons given in runtime/stream-projection.ts.
  columns: {
    transaction_id: 'text',
    revision: 'integer not null',
    reference: 'text not null',
    receipt_no: 'text not null',
    state: 'json not null',
  },
  primaryKey: ['transaction_id'],
} satisfies Table;

export const journal: Projection = {
  name: 'journal',
  version: 5,
  streamPrefixes: [paymentStreamPrefix, sharedNumberStreamPrefix, settlementStreamPrefix],

  async createTables(db) {
    const own = [postingsTable, dailySumsTable, booksTable];
    await createTables(db, ...own, ...sharedNumberTables, ...settlementTables);
    await db.raw(linesByCharge);
  },
  indexes: [
    'postings_by_account on postings (account, at, transaction_id, revision, line)',
    `receipts_by_value on postings (account, value_at, transaction_id) where kind = 'payment' and line = 2`,
    ...sharedNumberIndexes,
    ...settlementIndexes,
  ],

  async project(events, db) {
    const of = (prefix: string) => events.filter(({ streamName }) => streamName.startsWith(prefix));
    await project(
      of(paymentStreamPrefix).filter(({ type }) => !postsNothing.has(type)),
      db,
    );
    await writeSettlements(of(settlementStreamPrefix), db);
    await writeExplanations(of(sharedNumberStreamPrefix), db);
  },
};

async function project(relevant: readonly RecordedEvent[], db: Knex.Transaction): Promise<void> {
  if (relevant.length === 0) return;
  const ids = new Set(relevant.map(({ streamName }) => paymentIdOf(streamName)));
  const { rows } = await db.raw<{ rows: Folded[] }>(
    `select transaction_id as "transactionId", revision, reference, receipt_no as "receiptNo", state
       from books where transaction_id = any(?)`,
    [[...ids]],
  );
  const { changed, postings, claims } = fold(rows, relevant);
  await upsert(db, booksTable, changed.map(rowOf), ['revision', 'receipt_no', 'state']);
  await insertPostings(db, postings);
  await writeClaims(claims, db);
}

/** Types that no entry depends on. Any other unknown type halts the projection: it may be about money. */
const postsNothing: ReadonlySet<string> = new Set(
  Object.keys({ ...approvalEvents, ...deliveryEvents, ...requeryEvents }),
);

type Folded = {
  transactionId: string;
  /** Of the last event that was entered. */
  revision: number;
  reference: string;
  receiptNo: string;
  state: Books;
};

/** The changes to the books, the postings, and the numbers that events gave to payments. Skips an event that the books already contain. */
function fold(rows: readonly Folded[], events: readonly RecordedEvent[]) {
  const stored = new Map(rows.map((row) => [row.transactionId, row]));
  const changed = new Map<string, Folded>();
  const postings: PostingRow[] = [];
  const claims: Claim[] = [];
  for (const recorded of events) {
    const transactionId = paymentIdOf(recorded.streamName);
    const { revision } = recorded;
    const before = changed.get(transactionId) ?? stored.get(transactionId) ?? null;
    if (before && revision <= before.revision) continue;
    const event = readPaymentEvent(recorded);
    const { books, entry } = enter(before?.state ?? null, event);
    if (books === null) throw new ProjectionFault('The stream does not begin with the event that creates it');
    // No entry depends on these two.
    let { reference, receiptNo } = before ?? { reference: '', receiptNo: '' };
    if (event.type === 'PaymentRequested' && !before) reference = event.data.reference;
    if ('receiptNo' in event.data && books.isPaid && !before?.state.isPaid) receiptNo = event.data.receiptNo;
    changed.set(transactionId, { transactionId, revision, reference, receiptNo, state: books });
    claims.push(...claimsOf(event, { transactionId, books, isFirstSuccess: !before?.state.isPaid }));
    if (entry) postings.push(...rowsOf(entry, { transactionId, revision, books, at: event.data.at }));
  }
  return { changed: [...changed.values()], postings, claims };
}

function rowsOf(
  { kind, valueAt, postings }: Entry,
  event: { transactionId: string; revision: number; books: Books; at: string },
): PostingRow[] {
  return postings.map(({ account, debitSen, creditSen }, index) => ({
    transaction_id: event.transactionId,
    revision: event.revision,
    line: index + 1,
    kind,
    account: indexable(account),
    merchant_code: indexable(event.books.merchantCode),
    debit_sen: String(debitSen),
    credit_sen: String(creditSen),
    at: event.at,
    // Postgres has no year 0, which a bank's clock may show.
    value_at: new Date(valueAt).getUTCFullYear() > 0 ? valueAt : event.at,
    day: dayOf(event.at),
    opened_on: null,
  }));
}

function rowOf({ transactionId, revision, reference, receiptNo, state }: Folded) {
  return {
    transaction_id: transactionId,
    revision,
    reference: indexable(reference),
    receipt_no: indexable(receiptNo),
    state: JSON.stringify(state),
  };
}
