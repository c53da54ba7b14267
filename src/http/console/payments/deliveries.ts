/** A payment's deliveries with every try that was made, as its own events tell them. */
import { isOvertaken } from '../../../commands/deliveries.ts';
import type { Delivery } from '../../../events/deliveries.ts';
import type { PaymentEvent, RequestedPayment } from '../../../events/payment.ts';

type Tried = Extract<PaymentEvent, { data: { attempt: number; durationMs: number } }>;

export type ShownDelivery = Delivery & {
  receiver: string;
  canSendAgain: boolean;
  tries: readonly { at: string; attempt: number; durationMs: number; said: string }[];
};

export function shownDeliveries(payment: RequestedPayment, events: readonly PaymentEvent[]): ShownDelivery[] {
  const { deliveries, request } = payment;
  const tries = events.filter((event): event is Tried => 'durationMs' in event.data);
  return deliveries.map((delivery) => ({
    ...delivery,
    receiver: receiverOf(delivery.kind, request.callbackUrl),
    canSendAgain: delivery.state !== 'due' && !isOvertaken(delivery, deliveries),
    tries: tries
      .filter(({ data }) => data.delivery === delivery.key)
      .map(({ data }) => ({
        at: data.at,
        attempt: data.attempt,
        durationMs: data.durationMs,
        said: [
          'status' in data && data.status !== null ? String(data.status) : '',
          'reason' in data ? data.reason : 'delivered',
        ]
          .filter((part) => part !== '')
          .join(' '),
      })),
  }));
}

/** The host alone: a path or a query may hold a key of the merchant's. */
function receiverOf(kind: Delivery['kind'], callbackUrl: string): string {
  if (kind === 'callback') return URL.parse(callbackUrl)?.host ?? 'unreadable address';
  return kind === 'item' ? 'land registry' : 'payer, by email';
}
