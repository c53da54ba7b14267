/** The contract between the delivery worker and the functions that perform its deliveries: callbacks, items, emails. */
import type { Delivery, PlannedDelivery } from '../../events/deliveries.ts';
import type { Access, OpenPayment } from '../../events/open-payment.ts';

export type DeliveryTask = {
  /**
   * As it was when its outcome called for the delivery, so that every attempt sends the same content. Personal data are
   * those that can be read now: none if they have been erased since.
   */
  payment: OpenPayment;
  delivery: Delivery;
  /** What the event of that outcome says of it: where a callback goes, which item it is. */
  planned: PlannedDelivery;
  /** The id of the request that called for it, whose answer had it as X-Request-Id. */
  correlationId: string;
  /** Aborts when the attempt takes too long, or when the process has to end. */
  signal: AbortSignal;
};

/** `status` is that of the HTTP answer, null if there was none; `reason` is a few words without personal data. */
export type DeliveryOutcome =
  /** `messageId` is the id under which the receiver knows it. */
  | { kind: 'delivered'; status: number | null; messageId: string }
  | {
      kind: 'failed';
      status: number | null;
      reason: string;
      /** True if the receiver as a whole has a fault, so that its other deliveries are held back too. */
      isReceiverDown: boolean;
      /** What the receiver asked for; 0 if it asked for nothing. */
      retryAfterMs: number;
    }
  /** Failed permanently: another attempt would change nothing. */
  | { kind: 'abandoned'; status: number | null; reason: string };

/** Never rejects because of a receiver; what it throws is a fault of the program and counts as a failed attempt. */
export type PerformDelivery = (task: DeliveryTask) => Promise<DeliveryOutcome>;

/** A failure without an answer, which is not the receiver's fault unless `about` says so. */
export function failure(
  reason: string,
  about: { status?: number; isReceiverDown?: boolean; retryAfterMs?: number } = {},
): DeliveryOutcome {
  return { kind: 'failed', status: null, reason, isReceiverDown: false, retryAfterMs: 0, ...about };
}

/** The outcome of a delivery that would say something else without the payer's data; null if the data are there. */
export function withoutPayer({ kind }: Access): DeliveryOutcome | null {
  if (kind === 'open') return null;
  if (kind === 'erased') return { kind: 'abandoned', status: null, reason: 'personal data erased' };
  // A lost key may be stored again by the process that made it, or from a backup. No attempt begins while PostgreSQL is down.
  return failure('personal data cannot be read any more');
}

/** The receiver recognises a repeat by it: `webhook-id`, and the local part of Message-ID. Contains no dot. */
export function deliveryIdOf({ payment, delivery }: Pick<DeliveryTask, 'payment' | 'delivery'>): string {
  return `${payment.request.transactionId}-${delivery.key}`;
}
