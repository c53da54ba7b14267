/** A payment's deliveries, each with the attempts that were made, from the payment's own events. */
import { isOvertaken, isSoon, lacksErased } from '../../commands/deliveries.ts';
import type { Delivery } from '../../events/deliveries.ts';
import type { PaymentEvent, RequestedPayment } from '../../events/payment.ts';

type Attempt = Extract<PaymentEvent, { data: { attempt: number; durationMs: number } }>;

export function shownDeliveries(
  payment: RequestedPayment,
  events: readonly (PaymentEvent | null)[],
  now: Date,
) {
  const { deliveries, request } = payment;
  const attempts = events.filter((event): event is Attempt => event !== null && 'durationMs' in event.data);
  return deliveries.map((delivery) => ({
    ...delivery,
    receiver: receiverOf(delivery.kind, request.callbackUrl),
    canSendAgain:
      !isSoon(delivery, now.toISOString()) &&
      !isOvertaken(delivery, deliveries) &&
      !lacksErased(delivery, payment),
    made: attempts
      .filter(({ data }) => data.delivery === delivery.key)
      .map(({ data }) => ({
        at: data.at,
        attempt: data.attempt,
        durationMs: data.durationMs,
        /** The status of the HTTP answer; null if there was none, and for email. */
        status: 'status' in data ? data.status : null,
        reason: 'reason' in data ? data.reason : 'delivered',
      })),
  }));
}

/** Only the host: the rest of the address may hold one of the merchant's keys. */
function receiverOf(kind: Delivery['kind'], callbackUrl: string): string {
  if (kind === 'callback') return URL.parse(callbackUrl)?.host ?? 'unreadable address';
  return kind === 'item' ? 'land registry' : 'payer, by email';
}
