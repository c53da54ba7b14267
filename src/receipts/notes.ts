/** What happened to the money of a payment beside its results, as its receipt says it on the page, in the PDF and in the email. */
import { outstandingSen } from '../events/adjustments.ts';
import { priceOf } from '../events/charges.ts';
import type { RequestedPayment } from '../events/payment.ts';
import { displaySen, type Sen } from '../kernel/money.ts';

/** Amounts read `RM 1,234.50`. */
export type ReceiptNote =
  | { kind: 'credited'; amount: string }
  | { kind: 'partlyPaid'; amount: string; outstanding: string }
  | { kind: 'reversed'; at: string; amount: string }
  | { kind: 'refunded'; at: string; amount: string; reference: string };

export function notesOf(payment: RequestedPayment): ReceiptNote[] {
  const { adjustments = [], request, status } = payment;
  const notes: ReceiptNote[] = [];
  if (status === 'succeeded' && priceOf(payment).amountSen !== request.amountSen)
    notes.push({ kind: 'credited', amount: displaySen(request.amountSen) });
  if (status === 'partlyPaid') {
    const amount = displaySen(payment.paidSen ?? (0 as Sen));
    notes.push({ kind: 'partlyPaid', amount, outstanding: displaySen(outstandingSen(payment)) });
  }
  for (const adjustment of adjustments) {
    const { at, kind } = adjustment;
    const amount = displaySen(adjustment.amountSen);
    if (kind === 'reversed') notes.push({ kind, at, amount });
    if (kind === 'refunded') notes.push({ kind, at, amount, reference: adjustment.gatewayReference });
  }
  return notes;
}
