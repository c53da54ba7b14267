/** Why a payer can pay nothing: the payment is paid, is waiting for something, or is closed. */
import type { RequestedPayment } from '../events/payment.ts';
import { isClosed, standingOf } from '../events/payment-standing.ts';
import { Refused } from './decider.ts';

/** Why nothing can be paid any more, or for the time being; null if it can. */
export function refusalToPay(payment: RequestedPayment): Refused | null {
  switch (standingOf(payment)) {
    case 'succeeded':
      return new Refused('payment_succeeded', 'This payment is already paid');
    case 'pending':
      return new Refused('payment_pending', 'This payment is waiting for authorisation at the bank');
    case 'wrongAmount':
      return new Refused('wrong_amount', 'Another amount was received for this payment');
    default:
      return null;
  }
}

/** The same for a payer who begins to pay at a time (UTC). */
export function refusalToBegin(payment: RequestedPayment, at: string): Refused | null {
  const refusal = refusalToPay(payment);
  if (refusal || !isClosed(payment, at)) return refusal;
  return new Refused('payment_closed', 'The agency has cancelled this payment, or it has expired');
}
