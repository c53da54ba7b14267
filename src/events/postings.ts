/**
 * A payment's events as double-entry bookkeeping: an event that moves money is an entry, whose debits equal its credits.
 * Which event posts what: content/docs/journal.md.
 */
import type { EventOf } from '@ledger/kernel/structs.ts';
import type { Sen } from '../common/money.ts';
import type { PaymentMode } from '../common/payment-modes.ts';
import { approvalEvents } from './approvals.ts';
import { deliveryEvents } from './deliveries.ts';
import type { Attempt, PaymentEvent, PaymentRequested } from './payment.ts';
import { attemptOf, orderOf, type PaymentResult } from './payment-result.ts';
import { identified, inferenceOf, type RecordedResult, ringgitOf, withChanged } from './recorded-result.ts';
import { requeryEvents } from './requery.ts';

type Method = PaymentMode | 'unknown';
type SuspenseAccount = 'suspense:mismatch' | 'suspense:duplicate';
/**
 * `gateway`: what the gateway owes us. `merchant`: what we owe a merchant. `charges`: the fees that payers paid on top.
 * `fees`: what the gateway kept of its payouts.
 */
export type Account =
  | `${'gateway' | 'charges' | 'fees'}:${Method}`
  | `merchant:${string}`
  | SuspenseAccount
  | 'bank';

/** One line of an entry; one of the two sides is zero. In a settlement, `openedOn` is the day of what it settles. */
export type Posting = { account: Account; debitSen: bigint; creditSen: bigint; openedOn?: string | null };

export type EntryKind =
  | 'payment'
  | 'mismatch'
  | 'duplicate'
  | 'refund'
  | 'credit'
  | 'reversal'
  | 'payout'
  | 'remittance'
  | 'settlementReversal';

export type Entry = {
  kind: EntryKind;
  /** The value date: the bank's time where it gave one, else when the event was recorded. */
  valueAt: string;
  postings: readonly Posting[];
};

/** What later entries depend on. It is plain JSON, and holds no personal data. */
export type Books = {
  merchantCode: string;
  amountSen: Sen;
  isPaid: boolean;
  attempts: readonly Pick<Attempt, 'mode' | 'chargeSen' | 'sellerOrderNo'>[];
  /** One for each of the payment's recorded results, in the same order. */
  results: readonly Pick<RecordedResult, 'gatewayTransactionId' | 'sellerOrderNo' | 'isOrderInferred'>[];
  /** Money in suspense, by the number of its result. */
  held: readonly InSuspense[];
  /** What staff credited from suspense under rule 2. */
  credited?: readonly InSuspense[];
  /** What credited wrong amounts have paid so far, under rule 3. */
  paidSen?: Sen;
};

type InSuspense = { resultNo: number; amountSen: Sen; gateway: Account; suspense: SuspenseAccount };

type Entered = { books: Books | null; entry: Entry | null };
type DataOf<Type extends PaymentEvent['type']> = Extract<PaymentEvent, { type: Type }>['data'];
type Suspended = DataOf<'AmountMismatchDetected' | 'DuplicatePaymentDetected'>;

/** Which accounts an event debits and credits. The event names its rule, and a rule never changes: add the next one. */
const rules = {
  1: { pay, toSuspense, settle },
  2: { pay, toSuspense, settle: settleOrTakeBack },
  3: { pay: payRest, toSuspense, settle: settleOrTakeBack, credit: creditMismatch, giveBack },
};
export const postingRule = 3 as const;

/** Events that move no money and on which no entry depends, by type. */
export const sideEvents = { ...approvalEvents, ...deliveryEvents, ...requeryEvents };

/** Takes the next event of a payment; `books` is null before its first. Total, and skips the same events as `evolve`. */
export function enter(books: Books | null, event: PaymentEvent): Entered {
  if (books === null)
    return { books: event.type === 'PaymentRequested' ? opened(event.data) : null, entry: null };
  switch (event.type) {
    case 'PaymentMethodChosen': {
      const { mode, chargeSen, sellerOrderNo } = event.data;
      const attempts = [...books.attempts, { mode, chargeSen, sellerOrderNo }];
      return { books: { ...books, attempts }, entry: null };
    }
    case 'PaymentSucceeded':
      return books.isPaid ? { books, entry: null } : rules[event.data.postingRule].pay(books, event.data);
    case 'PaymentFailed':
    case 'PaymentCancelled':
    case 'PaymentPending':
      return { books: books.isPaid ? books : withResult(books, event.data), entry: null };
    case 'AttemptEnded':
    case 'GatewayResultContradicted':
      return { books: withResult(books, event.data), entry: null };
    case 'AmountMismatchDetected':
      return rules[event.data.postingRule].toSuspense(books, event.data, 'mismatch');
    case 'DuplicatePaymentDetected':
      return rules[event.data.postingRule].toSuspense(books, event.data, 'duplicate');
    case 'GatewayResultIdentified': {
      const { data } = event;
      const results = withChanged(books.results, data.resultNo, (result) => identified(result, data));
      return { books: { ...books, results }, entry: null };
    }
    case 'ExceptionResolved':
      return rules[event.data.postingRule].settle(books, event.data);
    case 'AmountMismatchCredited':
      return rules[event.data.postingRule].credit(books, event.data);
    case 'PaymentReversed':
      return rules[event.data.postingRule].giveBack(books, event.data, 'reversal');
    case 'PaymentRefunded':
      return rules[event.data.postingRule].giveBack(books, event.data, 'refund');
    case 'PaymentRequested':
    case 'StaffNoteAdded':
    case 'PersonalDataErased':
      return { books, entry: null };
    default:
      event satisfies EventOf<typeof sideEvents>;
      return { books, entry: null };
  }
}

function opened({ merchant, amountSen }: PaymentRequested): Books {
  return { merchantCode: merchant.code, amountSen, isPaid: false, attempts: [], results: [], held: [] };
}

type Recorded = { orderNo: string | null; result: PaymentResult };

function withResult(books: Books, data: Recorded): Books {
  const { gatewayTransactionId } = data.result;
  const recorded = { gatewayTransactionId, sellerOrderNo: orderOf(books, data), ...inferenceOf(books, data) };
  return { ...books, results: [...books.results, recorded] };
}

// ── Rule 1 ───────────────────────────────────────────────────────────────────────────────────────────

function pay(
  books: Books,
  data: DataOf<'PaymentSucceeded'>,
  amountSen: bigint = BigInt(books.amountSen),
): Entered {
  const { at, result } = data;
  const method = methodOf(books, data);
  const chargeSen = BigInt(attemptOf(books, orderOf(books, data))?.chargeSen ?? 0);
  const postings = [
    debit(`gateway:${method}`, amountSen + chargeSen),
    credit(`merchant:${books.merchantCode}`, amountSen),
    ...(chargeSen > 0n ? [credit(`charges:${method}`, chargeSen)] : []),
  ];
  return {
    books: { ...withResult(books, data), isPaid: true },
    entry: { kind: 'payment', valueAt: result.paidAt ?? at, postings },
  };
}

/** The reported amount stays in suspense until staff settle it. One that is unreadable or not in MYR has no entry. */
function toSuspense(books: Books, data: Suspended, kind: 'mismatch' | 'duplicate'): Entered {
  const { at, result } = data;
  const next = withResult(books, data);
  const amountSen = ringgitOf(result);
  if (!amountSen) return { books: next, entry: null };
  const gateway: Account = `gateway:${methodOf(books, data)}`;
  const suspense: SuspenseAccount = `suspense:${kind}`;
  const held = [...books.held, { resultNo: next.results.length, amountSen, gateway, suspense }];
  const postings = [debit(gateway, BigInt(amountSen)), credit(suspense, BigInt(amountSen))];
  return { books: { ...next, held }, entry: { kind, valueAt: result.paidAt ?? at, postings } };
}

const settlements = {
  refunded: 'refund',
  credited: 'credit',
  explained: 'reversal',
  superseded: 'reversal',
} as const;

/** Settled money leaves suspense, so that suspense holds only what staff still have to settle. */
function settle(books: Books, { at, resultNo, resolution }: DataOf<'ExceptionResolved'>): Entered {
  const found = books.held.find((each) => each.resultNo === resultNo);
  if (!found) return { books, entry: null };
  const amountSen = BigInt(found.amountSen);
  // The gateway no longer owes us money that was refunded or never existed.
  const receiver: Account = resolution === 'credited' ? `merchant:${books.merchantCode}` : found.gateway;
  const postings = [debit(found.suspense, amountSen), credit(receiver, amountSen)];
  return {
    books: { ...books, held: books.held.filter((each) => each !== found) },
    entry: { kind: settlements[resolution], valueAt: at, postings },
  };
}

// ── Rule 2 ───────────────────────────────────────────────────────────────────────────────────────────

/** By rule 1. Money that was credited from suspense and is superseded goes back from the merchant. */
function settleOrTakeBack(books: Books, data: DataOf<'ExceptionResolved'>): Entered {
  const isIt = ({ resultNo }: InSuspense) => resultNo === data.resultNo;
  const credited = books.credited ?? [];
  const found = credited.find(isIt);
  if (found && data.resolution === 'superseded') {
    const amountSen = BigInt(found.amountSen);
    const postings = [debit(`merchant:${books.merchantCode}`, amountSen), credit(found.gateway, amountSen)];
    return {
      books: { ...books, credited: credited.filter((each) => each !== found) },
      entry: { kind: 'reversal', valueAt: data.at, postings },
    };
  }
  const settled = settle(books, data);
  const held = data.resolution === 'credited' ? books.held.find(isIt) : undefined;
  return held && settled.books
    ? { ...settled, books: { ...settled.books, credited: [...credited, held] } }
    : settled;
}

// ── Rule 3 ───────────────────────────────────────────────────────────────────────────────────────────

/** By rule 1, for what credited wrong amounts have left to pay. */
function payRest(books: Books, data: DataOf<'PaymentSucceeded'>): Entered {
  return pay(books, data, BigInt(Math.max(0, books.amountSen - (books.paidSen ?? 0))));
}

/** A wrong amount that pays is taken out of suspense and booked as a payment, so that it is among the agency's receipts. */
function creditMismatch(books: Books, data: DataOf<'AmountMismatchCredited'>): Entered {
  const { at, effect, paidAt, paidSen, resultNo } = data;
  const found = books.held.find((each) => each.resultNo === resultNo);
  const pays = effect === 'paid' && !books.isPaid;
  const next = {
    ...books,
    isPaid: books.isPaid || pays,
    held: books.held.filter((each) => each !== found),
    ...(effect !== 'nothing' && !books.isPaid && { paidSen }),
  };
  if (!found) return { books: next, entry: null };
  const amountSen = BigInt(found.amountSen);
  const merchant = credit(`merchant:${books.merchantCode}`, amountSen);
  const suspense = debit(found.suspense, amountSen);
  if (!pays) return { books: next, entry: { kind: 'credit', valueAt: at, postings: [suspense, merchant] } };
  const postings = [debit(found.gateway, amountSen), merchant, suspense, credit(found.gateway, amountSen)];
  return { books: next, entry: { kind: 'payment', valueAt: paidAt, postings } };
}

/** Returns money that the agency had, and the part of it that was a fee, to where it came from. */
function giveBack(
  books: Books,
  data: DataOf<'PaymentReversed' | 'PaymentRefunded'>,
  kind: 'reversal' | 'refund',
): Entered {
  const { amountSen, at, mode } = data;
  const method: Method = mode || 'unknown';
  const feeSen = Math.min(amountSen, data.feeSen);
  const postings = [
    debit(`merchant:${books.merchantCode}`, BigInt(amountSen - feeSen)),
    ...(feeSen > 0 ? [debit(`charges:${method}`, BigInt(feeSen))] : []),
    credit(`gateway:${method}`, BigInt(amountSen)),
  ];
  const paidSen = Math.max(0, (books.paidSen ?? 0) - amountSen) as Sen;
  const isOpen = !books.isPaid && books.paidSen !== undefined;
  return {
    books: isOpen ? { ...books, paidSen } : books,
    entry: { kind, valueAt: at, postings },
  };
}

function methodOf(books: Books, data: Recorded): Method {
  return data.result.mode || (attemptOf(books, orderOf(books, data))?.mode ?? 'unknown');
}

export const debit = (account: Account, sen: bigint): Posting => ({ account, debitSen: sen, creditSen: 0n });
export const credit = (account: Account, sen: bigint): Posting => ({ account, debitSen: 0n, creditSen: sen });
