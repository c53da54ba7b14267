// What each event posts; the books of any history balance and agree with the fold of payments.
import test from 'ava';
import fc from 'fast-check';
import { adjustmentEvents } from '../../src/events/adjustments.ts';
import { isEventOf } from '../../src/events/codec.ts';
import { exceptionsOf, holdsMoneyInSuspense } from '../../src/events/exceptions.ts';
import { unopened } from '../../src/events/open-payment.ts';
import { evolve, noPayment, type Payment, type PaymentEvent } from '../../src/events/payment.ts';
import { type Books, type Entry, enter, type Posting } from '../../src/events/postings.ts';
import { exceptionResolutions as resolutions } from '../../src/events/recorded-result.ts';
import { receiptOf } from '../../src/receipts/receipt.ts';
import { history } from '../projections/histories.ts';
import { events as plausibleEvents } from '../support/arbitraries.ts';
import {
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  requested,
  resolvedAs,
  result,
  resultAt,
  sen,
  succeeded,
  superseded,
} from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

function entriesOf(events: readonly PaymentEvent[]): { entries: Entry[]; books: Books | null } {
  let books: Books | null = null;
  const entries: Entry[] = [];
  for (const event of events) {
    const entered = enter(books, event);
    books = entered.books;
    if (entered.entry) entries.push(entered.entry);
  }
  return { entries, books };
}

const lines = (postings: readonly Posting[]) =>
  postings.map(({ account, debitSen, creditSen }) => `${account} ${debitSen} ${creditSen}`);

const posted = (...events: PaymentEvent[]) =>
  entriesOf([requested(), ...events]).entries.map(({ kind, postings }) => [kind, ...lines(postings)]);

type Resolution = (typeof resolutions)[number];
const resolved = (resultNo: number, resolution: Resolution): PaymentEvent => ({
  type: 'ExceptionResolved',
  data: { at: '2026-11-22T01:00:00.000Z', resultNo, resolution, note: 'seen', postingRule: 1 },
});
const adjusted = {
  at: '2026-11-22T01:00:00.000Z',
  by: 'staff:A',
  postingRule: 3,
  merchantCode: 'council',
  deliveries: [],
} satisfies Partial<Extract<PaymentEvent, { type: 'PaymentRefunded' }>['data']>;
const credited = (effect: 'paid' | 'partlyPaid' | 'nothing'): PaymentEvent => ({
  type: 'AmountMismatchCredited',
  data: {
    ...adjusted,
    resultNo: 1,
    note: '',
    amountSen: sen(12_000),
    effect,
    paidSen: sen(12_000),
    paidAt: resultAt,
    receiptNo: 'R-1',
  },
});
function givenBack(type: 'PaymentRefunded' | 'PaymentReversed', amount: number, fee: number): PaymentEvent {
  const data = { ...adjusted, chargeNo: 1, amountSen: sen(amount), feeSen: sen(fee), mode: 'fpx' } as const;
  return type === 'PaymentRefunded'
    ? { type, data: { ...data, gatewayReference: 'RF-1', reason: '' } }
    : { type, data: { ...data, resultNo: 2, note: '' } };
}
const paidFor = (over = {}) => succeeded(result(1, 'succeeded', over));

test('a success debits the gateway, and credits the merchant and fees', (t) => {
  t.deepEqual(posted(chosen(1, { chargeSen: sen(50) }), paidFor({ amountSen: sen(12_100) })), [
    ['payment', 'gateway:fpx 12100 0', 'merchant:council 0 12050', 'charges:fpx 0 50'],
  ]);
});

test('without a fee there is no line for it; the method is the result’s, else the attempt’s, else unknown', (t) => {
  const [merchant] = ['merchant:council 0 12050'];
  t.deepEqual(posted(chosen(1), paidFor({ mode: 'cc' })), [['payment', 'gateway:cc 12050 0', merchant]]);
  t.deepEqual(posted(chosen(1), paidFor({ mode: '' })), [['payment', 'gateway:fpx 12050 0', merchant]]);
  t.deepEqual(posted(paidFor({ mode: '' })), [['payment', 'gateway:unknown 12050 0', merchant]]);
});

test('the fee is that of the attempt that was paid, not of the latest', (t) => {
  const two = [chosen(1, { chargeSen: sen(50) }), chosen(2, { chargeSen: sen(900), mode: 'cc' })];
  t.deepEqual(posted(...two, paidFor({ amountSen: sen(12_100) }))[0]?.[3], 'charges:fpx 0 50');
});

test('money of a wrong amount, and money that came twice, is in suspense', (t) => {
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(700) }));
  const twice = duplicated(result(2, 'succeeded', { mode: 'dnqr' }), 'P1');
  t.deepEqual(posted(chosen(1), other, paidFor(), twice).map(String), [
    'mismatch,gateway:fpx 700 0,suspense:mismatch 0 700',
    'payment,gateway:fpx 12050 0,merchant:council 0 12050',
    'duplicate,gateway:dnqr 12050 0,suspense:duplicate 0 12050',
  ]);
});

test('an amount that is unreadable, zero or not in MYR is not posted, and its resolution posts nothing', (t) => {
  const odd = [{ amountSen: null }, { amountSen: sen(0) }, { currency: 'USD' }];
  for (const over of odd)
    t.deepEqual(posted(mismatched(result(1, 'succeeded', over)), resolved(1, 'refunded')), []);
});

test('staff refund it, credit it, or reverse an entry that was never owed, once', (t) => {
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(700) }));
  const after = (...chosenOnes: Resolution[]) =>
    posted(other, ...chosenOnes.map((each) => resolved(1, each)))
      .slice(1)
      .map(String);
  t.deepEqual(after('refunded'), ['refund,suspense:mismatch 700 0,gateway:fpx 0 700']);
  t.deepEqual(after('credited'), ['credit,suspense:mismatch 700 0,merchant:council 0 700']);
  t.deepEqual(after('explained'), ['reversal,suspense:mismatch 700 0,gateway:fpx 0 700']);
  t.is(after('refunded', 'credited').length, 1);
  t.deepEqual(posted(other, resolved(2, 'refunded')).length, 1);
});

test('what a later report supersedes leaves suspense, and the merchant if it had been credited', (t) => {
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(700) }));
  const credited: PaymentEvent = {
    type: 'ExceptionResolved',
    data: {
      at: '2026-11-22T01:00:00.000Z',
      resultNo: 1,
      resolution: 'credited',
      note: 'seen',
      postingRule: 2,
    },
  };
  const after = (...events: PaymentEvent[]) =>
    posted(other, ...events)
      .slice(1)
      .map(String);
  t.deepEqual(after(paidFor(), superseded(1)), [
    'payment,gateway:fpx 12050 0,merchant:council 0 12050',
    'reversal,suspense:mismatch 700 0,gateway:fpx 0 700',
  ]);
  t.deepEqual(after(credited, paidFor(), superseded(1), superseded(1)), [
    'credit,suspense:mismatch 700 0,merchant:council 0 700',
    'payment,gateway:fpx 12050 0,merchant:council 0 12050',
    'reversal,merchant:council 700 0,gateway:fpx 0 700',
  ]);
  t.deepEqual(after(resolved(1, 'refunded'), superseded(1)), [
    'refund,suspense:mismatch 700 0,gateway:fpx 0 700',
  ]);
});

test('a refund leaves the account that the money came to, whatever was attempted since', (t) => {
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(700), mode: '' }));
  t.deepEqual(posted(other, chosen(1), resolved(1, 'refunded')).map(String), [
    'mismatch,gateway:unknown 700 0,suspense:mismatch 0 700',
    'refund,suspense:mismatch 700 0,gateway:unknown 0 700',
  ]);
});

test('a wrong amount that pays leaves suspense and is among the receipts; a part is only credited', (t) => {
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(12_000) }));
  const after = (...events: PaymentEvent[]) =>
    posted(chosen(1), other, ...events)
      .slice(1)
      .map(String);
  t.deepEqual(after(credited('paid')), [
    'payment,gateway:fpx 12000 0,merchant:council 0 12000,suspense:mismatch 12000 0,gateway:fpx 0 12000',
  ]);
  const part = 'credit,suspense:mismatch 12000 0,merchant:council 0 12000';
  t.deepEqual(after(credited('nothing')), [part]);
  const rest = succeeded(result(2, 'succeeded', { amountSen: sen(50) }), { postingRule: 3 });
  t.deepEqual(after(credited('partlyPaid'), rest), [part, 'payment,gateway:fpx 50 0,merchant:council 0 50']);
  t.deepEqual(after(credited('partlyPaid'), givenBack('PaymentRefunded', 12_000, 0), rest).slice(1), [
    'refund,merchant:council 12000 0,gateway:fpx 0 12000',
    'payment,gateway:fpx 12050 0,merchant:council 0 12050',
  ]);
  t.deepEqual(after(credited('paid'), credited('paid')).length, 1);
});

test('a refund and a reversal take money from the agency and from the fee, back to where it came from', (t) => {
  const paid = paidFor({ amountSen: sen(12_100) });
  const after = (...events: PaymentEvent[]) =>
    posted(chosen(1, { chargeSen: sen(50) }), paid, ...events)
      .slice(1)
      .map(String);
  t.deepEqual(after(givenBack('PaymentRefunded', 700, 0), givenBack('PaymentReversed', 11_400, 50)), [
    'refund,merchant:council 700 0,gateway:fpx 0 700',
    'reversal,merchant:council 11350 0,charges:fpx 50 0,gateway:fpx 0 11400',
  ]);
});

test('a refund of a charge whose method is not known leaves the account that it came to', (t) => {
  const { type, data } = givenBack('PaymentRefunded', 12_050, 0);
  const refund = { type, data: { ...data, mode: '' } } as PaymentEvent;
  t.deepEqual(posted(paidFor({ mode: '' }), refund).map(String), [
    'payment,gateway:unknown 12050 0,merchant:council 0 12050',
    'refund,merchant:council 12050 0,gateway:unknown 0 12050',
  ]);
});

test('what staff explained is not taken back from the agency when it is superseded', (t) => {
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(700) }));
  t.deepEqual(posted(chosen(1), other, resolvedAs('explained', 1), superseded(1)).map(String), [
    'mismatch,gateway:fpx 700 0,suspense:mismatch 0 700',
    'reversal,suspense:mismatch 700 0,gateway:fpx 0 700',
  ]);
});

test('no other event posts anything', (t) => {
  const silent = [applied(result(1, 'failed')), applied(result(2, 'pending')), chosen(2)];
  t.deepEqual(posted(...silent, contradicted(result(1, 'cancelled'), 'failed')), []);
  t.deepEqual(entriesOf([paidFor()]), { entries: [], books: null });
});

test('the value date is the bank’s time, and of a resolution when it was made', (t) => {
  const paidAt = '2026-11-19T15:00:00.000Z';
  const valueTimes = (...events: PaymentEvent[]) =>
    entriesOf([requested(), ...events]).entries.map(({ valueAt }) => valueAt);
  t.deepEqual(valueTimes(paidFor({ paidAt })), [paidAt]);
  t.deepEqual(valueTimes(paidFor({ paidAt: null })), [resultAt]);
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(700), paidAt }));
  t.deepEqual(valueTimes(other, resolved(1, 'refunded')), [paidAt, '2026-11-22T01:00:00.000Z']);
});

/** What each account holds: credits less debits. */
function balancesOf(entries: readonly Entry[]): Map<string, bigint> {
  const balances = new Map<string, bigint>();
  for (const { account, debitSen, creditSen } of entries.flatMap(({ postings }) => postings))
    balances.set(account, (balances.get(account) ?? 0n) + creditSen - debitSen);
  return balances;
}

/** What staff credited of money that lay in suspense, told from the states alone. */
function creditedSen(events: readonly PaymentEvent[]): bigint {
  let state: Payment = noPayment;
  let sum = 0n;
  const settled = new Set<number>();
  for (const event of events) {
    state = evolve(state, event);
    if (event.type !== 'ExceptionResolved' || state.status === 'none') continue;
    const { resultNo, resolution } = event.data;
    const found = state.results[resultNo - 1];
    if (!found || settled.has(resultNo)) continue;
    if (found.role !== 'amountMismatch' && found.role !== 'duplicate') continue;
    settled.add(resultNo);
    if (resolution === 'credited' && found.currency !== 'USD') sum += BigInt(found.amountSen ?? 0);
  }
  return sum;
}

/** What staff record later follows decisions, and without them it makes no sense: then only entries are checked. */
function check(events: readonly PaymentEvent[]): void {
  const isAdjusted = events.some((event) => isEventOf(adjustmentEvents, event));
  let state: Payment = noPayment;
  let books: Books | null = null;
  const entries: Entry[] = [];
  for (const event of events) {
    const paidBefore = state.status === 'succeeded';
    // Stored and read back between any two events.
    const entered = enter(JSON.parse(JSON.stringify(books)), event);
    [books, state] = [entered.books, evolve(state, event)];
    if (books === null || state.status === 'none') throw new Error('Both begin with the request');
    const told = state.results.map(({ gatewayTransactionId, isOrderInferred, sellerOrderNo }) => ({
      gatewayTransactionId,
      sellerOrderNo,
      isOrderInferred,
    }));
    same(JSON.stringify(books.results), JSON.stringify(told), 'results');
    same(books.isPaid, state.status === 'succeeded', 'paid');
    if (!entered.entry) continue;
    entries.push(entered.entry);
    const { kind, postings } = entered.entry;
    same(sumOf(postings, 'debitSen'), sumOf(postings, 'creditSen'), 'an entry balances');
    if (!postings.every(({ debitSen, creditSen }) => debitSen >= 0n && creditSen >= 0n))
      throw new Error('A side is negative');
    if (isAdjusted) continue;
    same(kind === 'payment', !paidBefore && state.status === 'succeeded', 'paid once');
    if (kind === 'payment')
      same(postings[0]?.debitSen, BigInt(receiptOf(unopened(state)).totalSen), 'what the receipt says');
  }
  const balances = balancesOf(entries);
  same(
    [...balances.values()].reduce((sum, each) => sum + each, 0n),
    0n,
    'all balance',
  );
  if (isAdjusted) return;
  if (books === null || state.status === 'none') throw new Error('A history begins with a request');
  const paidSen = state.status === 'succeeded' ? BigInt(state.request.amountSen) : 0n;
  const merchantSen = balances.get(`merchant:${state.request.merchant.code}`) ?? 0n;
  same(merchantSen, paidSen + creditedSen(events), 'the merchant has what was paid and credited');
  const heldSen = exceptionsOf(state)
    .filter(({ kind, resolved }) => holdsMoneyInSuspense(kind) && resolved === null)
    .filter(({ resultNo }) => state.results[resultNo - 1]?.currency !== 'USD')
    .reduce((sum, { amountSen }) => sum + BigInt(amountSen ?? 0), 0n);
  const suspenseSen = (balances.get('suspense:mismatch') ?? 0n) + (balances.get('suspense:duplicate') ?? 0n);
  same(suspenseSen, heldSen, 'suspense has what is open for staff');
}

const sumOf = (postings: readonly Posting[], side: 'debitSen' | 'creditSen') =>
  postings.reduce((sum, posting) => sum + posting[side], 0n);

function same(one: unknown, other: unknown, what: string): void {
  if (one !== other) throw new Error(`${what}: ${one} and ${other}`);
}

test('debits equal credits after every event of any history, and accounts hold what payments say', (t) => {
  const settling = fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom(...resolutions))
    .map(([resultNo, resolution]) => resolved(resultNo, resolution));
  const event = fc.oneof({ weight: 3, arbitrary: plausibleEvents }, { weight: 1, arbitrary: settling });
  const plausible = fc.array(event, { maxLength: 15 }).map((events) => [requested(), ...events]);
  fc.assert(fc.property(plausible, check), { numRuns: runs(7_000) });
  fc.assert(fc.property(history, check), { numRuns: runs(3_000) });
  t.pass();
});
