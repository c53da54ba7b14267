/**
 * The journal: double-entry bookkeeping in sen, made from payments' events by the rule in events/postings.ts. A row per
 * posting, never changed; the sums of each account and day, for quick balances; and the books of each payment, on which
 * its next entries depend.
 */
import type { Knex } from 'knex';
import { approvalEvents } from '../../events/approvals.ts';
import { readPaymentEvent } from '../../events/codec.ts';
import { deliveryEvents } from '../../events/deliveries.ts';
import { paymentIdOf, paymentStreamPrefix } from '../../events/payment.ts';
import { type Books, type Entry, enter } from '../../events/postings.ts';
import { requeryEvents } from '../../events/requery.ts';
import { sharedNumberStreamPrefix } from '../../events/shared-number.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { dayOf } from '../../kernel/malaysian-time.ts';
import { createTables, givenRows, indexable, type Row, type Table, upsert } from '../../postgres/table.ts';
import { type Projection, ProjectionFault } from '../runtime/projection.ts';
import {
  type Claim,
  claimsOf,
  sharedNumberIndexes,
  sharedNumberTables,
  writeClaims,
  writeExplanations,
} from './shared-numbers.ts';

const postingsTable = {
  name: 'postings',
  columns: {
    transaction_id: 'text not null',
    revision: 'integer not null',
    line: 'integer not null',
    kind: 'text not null',
    account: 'text not null',
    merchant_code: 'text not null',
    debit_sen: 'bigint not null check (debit_sen >= 0)',
    credit_sen: 'bigint not null check (credit_sen >= 0)',
    at: 'timestamptz not null',
    value_at: 'timestamptz not null',
  },
  primaryKey: ['transaction_id', 'revision', 'line'],
} satisfies Table;

const dailySumsTable: Table = {
  name: 'daily_sums',
  // Sums outgrow 64 bits sooner than single amounts.
  columns: {
    account: 'text not null',
    day: 'date not null',
    debit_sen: 'numeric not null',
    credit_sen: 'numeric not null',
  },
  primaryKey: ['account', 'day'],
};

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
  version: 4,
  streamPrefixes: [paymentStreamPrefix, sharedNumberStreamPrefix],

  createTables: (db) => createTables(db, postingsTable, dailySumsTable, booksTable, ...sharedNumberTables),
  indexes: [
    'postings_by_account on postings (account, at, transaction_id, revision, line)',
    `receipts_by_value on postings (account, value_at, transaction_id) where kind = 'payment' and line = 2`,
    ...sharedNumberIndexes,
  ],

  async project(events, db) {
    const ofPayments = events.filter(({ streamName }) => streamName.startsWith(paymentStreamPrefix));
    await project(
      ofPayments.filter(({ type }) => !postsNothing.has(type)),
      db,
    );
    await writeExplanations(
      events.filter((event) => !ofPayments.includes(event)),
      db,
    );
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
  if (postings.length > 0) await db.raw(insertPostings, [JSON.stringify(postings)]);
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

type PostingRow = Row<keyof typeof postingsTable.columns | 'day'>;

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

const postingColumns = Object.keys(postingsTable.columns).join(', ');

// A posting that exists already is refused, because it would count twice in the sums.
const insertPostings = `
  with added as materialized (
    select * from ${givenRows({ ...postingsTable.columns, day: 'date' })}
  ),
  inserted as (
    insert into postings (${postingColumns}) select ${postingColumns} from added
  )
  insert into daily_sums
  select account, day, sum(debit_sen), sum(credit_sen) from added group by account, day
  on conflict (account, day) do update set
    debit_sen = daily_sums.debit_sen + excluded.debit_sen,
    credit_sen = daily_sums.credit_sen + excluded.credit_sen`;
