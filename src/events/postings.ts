/**
 * What a payment's events come to in double-entry bookkeeping: an event that moves money is an entry, whose debits
 * equal its credits. Which event posts what: content/docs/journal.md.
 */
import { isRinggit, type Sen } from '../kernel/money.ts';
import type { PaymentMode } from '../kernel/payment-modes.ts';
import type { Attempt, PaymentEvent, PaymentRequested, RecordedResult } from './payment.ts';
import { attemptOf, type PaymentResult, sellerOrderOf } from './payment-result.ts';

type Method = PaymentMode | 'unknown';
export type SuspenseAccount = 'suspense:mismatch' | 'suspense:duplicate';
/** `gateway`: what the gateway owes us. `merchant`: what we owe a merchant. `charges`: what payers paid on top. */
export type Account = `gateway:${Method}` | `charges:${Method}` | `merchant:${string}` | SuspenseAccount;

/** One line of an entry; one of the two sides is zero. */
export type Posting = { account: Account; debitSen: bigint; creditSen: bigint };

export type EntryKind = 'payment' | 'mismatch' | 'duplicate' | 'refund' | 'credit' | 'reversal';

export type Entry = {
  kind: EntryKind;
  /** When it counts: the bank's time where it gave one, else when we heard of it. */
  valueAt: string;
  /** Of a payment: the gateway's, the merchant's and, where there is one, the charge's. */
  postings: readonly Posting[];
};

/** What the entries to come depend on. JSON through and through, and nothing in it says who pays. */
export type Books = {
  merchantCode: string;
  amountSen: Sen;
  isPaid: boolean;
  attempts: readonly Pick<Attempt, 'mode' | 'chargeSen' | 'sellerOrderNo'>[];
  /** As many as the payment's recorded results, in the same order. */
  results: readonly Pick<RecordedResult, 'gatewayTransactionId' | 'sellerOrderNo'>[];
  /** Money that came in and is not the merchant's, by the number of its result. */
  held: readonly Held[];
};

type Held = { resultNo: number; amountSen: Sen; gateway: Account; suspense: SuspenseAccount };

type Entered = { books: Books | null; entry: Entry | null };
type DataOf<Type extends PaymentEvent['type']> = Extract<PaymentEvent, { type: Type }>['data'];

/** Takes the next event of a payment; `books` is null before its first. Total, as `evolve` is, and to the same ends. */
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
      return books.isPaid ? { books, entry: null } : pay(books, event.data);
    case 'PaymentFailed':
    case 'PaymentCancelled':
    case 'PaymentPending':
      return { books: books.isPaid ? books : withResult(books, event.data.result), entry: null };
    case 'GatewayResultContradicted':
      return { books: withResult(books, event.data.result), entry: null };
    case 'AmountMismatchDetected':
      return setApart(books, event.data, 'mismatch');
    case 'DuplicatePaymentDetected':
      return setApart(books, event.data, 'duplicate');
    case 'ExceptionResolved':
      return settle(books, event.data);
    default:
      return { books, entry: null };
  }
}

function opened({ merchant, amountSen }: PaymentRequested): Books {
  return { merchantCode: merchant.code, amountSen, isPaid: false, attempts: [], results: [], held: [] };
}

function withResult(books: Books, result: PaymentResult): Books {
  const { gatewayTransactionId } = result;
  const recorded = { gatewayTransactionId, sellerOrderNo: sellerOrderOf(books, result) };
  return { ...books, results: [...books.results, recorded] };
}

function pay(books: Books, { at, result }: DataOf<'PaymentSucceeded'>): Entered {
  const method = methodOf(books, result);
  const amountSen = BigInt(books.amountSen);
  const chargeSen = BigInt(attemptOf(books, result)?.chargeSen ?? 0);
  const postings = [
    debit(`gateway:${method}`, amountSen + chargeSen),
    credit(`merchant:${books.merchantCode}`, amountSen),
    ...(chargeSen > 0n ? [credit(`charges:${method}`, chargeSen)] : []),
  ];
  return {
    books: { ...withResult(books, result), isPaid: true },
    entry: { kind: 'payment', valueAt: result.paidAt ?? at, postings },
  };
}

/** What was reported is held until staff say whose it is. What is unreadable or no ringgit cannot be entered in sen. */
function setApart(
  books: Books,
  { at, result }: DataOf<'AmountMismatchDetected' | 'DuplicatePaymentDetected'>,
  kind: 'mismatch' | 'duplicate',
): Entered {
  const next = withResult(books, result);
  const amountSen = isRinggit(result.currency) ? result.amountSen : null;
  if (!amountSen) return { books: next, entry: null };
  const gateway: Account = `gateway:${methodOf(books, result)}`;
  const suspense: SuspenseAccount = `suspense:${kind}`;
  const held = [...books.held, { resultNo: next.results.length, amountSen, gateway, suspense }];
  const postings = [debit(gateway, BigInt(amountSen)), credit(suspense, BigInt(amountSen))];
  return { books: { ...next, held }, entry: { kind, valueAt: result.paidAt ?? at, postings } };
}

const settlements = { refunded: 'refund', credited: 'credit', explained: 'reversal' } as const;

/** What is settled leaves suspense, whichever way: what lies there is what is open for staff. */
function settle(books: Books, { at, resultNo, resolution }: DataOf<'ExceptionResolved'>): Entered {
  const found = books.held.find((each) => each.resultNo === resultNo);
  if (!found) return { books, entry: null };
  const amountSen = BigInt(found.amountSen);
  // What was given back, and what was never owed, the gateway does not owe us any more.
  const receiver: Account = resolution === 'credited' ? `merchant:${books.merchantCode}` : found.gateway;
  const postings = [debit(found.suspense, amountSen), credit(receiver, amountSen)];
  return {
    books: { ...books, held: books.held.filter((each) => each !== found) },
    entry: { kind: settlements[resolution], valueAt: at, postings },
  };
}

function methodOf(books: Books, result: PaymentResult): Method {
  return result.mode || (attemptOf(books, result)?.mode ?? 'unknown');
}

const debit = (account: Account, debitSen: bigint): Posting => ({ account, debitSen, creditSen: 0n });
const credit = (account: Account, creditSen: bigint): Posting => ({ account, debitSen: 0n, creditSen });
