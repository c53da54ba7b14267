/** What happened to the money of a payment beside its results, as its receipt says it on the page, in the PDF and in the email. */
import { displaySen, type Sen } from '../common/money.ts';
import { outstandingSen } from '../events/adjustments.ts';
import { priceOf } from '../events/charges.ts';
import { currentResult, type RequestedPayment } from '../events/payment.ts';
import { standingOf } from '../events/payment-standing.ts';

/** Amounts read `RM 1,234.50`. */
export type ReceiptNote =
  | { kind: 'credited'; amount: string }
  | { kind: 'partlyPaid'; amount: string; outstanding: string }
  | ({ kind: 'reversed' } & Returned)
  | ({ kind: 'refunded'; reference: string } & Returned);

/** `isFurther`: the money is from a second charge, not from the one that paid. */
type Returned = { at: string; amount: string; isFurther: boolean };

export function notesOf(payment: RequestedPayment): ReceiptNote[] {
  const { adjustments = [], request, status } = payment;
  const notes: ReceiptNote[] = [];
  if (status === 'succeeded' && priceOf(payment).amountSen !== request.amountSen)
    notes.push({ kind: 'credited', amount: displaySen(request.amountSen) });
  if (standingOf(payment) === 'partlyPaid') {
    const amount = displaySen(payment.paidSen ?? (0 as Sen));
    notes.push({ kind: 'partlyPaid', amount, outstanding: displaySen(outstandingSen(payment)) });
  }
  const paying = status === 'succeeded' ? currentResult(payment) : null;
  for (const adjustment of adjustments) {
    if (adjustment.kind === 'credited') continue;
    const { at, chargeNo, kind } = adjustment;
    const isFurther = paying !== null && payment.results[chargeNo - 1] !== paying;
    const returned = { at, amount: displaySen(adjustment.amountSen), isFurther };
    if (kind === 'reversed') notes.push({ kind, ...returned });
    else notes.push({ kind, reference: adjustment.gatewayReference, ...returned });
  }
  return notes;
}
