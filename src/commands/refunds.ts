/** How staff record that money went back to a payer: refunded, in whole or in part, or taken back by the bank. */
import { displaySen, type Sen } from '../common/money.ts';
import type { RefundAction } from '../events/approvals.ts';
import { type Charge, chargesOf, feeIn } from '../events/charges.ts';
import type { CallbackSubject } from '../events/deliveries.ts';
import type { RequestedPayment } from '../events/payment.ts';
import { postingRule } from '../events/postings.ts';
import { type PaymentDecision, Refused } from './decider.ts';
import { callbackAbout } from './planned-deliveries.ts';

/** Who acts, and when; and what the configuration says at that moment. */
export type ActionContext = {
  at: string;
  /** `staff:<id>`. */
  by: string;
  terms: MerchantTerms;
};

export type MerchantTerms = {
  toldOf: readonly CallbackSubject[];
  /** Whether the merchant accepts part payments. */
  takesParts: boolean;
  /** Above this amount a second member of staff has to approve; null if nothing has to be approved. */
  approvalAboveSen: Sen | null;
};

/** Refunds of each charge at most what has not been returned yet. */
export function refund(
  { amountSen, chargeNo, gatewayReference, reason }: RefundAction,
  context: ActionContext,
  state: RequestedPayment,
): PaymentDecision {
  const sameReference = state.adjustments?.find(
    (each) => each.kind === 'refunded' && isSameReference(each.gatewayReference, gatewayReference),
  );
  if (sameReference?.kind === 'refunded') {
    if (sameReference.amountSen === amountSen && sameReference.chargeNo === chargeNo) return [];
    return new Refused('refund_differs', 'Another refund of this payment already has this reference');
  }
  const charge = chargesOf(state).find(({ resultNo }) => resultNo === chargeNo);
  if (!charge) return new Refused('nothing_to_refund', 'The agency has no money from this charge');
  if (amountSen <= 0) return new Refused('nothing_to_refund', 'A refund is more than RM 0.00');
  if (amountSen > charge.leftSen)
    return new Refused('refund_too_large', `Of this charge ${displaySen(charge.leftSen)} is left to refund`);
  const data = { ...returned('refunded', charge, amountSen, context, state), gatewayReference, reason };
  return [{ type: 'PaymentRefunded', data }];
}

/** What the events of money that went back have in common. */
export function returned(
  how: 'refunded' | 'reversed',
  charge: Charge,
  amountSen: Sen,
  { at, by, terms }: ActionContext,
  state: RequestedPayment,
) {
  return {
    at,
    by,
    chargeNo: charge.resultNo,
    amountSen,
    feeSen: feeIn(charge, amountSen),
    mode: charge.mode,
    postingRule,
    merchantCode: state.request.merchant.code,
    deliveries: callbackAbout(state, how, terms.toldOf),
  };
}

/** People copy references in either case. */
export function isSameReference(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase();
}
