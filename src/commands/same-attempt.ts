/** Which recorded results are about the same attempt as a new one: content/docs/payment-states.md has the rules. */
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import type { PaymentResult, Source } from '../events/payment-result.ts';
import { differ, type RecordedResult } from '../events/recorded-result.ts';
import { isBooked, isOpenMismatch } from './same-money.ts';

/** The seller order that a result is about: content/docs/payment-states.md has the rules. `''` before the first attempt. */
export function inferOrder({ attempts, results }: RequestedPayment, result: PaymentResult): string {
  const { gatewayTransactionId: id, mode, paidAt, sellerOrderNo } = result;
  if (sellerOrderNo !== '') return sellerOrderNo;
  const known =
    results.find((earlier) => id !== '' && earlier.gatewayTransactionId === id) ??
    results.find((earlier) => isSameEnd(earlier, result));
  const ofMode = attempts.filter((attempt) => attempt.mode === mode);
  const candidates = ofMode.length > 0 ? ofMode : attempts;
  // Clocks differ where all of them were chosen later.
  const attempt = latestChosenBy(paidAt, candidates) ?? candidates.at(-1);
  return (known ?? attempt)?.sellerOrderNo ?? '';
}

/** The latest attempt that had been chosen at the time of a result. Reported times are in whole seconds. */
export function latestChosenBy<Chosen extends { at: string }>(
  paidAt: string | null,
  attempts: readonly Chosen[],
): Chosen | undefined {
  const endMs = paidAt === null ? Number.POSITIVE_INFINITY : Date.parse(paidAt) + 1_000;
  return attempts.findLast(({ at }) => Date.parse(at) < endMs);
}

/**
 * Whether two results, neither a success, report the same end of one attempt, even if one of them names no gateway
 * transaction. Equal times show it: a payer who was told of a failure and tried again cannot fail in the same second.
 */
export function isSameEnd(earlier: Ended, result: Ended): boolean {
  if (earlier.outcome === 'succeeded' || result.outcome === 'succeeded') return false;
  return (
    (earlier.outcome === 'pending') === (result.outcome === 'pending') &&
    !differ(earlier.gatewayTransactionId, result.gatewayTransactionId) &&
    earlier.amountSen === result.amountSen &&
    earlier.paidAt === result.paidAt &&
    result.paidAt !== null
  );
}

type Ended = Pick<PaymentResult, 'outcome' | 'gatewayTransactionId' | 'amountSen' | 'paidAt'>;

/** Results are of one attempt if their seller order is the same and their gateway transactions do not differ. */
export function isSameAttempt(
  earlier: RecordedResult,
  result: PaymentResult,
  state: RequestedPayment,
): boolean {
  return (
    earlier.sellerOrderNo === inferOrder(state, result) &&
    !differ(earlier.gatewayTransactionId, result.gatewayTransactionId)
  );
}

/**
 * A report that names the order of its gateway transaction corrects earlier reports for which another order was
 * inferred: the attempt that they were taken to be about is open again. Successes have rules of their own.
 */
export function correctOrders(
  { at, source, result }: { at: string; source: Source; result: PaymentResult },
  { results }: RequestedPayment,
): PaymentEvent[] {
  const { gatewayTransactionId: id, sellerOrderNo } = result;
  const isOfTransaction = (earlier: RecordedResult) => earlier.gatewayTransactionId === id;
  if (id === '' || sellerOrderNo === '') return [];
  if (results.some((earlier) => isOfTransaction(earlier) && !earlier.isOrderInferred)) return [];
  return results.flatMap((earlier, index) => {
    const isOfAnotherOrder = earlier.outcome !== 'succeeded' && earlier.sellerOrderNo !== sellerOrderNo;
    if (!isOfAnotherOrder || !isOfTransaction(earlier)) return [];
    const data = { at, source, resultNo: index + 1, gatewayTransactionId: '', sellerOrderNo };
    return [{ type: 'GatewayResultIdentified', data }];
  });
}

/**
 * Whether the result was recorded before. If its attempt has succeeded or become pending since, an equal result from
 * before then is a repeat only if it has the same time. With another time it may be a reversal, also where staff have
 * resolved an earlier one, or the end of what is pending; without a time it ends what is pending.
 */
export function isRepeat(result: PaymentResult, state: RequestedPayment): boolean {
  const from = reopenedAt(result, state);
  const charges = chargesOfAttempt(result, state);
  const isPaid = charges.some(isBooked);
  const mayBeReversal = result.outcome !== 'pending' && (isPaid || charges.some(isOpenMismatch));
  return state.results.some((earlier, index) => {
    if (earlier.role === 'ended' || earlier.outcome !== result.outcome) return false;
    if (!isSameAttempt(earlier, result, state)) return false;
    if (index < from) return earlier.paidAt === result.paidAt && (result.paidAt !== null || isPaid);
    if (!mayBeReversal || result.paidAt === null || earlier.paidAt === result.paidAt) return true;
    return earlier.paidAt === null && earlier.role === 'contradiction' && earlier.resolved === null;
  });
}

/** The recorded successes of the attempt that a result is about. */
export function chargesOfAttempt(result: PaymentResult, state: RequestedPayment): RecordedResult[] {
  return state.results.filter((each) => each.outcome === 'succeeded' && isSameAttempt(each, result, state));
}

/** The index of the result that paid its attempt or left it pending; -1 if the last applied result of it did neither. */
function reopenedAt(result: PaymentResult, state: RequestedPayment): number {
  const last = state.results.findLastIndex(
    (each) => (each.role === 'applied' || each.credited === 'paid') && isSameAttempt(each, result, state),
  );
  return ['succeeded', 'pending'].includes(state.results[last]?.outcome ?? '') ? last : -1;
}
