/** Reports a payment's status to its merchant: content/docs/deliveries.md. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { isSuccess, type PostOutbound } from '@ledger/outbound/post.ts';
import { callbackMessage } from '../../clients/merchant/callback-message.ts';
import type { Merchant } from '../../config/merchants.ts';
import { adjustmentFields, eventFields, paymentFields } from '../../receipts/payment-fields.ts';
import { deliveryIdOf, type PerformDelivery } from '../deliveries/delivery-task.ts';
import { outcomeOfError, outcomeOfRefusal } from '../deliveries/receiver-answer.ts';

type Dependencies = {
  /** The merchant, with the secrets that are valid now. */
  merchantOf(code: string): Promise<Pick<Merchant, 'webhookSecrets' | 'callbackFormat'> | undefined>;
  post: PostOutbound;
  runtime: Pick<Runtime, 'now'>;
};

/** A merchant that is no longer registered gets plain JSON. */
export function createMerchantCallback({ merchantOf, post, runtime }: Dependencies): PerformDelivery {
  return async (task) => {
    const { planned } = task;
    if (planned.kind !== 'callback') throw new Error(`${planned.key} is no callback`);
    const { request } = task.payment;
    const merchant = await merchantOf(request.merchant.code);
    const { about } = planned;
    const fields = {
      ...paymentFields(task.payment),
      ...(about && { ...eventFields(about), ...adjustmentFields(task.payment) }),
    };
    const id = deliveryIdOf(task);
    const { correlationId, signal } = task;
    const message = callbackMessage(fields, merchant, { id, correlationId, now: runtime.now() });
    try {
      const answer = await post({ url: planned.url, ...message, signal });
      return isSuccess(answer)
        ? { kind: 'delivered', status: answer.status, messageId: id }
        : outcomeOfRefusal(answer, runtime.now());
    } catch (error) {
      return outcomeOfError(error);
    }
  };
}
