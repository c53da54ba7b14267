/**
 * What a reported result does to a payment, whether the gateway, the registry or staff report it. The same thing is
 * reported again and again. Whether a report is news is decided in these places:
 *
 * - same-attempt.ts: a failure, cancellation or pending result is no news if it was recorded of the same attempt. It
 *   also corrects earlier results of another order than the report names.
 * - same-money.ts: which recorded successes were of the same money. `recordSuccess` says what follows: nothing, the name
 *   of a transaction or an order (`identify`), or a contradiction for staff.
 * - requery.ts, for the registry alone: an answer like the last one is counted and not recorded, and where the registry
 *   only lags behind, its results contradict nothing. attempt-end.ts: the end of an attempt is recorded once.
 *
 * ../events/recorded-result.ts is how the state keeps a result, which all of them compare with.
 */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { toDigits } from '../common/malaysian-time.ts';
import { addSen, isRinggit, type Sen } from '../common/money.ts';
import { outstandingSen } from '../events/adjustments.ts';
import {
  type Attempt,
  type Channel,
  currentResult,
  type Payment,
  type PaymentEvent,
  type RequestedPayment,
} from '../events/payment.ts';
import {
  attemptOf,
  type Outcome,
  type PaymentResult,
  type ReportedResult,
  type Source,
} from '../events/payment-result.ts';
import { postingRule } from '../events/postings.ts';
import { openPendings } from '../events/requery-schedule.ts';
import { afterEvents } from './decider.ts';
import { announcement, setInMotion } from './planned-deliveries.ts';
import { chargesOfAttempt, correctOrders, inferOrder, isRepeat, isSameAttempt } from './same-attempt.ts';
import {
  correctPairs,
  isBooked,
  isContradictionAbout,
  isInBooks,
  isOpenMismatch,
  type RecordedSuccess,
  sameSuccesses,
  successesOfTransaction,
  wasSettled,
} from './same-money.ts';

export type Report = { at: string; source: Source; verified: boolean; result: ReportedResult };
/** `channel` and `merchantCode` are those of the payment, as the report has them. */
export type RecordGatewayResult = Report & {
  type: 'RecordGatewayResult';
  channel: Channel;
  merchantCode: string;
};

/** Implements the state table of content/docs/payment-states.md. */
export function recordGatewayResult(given: Report, state: RequestedPayment): PaymentEvent[] {
  const result = { ...given.result, paidAt: plausibleTime(given) };
  const command = { ...given, result };
  const corrections = [...correctOrders(command, state), ...correctPairs(command, state)];
  const corrected = afterEvents(state, corrections);
  const decided =
    result.outcome === 'succeeded'
      ? recordSuccess(command, corrected)
      : recordOther(command, result.outcome, corrected);
  return [...corrections, ...decided];
}

/** Null for a time a day or more ahead: until then the receipt would be in no statement. The evidence keeps it. */
function plausibleTime({ at, result: { paidAt } }: Report): string | null {
  return paidAt !== null && Date.parse(paidAt) - Date.parse(at) < 24 * 60 * 60 * 1000 ? paidAt : null;
}

/** Whether the payment exists, on this channel and for this merchant. */
export function isPaymentOf(
  { channel, merchantCode }: Pick<RecordGatewayResult, 'channel' | 'merchantCode'>,
  state: Payment,
): boolean {
  return (
    state.status !== 'none' &&
    state.request.channel === channel &&
    state.request.merchant.code === merchantCode
  );
}

/**
 * A success of the right amount always pays an open payment, whatever came before it. One gateway transaction is in the
 * books once: a later report of it supersedes an amount mismatch, and contradicts what has paid, was a duplicate or was
 * refunded, if it names another amount or follows a failure.
 */
function recordSuccess(command: Report, state: RequestedPayment): readonly PaymentEvent[] {
  const { result } = command;
  const data = recorded(command, state);
  const attempt = attemptOf(state, data.orderNo);
  const expectedSen = addSen(chargeableSen(state), attempt?.chargeSen ?? (0 as Sen));
  const matches = result.amountSen === expectedSen && isRinggit(result.currency);
  /** The earlier reports of this money, and the success that settled its gateway transaction. */
  const same = sameSuccesses(state, command);
  const [known, ...others] = same;
  const settled = successesOfTransaction(state, result).find(
    (each) => isBooked(each) || each.resolved?.resolution === 'refunded',
  );

  const isOpen = !settled && !(known && (isBooked(known) || wasSettled(known, result)));
  if (matches && isOpen && state.status !== 'succeeded') {
    const receipt = { receiptNo: receiptNoFor(command, state), late: isLate(state, attempt) };
    const paid = { ...data, ...setInMotion(state, 'succeeded'), postingRule, ...receipt };
    return [...supersede(command, state), { type: 'PaymentSucceeded', data: paid }];
  }
  const isAgain = isPaidAgain(same, result, state);
  const agrees = known && !changesFee(known, result, state) && !isAgain;
  const contradicted = agrees ? null : (known ?? settled);
  if (contradicted) {
    const orderNo = result.sellerOrderNo || contradicted.sellerOrderNo;
    if (!isAgain && others.some(isContradictionAbout(orderNo))) return [];
    return [{ type: 'GatewayResultContradicted', data: { ...data, orderNo, standing: 'succeeded' } }];
  }
  if (known) return identify(command, known);
  const firstGatewayTransactionId = currentResult(state)?.gatewayTransactionId ?? '';
  const suspended: PaymentEvent = matches
    ? { type: 'DuplicatePaymentDetected', data: { ...data, postingRule, firstGatewayTransactionId } }
    : {
        type: 'AmountMismatchDetected',
        data: { ...data, ...announcement(state), postingRule, expectedSen, currency: 'MYR' },
      };
  return [...supersede(command, state), suspended];
}

/**
 * What a new charge should be, without a fee. Once a wrong amount has been credited in full, another charge of all that
 * was asked for is a duplicate.
 */
function chargeableSen(state: RequestedPayment): Sen {
  return currentResult(state)?.credited === 'paid' ? state.request.amountSen : outstandingSen(state);
}

/** Takes the money of an earlier report out of suspense: the new report puts the same money into the books. */
function supersede(command: Report, state: RequestedPayment): PaymentEvent[] {
  const { at, result } = command;
  const same = [...successesOfTransaction(state, result), ...sameSuccesses(state, command)];
  const found = same.find(isOpenMismatch);
  if (!found) return [];
  const data = { at, resultNo: found.resultNo, resolution: 'superseded', note: '', postingRule } as const;
  return [{ type: 'ExceptionResolved', data }];
}

/** Whether it names an order whose fee is not that of the inferred order, with which the payment is in the books. */
function changesFee(
  { isOrderInferred, role, sellerOrderNo }: RecordedSuccess,
  result: PaymentResult,
  state: RequestedPayment,
): boolean {
  if (role !== 'applied' || !isOrderInferred || result.sellerOrderNo === '') return false;
  const feeOf = (orderNo: string) => attemptOf(state, orderNo)?.chargeSen ?? 0;
  return feeOf(sellerOrderNo) !== feeOf(result.sellerOrderNo);
}

/**
 * Whether a charge in the books is reported as paid at a later time than a failure of it, for the first time since that
 * failure: the bank may have taken it back and then charged the payer after all.
 */
function isPaidAgain(same: RecordedSuccess[], result: PaymentResult, state: RequestedPayment): boolean {
  const [known] = same;
  const { gatewayTransactionId, paidAt } = result;
  const isSame = gatewayTransactionId !== '' && gatewayTransactionId === known?.gatewayTransactionId;
  if (!isSame || !isBooked(known) || known.paidAt === null || paidAt === null) return false;
  return state.results.some(
    (each) =>
      each.role === 'contradiction' &&
      (each.outcome === 'failed' || each.outcome === 'cancelled') &&
      isSameAttempt(each, known, state) &&
      same.every(({ paidAt: before }) => (before ?? '') < (each.paidAt ?? '')) &&
      (each.paidAt ?? '') < paidAt,
  );
}

/** Another report of known money may name the gateway transaction or the order that the first one lacked. */
function identify({ at, source, result }: Report, known: RecordedSuccess): readonly PaymentEvent[] {
  const { gatewayTransactionId, sellerOrderNo } = result;
  const namesTransaction = known.gatewayTransactionId === '' && gatewayTransactionId !== '';
  const namesOrder = known.isOrderInferred === true && sellerOrderNo !== '';
  const namesPair = known.isPairInferred === true && gatewayTransactionId !== '' && sellerOrderNo !== '';
  // What staff have refunded or explained takes its names, too: or it would be taken for every other charge of its amount.
  const isElsewhere = known.role === 'contradiction' || known.resolved?.resolution === 'superseded';
  if (!(namesTransaction || namesOrder || namesPair) || isElsewhere) return [];
  const data = { at, source, resultNo: known.resultNo, gatewayTransactionId, sellerOrderNo };
  return [{ type: 'GatewayResultIdentified', data }];
}

/** What every event that records a result has. The order is kept in it, so another rule may give it to new events. */
export function recorded({ at, source, verified, result: reported }: Report, state: RequestedPayment) {
  const { buyerName, raw, ...result } = reported;
  const sealed = { personal: { plain: { buyerName } }, evidence: { plain: raw } };
  return { at, source, verified, result, ...sealed, orderNo: inferOrder(state, result) };
}

const eventOf = {
  failed: 'PaymentFailed',
  cancelled: 'PaymentCancelled',
  pending: 'PaymentPending',
} as const satisfies Record<Unpaid, PaymentEvent['type']>;
type Unpaid = Exclude<Outcome, 'succeeded'>;

function recordOther(command: Report, outcome: Unpaid, state: RequestedPayment): readonly PaymentEvent[] {
  const { result } = command;
  if (isRepeat(result, state)) return [];
  const data = recorded(command, state);
  const standing = contradicted(outcome, result, state);
  if (standing) return [{ type: 'GatewayResultContradicted', data: { ...data, standing } }];
  return [{ type: eventOf[outcome], data: { ...data, ...setInMotion(state, outcome) } }];
}

/** The outcome that a result other than a success contradicts, or null when the result sets the payment's status. */
function contradicted(outcome: Unpaid, result: PaymentResult, state: RequestedPayment): Outcome | null {
  // Before a cancellation: the registry's failures of a cancelled attempt are no news, unless it was charged after all.
  const charges = chargesOfAttempt(result, state);
  if (charges.some(isInBooks)) return 'succeeded';
  const last = state.results.findLast(
    (each) => each.role === 'applied' && isSameAttempt(each, result, state),
  );
  if (last && last.outcome !== 'pending') return last.outcome;
  if (state.status === 'succeeded') return 'succeeded';
  // Money of another attempt may still arrive: until that attempt has ended too, the payer may not pay again.
  const othersPending = openPendings(state).some((pending) => !isSameAttempt(pending, result, state));
  return outcome !== 'pending' && othersPending ? 'pending' : null;
}

/** Late: after a failure or cancellation, unless the payer began the attempt since then. */
function isLate(state: RequestedPayment, attempt: Attempt | null): boolean {
  if (state.status !== 'failed' && state.status !== 'cancelled') return false;
  return attempt === null || state.attempts.indexOf(attempt) < state.closedAttempts;
}

/**
 * The gateway's number, else `<merchant id>-<yyyymmdd>-<16 characters derived from the transaction>`. They are 80 bits of
 * a hash, so that no two receipts share a number, and the number does not help to guess the transaction id.
 */
export function receiptNoFor(
  { at, result }: { at: string; result: Pick<PaymentResult, 'receiptNo' | 'paidAt'> },
  { request }: RequestedPayment,
): string {
  if (result.receiptNo) return result.receiptNo;
  const derived = derivedId(request.transactionId, ['receipt']).slice(-16);
  return `${request.merchant.id}-${toDigits(result.paidAt ?? at).slice(0, 8)}-${derived}`;
}
