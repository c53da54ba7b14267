/** Which attempt a result is about, and which recorded results are about the same: content/docs/payment-states.md has the rules. */
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import type { PaymentResult, Source } from '../events/payment-result.ts';
import { differ, type RecordedResult } from '../events/recorded-result.ts';

/**
 * The seller order that a result is about: the one it names. The registry's records name none: then that of an earlier
 * result of the same gateway transaction, else that of the latest attempt by the method it names, else that of the
 * latest attempt; `''` before the first attempt. The event keeps the answer, so this rule is free to change.
 */
export function sellerOrderOf(
  { attempts, results }: RequestedPayment,
  {
    sellerOrderNo,
    gatewayTransactionId: id,
    mode,
  }: Pick<PaymentResult, 'sellerOrderNo' | 'gatewayTransactionId' | 'mode'>,
): string {
  if (sellerOrderNo !== '') return sellerOrderNo;
  const known = results.find(({ gatewayTransactionId }) => id !== '' && gatewayTransactionId === id);
  const attempt = attempts.findLast((each) => each.mode === mode) ?? attempts.at(-1);
  return known?.sellerOrderNo ?? attempt?.sellerOrderNo ?? '';
}

/** Results are of one attempt if their seller order is the same and their gateway transactions do not differ. */
export function isSameAttempt(
  earlier: RecordedResult,
  result: Pick<PaymentResult, 'sellerOrderNo' | 'gatewayTransactionId' | 'mode'>,
  state: RequestedPayment,
): boolean {
  return (
    earlier.sellerOrderNo === sellerOrderOf(state, result) &&
    !differ(earlier.gatewayTransactionId, result.gatewayTransactionId)
  );
}

/**
 * A report that names another order of its gateway transaction than was inferred for earlier reports corrects these: the
 * attempt that they were taken to be about is open again. Successes have rules of their own.
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
 * Whether the result was recorded before. Before a success of its attempt, or before that became pending again, an equal
 * one is a repeat only with the same time: with another time it may be a reversal, or the end of what was pending, which
 * one without a time ends, too.
 */
export function isRepeat(result: PaymentResult, state: RequestedPayment): boolean {
  const from = reopenedAt(result, state);
  return state.results.some(
    (earlier, index) =>
      earlier.role !== 'ended' &&
      earlier.outcome === result.outcome &&
      isSameAttempt(earlier, result, state) &&
      (index >= from ||
        (earlier.paidAt === result.paidAt &&
          (result.paidAt !== null || state.results[from]?.outcome === 'succeeded'))),
  );
}

/** The place of the result that paid its attempt or left it pending; 0 if the last one of it was another. */
export function reopenedAt(result: PaymentResult, state: RequestedPayment): number {
  const last = state.results.findLastIndex(
    (each) => (each.role === 'applied' || each.credited === 'paid') && isSameAttempt(each, result, state),
  );
  return ['succeeded', 'pending'].includes(state.results[last]?.outcome ?? '') ? last : 0;
}
