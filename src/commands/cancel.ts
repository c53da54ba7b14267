/** The payer's own decision not to pay. */
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import { openAttempts } from '../events/requery-schedule.ts';
import { Refused } from './decider.ts';
import { refusalToPay, setInMotion } from './payment-result.ts';

export type CancelPayment = { type: 'CancelPayment'; at: string };

/** Not while an attempt is open: the bank may have charged the payer already. */
export function cancelPayment(
  { at }: CancelPayment,
  state: RequestedPayment,
): readonly PaymentEvent[] | Refused {
  const refusal = refusalToPay(state);
  if (refusal) return refusal;
  if (openAttempts(state).length > 0)
    return new Refused('attempt_open', 'An attempt whose outcome is not known cannot be cancelled');
  // What has been paid of it stays, and is refunded by staff.
  if (state.status === 'cancelled' || state.status === 'partlyPaid') return [];
  const result = {
    outcome: 'cancelled',
    mode: '',
    sellerOrderNo: '',
    gatewayTransactionId: '',
    amountSen: null,
    currency: '',
    paidAt: null,
    receiptNo: '',
    buyerBank: '',
  } as const;
  const sealed = { personal: { plain: { buyerName: '' } }, evidence: { plain: {} } };
  const said = { at, source: 'payer', verified: true, result, ...sealed, orderNo: '' } as const;
  return [{ type: 'PaymentCancelled', data: { ...said, ...setInMotion(state, 'cancelled') } }];
}
