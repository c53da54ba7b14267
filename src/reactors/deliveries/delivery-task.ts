/** What performs a delivery, and how it ended: the contract between reactor.ts and the kinds of delivery. */
import type { Delivery } from '../../events/deliveries.ts';
import type { RequestedPayment } from '../../events/payment.ts';

export type DeliveryTask = {
  /** As it was when its outcome called for the delivery, whatever came later: every try says the same. */
  payment: RequestedPayment;
  delivery: Delivery;
  /** Aborts when the try takes too long, or the process has to end. */
  signal: AbortSignal;
};

/** `status` is the HTTP answer's, null where there was none; `reason` a few words without personal data. */
export type DeliveryOutcome =
  /** `messageId` is the id under which the receiver knows it. */
  | { kind: 'delivered'; status: number | null; messageId: string }
  | {
      kind: 'failed';
      status: number | null;
      reason: string;
      /** True when the receiver as a whole is at fault, not this delivery: others to it are held back too. */
      isReceiverDown: boolean;
      /** What the receiver asked for; 0 where it said nothing. */
      retryAfterMs: number;
    }
  /** Failed for good: trying again would change nothing. */
  | { kind: 'abandoned'; status: number | null; reason: string };

/** Never rejects for what a receiver does; what it throws is a fault of the program and counts as a failed try. */
export type PerformDelivery = (task: DeliveryTask) => Promise<DeliveryOutcome>;

/** Under which the receiver recognises a repeat: `webhook-id`, and the local part of Message-ID. Holds no dot. */
export function deliveryIdOf({ payment, delivery }: Pick<DeliveryTask, 'payment' | 'delivery'>): string {
  return `${payment.request.transactionId}-${delivery.key}`;
}
