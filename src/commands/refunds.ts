/** How staff record that a payer was refunded, in whole or in part. */
import { displaySen, type Sen } from '../common/money.ts';
import { chargesOf, feeIn } from '../events/charges.ts';
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import { postingRule } from '../events/postings.ts';
import { Refused } from './decider.ts';
import type { ActionContext } from './exceptions.ts';
import { callbackAbout } from './planned-deliveries.ts';

export type Refund = {
  /** The number of the recorded result whose money is refunded, counted from 1. */
  chargeNo: number;
  amountSen: Sen;
  /** Under which the gateway or the bank has the refund: the same reference is the same refund. */
  gatewayReference: string;
  reason: string;
};

/** Of each charge at most what has not been returned yet. */
export function refund(
  { amountSen, chargeNo, gatewayReference, reason }: Refund,
  { at, by, terms }: ActionContext,
  state: RequestedPayment,
): readonly PaymentEvent[] | Refused {
  const sameReference = state.adjustments?.find(
    (each) => each.kind === 'refunded' && isSameReference(each.gatewayReference, gatewayReference),
  );
  if (sameReference?.kind === 'refunded') {
    if (sameReference.amountSen === amountSen && sameReference.chargeNo === chargeNo) return [];
    return new Refused('refund_differs', 'Another refund of this payment already has this reference');
  }
  const charge = chargesOf(state).find(({ resultNo }) => resultNo === chargeNo);
  if (!charge) return new Refused('nothing_to_refund', 'The agency has no money from this charge');
  const { leftSen, mode } = charge;
  if (amountSen <= 0) return new Refused('nothing_to_refund', 'A refund is more than RM 0.00');
  if (amountSen > leftSen)
    return new Refused('refund_too_large', `Of this charge ${displaySen(leftSen)} is left to refund`);
  const data = {
    at,
    by,
    chargeNo,
    amountSen,
    feeSen: feeIn(charge, amountSen),
    mode,
    gatewayReference,
    reason,
    postingRule,
    merchantCode: state.request.merchant.code,
    deliveries: callbackAbout(state, 'refunded', terms.toldOf),
  };
  return [{ type: 'PaymentRefunded', data }];
}

/** People copy references in either case. */
export function isSameReference(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase();
}
