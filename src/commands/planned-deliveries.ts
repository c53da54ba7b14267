/** Which deliveries a new status of a payment sets in motion: content/docs/deliveries.md. */
import { changesOf } from '../events/adjustments.ts';
import type { CallbackSubject, PlannedDelivery } from '../events/deliveries.ts';
import type { RequestedPayment } from '../events/payment.ts';
import type { Outcome } from '../events/payment-result.ts';
import { deliveriesByRule1 } from '../events/upcast-rules.ts';

/**
 * `payment` is as it was before the outcome. A wrong amount counts as an outcome, and so does what staff decide about it. The
 * event keeps the answer, so this rule is free to change.
 */
export function deliveriesFor(
  payment: RequestedPayment,
  outcome: Outcome | 'wrongAmount',
): PlannedDelivery[] {
  const { request } = payment;
  const change = changesOf(payment) + 1;
  const isNoticed = outcome === 'wrongAmount' && request.emailReceipt;
  return [
    ...deliveriesByRule1({ request, status: outcome }, change),
    ...(isNoticed ? [{ key: `notice-${change}`, kind: 'email' } as const] : []),
  ];
}

/** The callback about an adjustment, if the merchant is `told` of such; `payment` is the state before it. */
export function callbackAbout(
  payment: RequestedPayment,
  about: CallbackSubject,
  told: readonly CallbackSubject[],
): PlannedDelivery[] {
  const { callbackUrl: url } = payment.request;
  if (url === '' || !told.includes(about)) return [];
  return [{ key: `callback-${changesOf(payment) + 1}`, kind: 'callback', url, about }];
}

/** What an event about such an outcome says of its deliveries. */
export function setInMotion(payment: RequestedPayment, outcome: Outcome | 'wrongAmount') {
  return { merchantCode: payment.request.merchant.code, deliveries: deliveriesFor(payment, outcome) };
}

/** The same for an event about a wrong amount; nothing once the payment is paid. */
export function announcement(payment: RequestedPayment) {
  return payment.status === 'succeeded' ? {} : setInMotion(payment, 'wrongAmount');
}
