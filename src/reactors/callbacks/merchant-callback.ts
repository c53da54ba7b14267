/** Tells a merchant's server how a payment stands: content/docs/deliveries.md. */
import type { PostOutbound } from '../../clients/outbound/post.ts';
import { paymentFields } from '../../receipts/payment-fields.ts';
import { isSuccess, outcomeOfError, outcomeOfRefusal } from '../deliveries/answers.ts';
import { deliveryIdOf, type PerformDelivery } from '../deliveries/delivery-task.ts';
import { signWebhook } from './webhook-signature.ts';

/** How a merchant wants its callbacks; one that is no longer registered gets plain JSON. */
type CallbackSettings = {
  webhookSecrets: readonly string[];
  callbackFormat: 'json' | 'form';
};

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
      return isSuccess(answer)
        ? { kind: 'delivered', status: answer.status, messageId: id }
        : outcomeOfRefusal(answer, clock());
    } catch (error) {
      return outcomeOfError(error);
    }
  };
}
