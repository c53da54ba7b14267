/** Which recorded results are about the same attempt as a new one: content/docs/payment-states.md has the rules. */
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import type { PaymentResult, Source } from '../events/payment-result.ts';
import { differ, type RecordedResult } from '../events/recorded-result.ts';
import { orderByRule1 } from '../events/upcast-rules.ts';

/** Results are of one attempt if their seller order is the same and their gateway transactions do not differ. */
export function isSameAttempt(
  earlier: RecordedResult,
  result: Pick<PaymentResult, 'sellerOrderNo' | 'gatewayTransactionId' | 'mode'>,
  state: RequestedPayment,
): boolean {
  return (
    earlier.sellerOrderNo === orderByRule1(state, result) &&
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
