/** POST /generic/test-callback: sends a merchant's server a signed callback about a payment that does not exist. */
import { maskable } from '@ledger/kernel/structs.ts';
import { AddressRefused } from '@ledger/outbound/address-guard.ts';
import { isSuccess, NoAnswer } from '@ledger/outbound/post.ts';
import { type Infer, optional } from 'superstruct';
import texts from '../../../../content/texts/payments.en.json' with { type: 'json' };
import { callbackMessage } from '../../../clients/merchant/callback-message.ts';
import { oneOf } from '../../../commands/fields.ts';
import { toDateTime } from '../../../common/malaysian-time.ts';
import type { PaymentFields } from '../../../receipts/payment-fields.ts';
import type { PaymentChannel } from '../../pay/channel.ts';
import { url } from '../../pay/request-fields.ts';
import type { Context } from '../../server/context.ts';
import type { FromMerchant } from '../authenticate.ts';

export function testCallbackBody({ production }: { production: boolean }) {
  return maskable({
    callback_url: url(production),
    status: optional(oneOf(['0', '1', '2', '3'])),
  });
}

type TestCallbackContext = Context<FromMerchant & { body: Infer<ReturnType<typeof testCallbackBody>> }>;
const { fields: sample, statuses } = texts.testCallback;

/** Sends it immediately, ahead of all waiting deliveries. Nothing is recorded; the answer contains what was sent. */
export async function sendTestCallback(ctx: TestCallbackContext, channel: PaymentChannel): Promise<void> {
  const { credentials, postTest, runtime } = channel;
  const { body, merchant, requestId: correlationId, spend } = ctx.state;
  await spend('tests', merchant.code);
  const { callback_url: target, status = '3' } = body;
  const now = runtime.now();
  const fields: PaymentFields = {
    ...sample,
    status,
    payment_status: statuses[status],
    receipt_no: status === '1' ? 'TEST-RECEIPT' : '',
    payment_datetime: toDateTime(now.toISOString()),
    merchant_code: merchant.code,
    amount_received: '',
    status_detail: '',
  };
  const webhookSecrets = await credentials.webhookSecretsOf(merchant, 0);
  const sent = callbackMessage(
    fields,
    { ...merchant, webhookSecrets },
    { id: `test-${runtime.uuid()}`, correlationId, now },
  );
  const startedMs = runtime.monotonicMs();
  const answer = await postTest({ url: target, ...sent, signal: new AbortController().signal }).catch(
    (error: unknown) => {
      if (error instanceof NoAnswer || error instanceof AddressRefused) return error;
      throw error;
    },
  );
  const answer_status = answer instanceof Error ? null : answer.status;
  const reason = answer instanceof Error ? answer.message : `answered ${answer.status}`;
  const delivered = !(answer instanceof Error) && isSuccess(answer);
  const duration_ms = Math.round(runtime.monotonicMs() - startedMs);
  const message = `The test callback was ${delivered ? '' : 'not '}delivered`;
  ctx.body = { status: true, message, data: { delivered, answer_status, reason, duration_ms, sent } };
}
