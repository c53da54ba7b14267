/**
 * The journal: double-entry bookkeeping in sen, made from payments' events by the rule in events/postings.ts, and from
 * those of settlements. A row per posting, never changed; the sums of each account and day, for quick balances; and the
 * books of each payment and settlement, on which its next entries depend. Also which charges each payout in effect has.
 */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { createTables, givenRows, indexable, indexesOf, type Row, upsert } from '@ledger/postgres/table.ts';
import { type Projection, ProjectionFault } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import tables from '../../../content/tables/journal.json' with { type: 'json' };
import { dayOf } from '../../common/malaysian-time.ts';
import { sqlOf } from '../../common/sql.ts';
import { paymentIdOf, paymentStreamPrefix, readPaymentEvent } from '../../events/payment.ts';
import { type Books, type Entry, enter, type Posting, sideEvents } from '../../events/postings.ts';
import { chargesIn, enterSettlement, type Settlement, settlementFold } from '../../events/settlement.ts';
import { sharedNumberFold } from '../../events/shared-number.ts';
import { type Claim, claimsOf, writeClaims, writeExplanations } from './shared-numbers.ts';

const { postings: postingsTable, books: booksTable, paidOut: paidOutTable } = tables;

export const journal: Projection = {
  name: 'journal',
  version: 9,
  streamPrefixes: [paymentStreamPrefix, sharedNumberFold.prefix, settlementFold.prefix],

  createTables: (db) => createTables(db, ...Object.values(tables)),
  indexes: indexesOf(...Object.values(tables)),

  async project(events, db) {
    const isExplanation = ({ streamName }: RecordedEvent) => streamName.startsWith(sharedNumberFold.prefix);
    // Side events are not even read, so that one that cannot be read parks no payment.
    await project(
      events.filter((event) => !isExplanation(event) && !Object.hasOwn(sideEvents, event.type)),
      db,
    );
    await writeExplanations(events.filter(isExplanation), db);
  },
};

async function project(relevant: readonly RecordedEvent[], db: Knex.Transaction): Promise<void> {
  if (relevant.length === 0) return;
  const ids = new Set(relevant.map(({ streamName }) => idOf(streamName)));
  const { rows } = await prepared<{ rows: Folded[] }>(
    db,
    `select transaction_id as "transactionId", revision, reference, receipt_no as "receiptNo", state, opened
       from books where transaction_id = any(?)`,
    [[...ids]],
  );
  const { changed, postings, claims, paidOut } = fold(rows, relevant);
  const updated = ['revision', 'reference', 'receipt_no', 'state', 'opened'] as const;
  await upsert(db, booksTable, changed.map(rowOf), updated);
  if (postings.length > 0) await prepared(db, insertPostings, [JSON.stringify(postings)]);
  await writeClaims(claims, db);
  if (paidOut.size > 0) await writePaidOut(paidOut, db);
}

/** What each settlement that changed has paid out: nothing once it is reversed. */
type PaidOut = Map<string, readonly string[]>;

async function writePaidOut(paidOut: PaidOut, db: Knex.Transaction): Promise<void> {
  await prepared(db, 'delete from paid_out where settlement_id = any(?)', [[...paidOut.keys()]]);
  const rows = [...paidOut].flatMap(([id, charges]) =>
    charges.map((charge) => ({ settlement_id: id, charge })),
  );
  await upsert(db, paidOutTable, rows);
}

const isSettlement = (streamName: string) => streamName.startsWith(settlementFold.prefix);

/** The id of a payment or of a settlement. */
const idOf = (streamName: string) =>
  isSettlement(streamName) ? streamName.slice(settlementFold.prefix.length) : paymentIdOf(streamName);

type Folded = {
  transactionId: string;
  /** The revision of the last event that was entered. */
  revision: number;
  reference: string;
  receiptNo: string;
  state: Books | Settlement;
  /** The days on which money came: the last one by account, and by account and amount. */
  opened: Readonly<Record<string, string>>;
};

/** How the events change the books, what they post, and the numbers they claim. Skips what the books contain. */
function fold(rows: readonly Folded[], events: readonly RecordedEvent[]) {
  const stored = new Map(rows.map((row) => [row.transactionId, row]));
  const changed = new Map<string, Folded>();
  const postings: PostingRow[] = [];
  const claims: Claim[] = [];
  const paidOut: PaidOut = new Map();
  for (const recorded of events) {
    const transactionId = idOf(recorded.streamName);
    const { revision } = recorded;
    const before = changed.get(transactionId) ?? stored.get(transactionId) ?? null;
    if (before && revision <= before.revision) continue;
    const step = isSettlement(recorded.streamName)
      ? takeSettlement(before, recorded)
      : takePayment(before, recorded);
    const { reference, receiptNo, state } = step;
    const opened = { ...before?.opened };
    if (step.entry) postings.push(...rowsOf(step.entry, { ...step, transactionId, revision }, opened));
    changed.set(transactionId, { transactionId, revision, reference, receiptNo, state, opened });
    claims.push(...step.claims);
    if (step.paidOut) paidOut.set(transactionId, step.paidOut);
  }
  return { changed: [...changed.values()], postings, claims, paidOut };
}

// The casts of states are safe: the streams of payments and of settlements have different ids.
function takePayment(before: Folded | null, recorded: RecordedEvent) {
  const transactionId = idOf(recorded.streamName);
  const event = readPaymentEvent(recorded);
  const last = before && (before.state as Books);
  const { books, entry } = enter(last, event);
  if (books === null) throw new ProjectionFault('The stream does not begin with the event that creates it');
  // No entry depends on these two.
  let { reference, receiptNo } = before ?? { reference: '', receiptNo: '' };
  if (event.type === 'PaymentRequested' && !before) reference = event.data.reference;
  if ('receiptNo' in event.data && books.isPaid && !last?.isPaid) receiptNo = event.data.receiptNo;
  const claims = claimsOf(event, { transactionId, revision: recorded.revision, books });
  const { merchantCode } = books;
  return {
    state: books,
    reference,
    receiptNo,
    merchantCode,
    entry,
    at: event.data.at,
    claims,
    paidOut: null,
  };
}

function takeSettlement(before: Folded | null, recorded: RecordedEvent) {
  const event = settlementFold.read(recorded);
  const last = before ? (before.state as Settlement) : settlementFold.initial;
  const state = settlementFold.evolve(last, event);
  const entry = enterSettlement(last, event);
  const reference = state.recorded?.reference ?? '';
  const paidOut = event.type === 'SettlementRecorded' ? chargesIn(event.data) : [];
  const { at } = event.data;
  return { state, reference, receiptNo: '', merchantCode: '', entry, at, claims: [], paidOut };
}

type PostingRow = Row<keyof typeof postingsTable.columns | 'day'>;

/** Adds to `opened` what the entry brings. */
function rowsOf(
  { kind, postings, valueAt }: Entry,
  event: { transactionId: string; revision: number; merchantCode: string; at: string },
  opened: Record<string, string>,
): PostingRow[] {
  const day = dayOf(event.at);
  /** What takes money out is about the last posting of its payment that brought as much, else about the last one. */
  const openedOn = ({ account, debitSen, creditSen }: Posting) => {
    const key = `${account} ${debitSen + creditSen}`;
    // The accounts of the gateway are debited when money comes, all others are credited. What an entry books to both
    // sides of an account, a credited wrong amount, came earlier.
    const isMoved = postings.filter((each) => each.account === account).length > 1;
    if (isMoved || account.startsWith('gateway:') !== debitSen > 0n)
      return opened[key] ?? opened[account] ?? day;
    opened[account] = day;
    opened[key] = day;
    return day;
  };
  return postings.map((posting, index) => ({
    transaction_id: event.transactionId,
    revision: event.revision,
    line: index + 1,
    kind,
    account: indexable(posting.account),
    merchant_code: indexable(event.merchantCode),
    debit_sen: String(posting.debitSen),
    credit_sen: String(posting.creditSen),
    at: event.at,
    // Postgres has no year 0, which a bank's clock may show.
    value_at: new Date(valueAt).getUTCFullYear() > 0 ? valueAt : event.at,
    day,
    opened_on: posting.openedOn === undefined ? openedOn(posting) : (posting.openedOn ?? 'infinity'),
  }));
}

function rowOf({ transactionId, revision, reference, receiptNo, state, opened }: Folded) {
  return {
    transaction_id: transactionId,
    revision,
    reference: indexable(reference),
    receipt_no: indexable(receiptNo),
    state: JSON.stringify(state),
    opened: JSON.stringify(opened),
  };
}

const insertPostings = sqlOf('insert-postings', {
  given: givenRows({ ...postingsTable.columns, day: 'date' }),
  columns: Object.keys(postingsTable.columns).join(', '),
});
