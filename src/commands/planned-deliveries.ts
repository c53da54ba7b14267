/** Which deliveries a new status of a payment sets in motion: content/docs/deliveries.md. */
import { changesOf } from '../events/adjustments.ts';
import type { CallbackSubject, PlannedDelivery } from '../events/deliveries.ts';
import type { RequestedPayment } from '../events/payment.ts';
import type { Outcome } from '../events/payment-result.ts';

/**
 * `payment` is still as it was before the outcome; `wrongAmount` is one, and so is what staff decide about it. The event
 * keeps the answer, so this rule is free to change.
 */
export function deliveriesFor(
  payment: RequestedPayment,
  outcome: Outcome | 'wrongAmount',
): PlannedDelivery[] {
  const { channel, emailReceipt, items } = payment.request;
  const isPaid = outcome === 'succeeded';
  const change = changesOf(payment) + 1;
  const reported = items.map((_, index) => {
    const item = index + 1;
    return { key: `item-${String(item).padStart(2, '0')}`, kind: 'item', item } as const;
  });
  return [
    ...callbackOf(payment),
    ...(isPaid && channel === 'landreg' ? reported : []),
    ...(isPaid && emailReceipt ? [{ key: 'email', kind: 'email' } as const] : []),
    ...(outcome === 'wrongAmount' && emailReceipt
      ? [{ key: `notice-${change}`, kind: 'email' } as const]
      : []),
  ];
}

/** The callback about an adjustment, to a merchant that is `told` of such; `payment` is likewise as it was before. */
export function callbackAbout(
  payment: RequestedPayment,
  about: CallbackSubject,
  told: readonly CallbackSubject[],
): PlannedDelivery[] {
  return told.includes(about) ? callbackOf(payment).map((callback) => ({ ...callback, about })) : [];
}

function callbackOf(payment: RequestedPayment) {
  const { callbackUrl: url } = payment.request;
  return url === '' ? [] : [{ key: `callback-${changesOf(payment) + 1}`, kind: 'callback', url } as const];
}

/** What to add to an event about a wrong amount; nothing once the payment is paid. */
export function announcement(payment: RequestedPayment) {
  if (payment.status === 'succeeded') return {};
  const deliveries = deliveriesFor(payment, 'wrongAmount');
  return { merchantCode: payment.request.merchant.code, deliveries };
}
