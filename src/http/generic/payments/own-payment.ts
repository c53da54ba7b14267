/**
 * A merchant's own payment, and what it can have done to it: POST /generic/payments/{id}/cancel and
 * …/deliveries/{delivery}/send-again.
 */
import type { Next } from 'koa';
import texts from '../../../../content/texts/payments.en.json' with { type: 'json' };
import { Refused } from '../../../commands/decider.ts';
import type { PaymentCommand } from '../../../commands/payment.ts';
import { toIsoWithOffset } from '../../../common/malaysian-time.ts';
import { UnreadableEvent } from '../../../events/codec.ts';
import type { OpenPayment } from '../../../events/open-payment.ts';
import { paymentStream, type RequestedPayment } from '../../../events/payment.ts';
import { adjustmentFields, paymentFields } from '../../../receipts/payment-fields.ts';
import type { PaymentChannel } from '../../pay/channel.ts';
import { type Context, causeOf } from '../../server/context.ts';
import { loadHistory, noSuchPayment, type PaymentHistory } from '../../server/load-history.ts';
import type { FromMerchant } from '../authenticate.ts';

export type OwnPayment = { own: PaymentHistory & { payment: RequestedPayment } };

/** Loads the payment of a path. Another merchant's is 404, like one that does not exist. Throws UnreadableEvent. */
export async function loadOwn(
  ctx: Context<FromMerchant & OwnPayment>,
  { eventStore }: PaymentChannel,
  next: Next,
): Promise<unknown> {
  const { payment, ...history } = await loadHistory(ctx, eventStore);
  const { channel, merchant } = payment?.request ?? {};
  if (!payment || channel !== 'generic' || merchant?.code !== ctx.state.merchant.code) throw noSuchPayment();
  if (history.verdict.kind !== 'whole') throw new UnreadableEvent('The history of a payment is not whole');
  ctx.state.own = { ...history, payment };
  return next();
}

export function presentPayment(payment: OpenPayment) {
  const requested_at = toIsoWithOffset(payment.request.at);
  return { ...paymentFields(payment), ...adjustmentFields(payment), requested_at };
}

const done: Readonly<Record<string, string>> = texts.done;

type Asked = Context<FromMerchant & OwnPayment>;

/** Answers 202 also if there was nothing to do. */
async function act(ctx: Asked, { execute }: PaymentChannel, command: PaymentCommand): Promise<void> {
  const { merchant, own } = ctx.state;
  const cause = causeOf(ctx, `merchant:${merchant.code}`);
  await execute(paymentStream(own.payment.request.transactionId), command, cause, { from: own.head });
  ctx.status = 202;
  ctx.body = { status: true, message: done[command.type] };
}

export const cancel = (ctx: Asked, channel: PaymentChannel) =>
  act(ctx, channel, { type: 'CancelPayment', at: channel.runtime.now().toISOString(), source: 'merchant' });

/** Of one delivery, whoever asks for it: its stream stays short. Staff may send it more often. */
export const maxAttempts = 50;

/** Only a callback: an email goes to a person. */
export async function sendAgain(ctx: Asked, channel: PaymentChannel): Promise<void> {
  const { params, state } = ctx;
  const wanted = state.own.payment.deliveries.find(({ key }) => key === params.delivery);
  if (wanted?.kind !== 'callback') throw new Refused('unknown_delivery', 'This payment has no such callback');
  const at = channel.runtime.now().toISOString();
  await act(ctx, channel, { type: 'RequestDelivery', at, delivery: wanted.key, maxAttempts });
}
