/** Reports a payment's status to its merchant: content/docs/deliveries.md. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { PostOutbound } from '@ledger/outbound/post.ts';
import { Webhook } from 'standardwebhooks';
import type { Merchant } from '../../config/merchants.ts';
import { adjustmentFields, eventFields, paymentFields } from '../../receipts/payment-fields.ts';
import { deliveryIdOf, type PerformDelivery } from '../deliveries/delivery-task.ts';
import { isSuccess, outcomeOfError, outcomeOfRefusal } from '../deliveries/receiver-answer.ts';

/** A merchant that is no longer registered gets plain JSON. */
export function createMerchantCallback({
  merchants,
  post,
  runtime,
}: {
  merchants: ReadonlyMap<string, Pick<Merchant, 'webhookSecrets' | 'callbackFormat'>>;
  post: PostOutbound;
  runtime: Pick<Runtime, 'now'>;
}): PerformDelivery {
  return async (task) => {
    const { planned } = task;
    if (planned.kind !== 'callback') throw new Error(`${planned.key} is no callback`);
    const { request } = task.payment;
    const merchant = merchants.get(request.merchant.code);
    const { about } = planned;
    const fields = {
      ...paymentFields(task.payment),
      ...(about && { ...eventFields(about), ...adjustmentFields(task.payment) }),
    };
    const isForm = merchant?.callbackFormat === 'form';
    const body = isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields);
    const id = deliveryIdOf(task);
    const now = runtime.now();
    const secrets = merchant?.webhookSecrets ?? [];
    const headers = {
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'user-agent': 'payment-ledger',
      'x-correlation-id': task.correlationId,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      ...(secrets.length > 0 && { 'webhook-signature': signaturesOf(secrets, { id, now, body }) }),
    };
    try {
      const answer = await post({ url: planned.url, headers, body, signal: task.signal });
      return isSuccess(answer)
        ? { kind: 'delivered', status: answer.status, messageId: id }
        : outcomeOfRefusal(answer, runtime.now());
    } catch (error) {
      return outcomeOfError(error);
    }
  };
}

/**
 * Standard Webhooks (https://www.standardwebhooks.com): one signature per secret, so that during a change of secrets a
 * receiver finds the one for its own. A secret is `whsec_<base64>`, or text that is itself the key.
 */
export function signaturesOf(
  secrets: readonly string[],
  { id, now, body }: { id: string; now: Date; body: string },
): string {
  return secrets
    .map((secret) =>
      secret.startsWith('whsec_')
        ? Buffer.from(secret.slice('whsec_'.length), 'base64')
        : Buffer.from(secret, 'utf8'),
    )
    .map((key) => new Webhook(key, { format: 'raw' }).sign(id, now, body))
    .join(' ');
}
