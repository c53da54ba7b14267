/** The charges of a payer whose money the agency has: what can be refunded, or taken back by the bank. */
import { addSen, isRinggit, type Sen } from '../common/money.ts';
import type { PaymentMode } from '../common/payment-modes.ts';
import { outstandingSen } from './adjustments.ts';
import { currentResult, type RequestedPayment } from './payment.ts';
import { attemptOf } from './payment-result.ts';
import { differ, type RecordedResult } from './recorded-result.ts';

export type Charge = ReturnType<typeof chargesOf>[number];

export function chargesOf(payment: RequestedPayment) {
  return payment.results.flatMap((result, index) => {
    const attempt = attemptOf(payment, result.sellerOrderNo);
    const money = moneyOf(payment, result, attempt?.chargeSen ?? (0 as Sen));
    if (!money) return [];
    /** The number of the recorded result that brought it, counted from 1. */
    const resultNo = index + 1;
    /** What has not been refunded or taken back. */
    const leftSen = Math.max(0, money.amountSen - returnedSen(payment, resultNo)) as Sen;
    const mode = bookedModeOf(payment, result);
    return [{ resultNo, ...money, mode, gatewayTransactionId: result.gatewayTransactionId, leftSen }];
  });
}

/** The method by which the money of a result came, according to the books; `''` if it is not known. */
export function bookedModeOf(payment: RequestedPayment, result: RecordedResult): PaymentMode | '' {
  return result.mode || (result.bookedAs ?? attemptOf(payment, result.sellerOrderNo)?.mode ?? '');
}

/** Null for a result whose money the agency does not have. */
function moneyOf(payment: RequestedPayment, result: RecordedResult, feeSen: Sen) {
  const { amountSen, credited, currency, outcome, resolved, role } = result;
  const none = 0 as Sen;
  if (role === 'applied' && outcome === 'succeeded')
    return { amountSen: addSen(outstandingSen(payment), feeSen), feeSen };
  const isCredited = credited !== undefined || (role === 'duplicate' && resolved?.resolution === 'credited');
  return isCredited && amountSen !== null && isRinggit(currency) ? { amountSen, feeSen: none } : null;
}

function returnedSen({ adjustments = [] }: RequestedPayment, resultNo: number): Sen {
  const returned = adjustments.filter((each) => each.kind !== 'credited' && each.chargeNo === resultNo);
  return addSen(...returned.map(({ amountSen }) => amountSen));
}

/** How much of the next amount to be returned is fee: the agency's own part is returned first. */
export function feeIn({ feeSen, leftSen }: Charge, returningSen: Sen): Sen {
  const ownSen = Math.max(0, leftSen - feeSen);
  return Math.max(0, returningSen - ownSen) as Sen;
}

/** The charge that the bank may have taken back, as a later failure of the same attempt says; null if there is none. */
export function chargeContradictedBy(payment: RequestedPayment, resultNo: number): Charge | null {
  const failure = payment.results[resultNo - 1];
  if (failure?.outcome !== 'failed' && failure?.outcome !== 'cancelled') return null;
  const found = chargesOf(payment).find(
    (charge) =>
      charge.resultNo < resultNo &&
      charge.leftSen > 0 &&
      payment.results[charge.resultNo - 1]?.sellerOrderNo === failure.sellerOrderNo &&
      !differ(charge.gatewayTransactionId, failure.gatewayTransactionId),
  );
  return found ?? null;
}

/** What the payer pays, or has paid, in all; `amountSen` is without the fee. */
export function priceOf(payment: RequestedPayment): { amountSen: Sen; feeSen: Sen; totalSen: Sen } {
  const result = currentResult(payment);
  const { paidSen, request } = payment;
  if (result?.credited === 'paid' && paidSen !== undefined)
    return { amountSen: paidSen, feeSen: 0 as Sen, totalSen: paidSen };
  const feeSen = attemptOf(payment, result?.sellerOrderNo ?? '')?.chargeSen ?? (0 as Sen);
  return { amountSen: request.amountSen, feeSen, totalSen: addSen(request.amountSen, feeSen) };
}
