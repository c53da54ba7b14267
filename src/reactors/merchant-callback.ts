/** Tells a merchant's server how a payment stands: content/docs/deliveries.md. */
import { AddressRefused } from '../clients/address-guard.ts';
import { NoAnswer, type OutboundAnswer, type PostOutbound } from '../clients/outbound.ts';
import { paymentFields } from '../receipts/payment-fields.ts';
import { type DeliveryOutcome, deliveryIdOf, type PerformDelivery } from './delivery-task.ts';
import { signWebhook } from './webhook-signature.ts';

/** How a merchant wants its callbacks; one that is no longer registered gets plain JSON. */
type CallbackSettings = {
  webhookSecrets: readonly string[];
  callbackFormat: 'json' | 'form';
};

const gone = 410;
const tooMany = 429;

export function createMerchantCallback({
  merchants,
  post,
  clock,
}: {
  merchants: ReadonlyMap<string, CallbackSettings>;
  post: PostOutbound;
  clock: () => Date;
}): PerformDelivery {
  return async (task) => {
    const { request } = task.payment;
    const merchant = merchants.get(request.merchant.code);
    const fields = paymentFields(task.payment);
    const isForm = merchant?.callbackFormat === 'form';
    const body = isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields);
    const id = deliveryIdOf(task);
    const timestamp = Math.floor(clock().getTime() / 1000);
    const secrets = merchant?.webhookSecrets ?? [];
    const headers = {
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'user-agent': 'payment-ledger',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...(secrets.length > 0 && { 'webhook-signature': signWebhook(secrets, { id, timestamp, body }) }),
    };
    try {
      const answer = await post({ url: request.callbackUrl, headers, body, signal: task.signal });
      return outcomeOf(answer, id, clock());
    } catch (error) {
      if (!(error instanceof NoAnswer || error instanceof AddressRefused)) throw error;
      const isReceiverDown = error instanceof NoAnswer;
      return { kind: 'failed', status: null, reason: error.message, isReceiverDown, retryAfterMs: 0 };
    }
  };
}

function outcomeOf({ status, retryAfter }: OutboundAnswer, id: string, now: Date): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, messageId: id };
  const reason = `answered ${status}`;
  if (status === gone) return { kind: 'abandoned', status, reason };
  const isReceiverDown = status >= 500 || status === tooMany;
  return { kind: 'failed', status, reason, isReceiverDown, retryAfterMs: readRetryAfter(retryAfter, now) };
}

/** Seconds or a date; 0 for what is neither. */
function readRetryAfter(text: string, now: Date): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const untilMs = Date.parse(text) - now.getTime();
  return untilMs > 0 ? untilMs : 0;
}
