/** What a merchant can have done to its own payment: POST /generic/payments/{id}/cancel and …/send-again. */
import texts from '../../../../content/texts/payments.en.json' with { type: 'json' };
import { Refused } from '../../../commands/decider.ts';
import type { PaymentCommand } from '../../../commands/payment.ts';
import { paymentStream } from '../../../events/payment.ts';
import type { PaymentChannel } from '../../pay/channel.ts';
import { type Context, causeOf } from '../../server/context.ts';
import type { FromMerchant } from '../authenticate.ts';
import type { OwnPayment } from './own-payment.ts';

type OwnContext = Context<FromMerchant & OwnPayment>;
type Action = Extract<PaymentCommand, { type: keyof typeof texts.done }>;

/** Answers 202 even if there was nothing to do. */
async function act(ctx: OwnContext, { execute }: PaymentChannel, command: Action): Promise<void> {
  const { merchant, own } = ctx.state;
  const cause = causeOf(ctx, `merchant:${merchant.code}`);
  await execute(paymentStream(own.payment.request.transactionId), command, cause, { from: own.head });
  ctx.status = 202;
  ctx.body = { status: true, message: texts.done[command.type] };
}

export const cancel = (ctx: OwnContext, channel: PaymentChannel) =>
  act(ctx, channel, { type: 'CancelPayment', at: channel.runtime.now().toISOString(), source: 'merchant' });

/** After this many attempts a merchant cannot ask for a delivery again, which keeps its stream short. Staff can. */
export const maxAttempts = 50;

/** Only a callback: an email goes to a person. */
export async function sendAgain(ctx: OwnContext, channel: PaymentChannel): Promise<void> {
  const { params, state } = ctx;
  const wanted = state.own.payment.deliveries.find(({ key }) => key === params.delivery);
  if (wanted?.kind !== 'callback') throw new Refused('unknown_delivery', 'This payment has no such callback');
  const at = channel.runtime.now().toISOString();
  await act(ctx, channel, { type: 'RequestDelivery', at, delivery: wanted.key, maxAttempts });
}
