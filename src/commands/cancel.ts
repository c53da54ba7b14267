/** Cancels a payment that nobody will pay: the payer or the merchant decides it, or the request expires. */
import type { RequestedPayment } from '../events/payment.ts';
import { nothingReported } from '../events/payment-result.ts';
import { isClosed, isEnded, standingOf } from '../events/payment-standing.ts';
import { openAttempts } from '../events/requery-schedule.ts';
import { type PaymentDecision, Refused } from './decider.ts';
import { setInMotion } from './planned-deliveries.ts';
import { refusalToBegin, refusalToPay } from './refusal-to-pay.ts';

/** What a payer has cancelled can still be paid; after the other two, nobody can begin to pay. */
export type CancelPayment = { type: 'CancelPayment'; at: string; source: 'payer' | 'merchant' | 'expiry' };

/** Refused while an attempt is open: the bank may have charged the payer already. */
export function cancelPayment({ at, source }: CancelPayment, state: RequestedPayment): PaymentDecision {
  const isPayer = source === 'payer';
  // The time comes from a row, which somebody may have changed.
  if (source === 'expiry' && !isClosed(state, at)) return [];
  const refusal = isPayer ? refusalToBegin(state, at) : refusalToPay(state);
  if (refusal) return refusal;
  if (openAttempts(state).length > 0)
    return new Refused('attempt_open', 'An attempt whose outcome is not known cannot be cancelled');
  // What has been paid of it stays, and is refunded by staff.
  if (standingOf(state) === 'partlyPaid')
    return isPayer ? [] : new Refused('partly_paid', 'A part of this payment has been received');
  // Money may have arrived after it had ended: the refusals above tell this to anyone who asks again.
  if (isPayer ? state.status === 'cancelled' : isEnded(state)) return [];
  const result = { outcome: 'cancelled', ...nothingReported } as const;
  const sealed = { personal: { plain: { buyerName: '' } }, evidence: { plain: {} } };
  const said = { at, source, verified: true, result, ...sealed, orderNo: '' } as const;
  return [{ type: 'PaymentCancelled', data: { ...said, ...setInMotion(state, 'cancelled') } }];
}
