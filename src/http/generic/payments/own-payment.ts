/** A payment that belongs to the merchant who asks for it. */
import type { Next } from 'koa';
import { toIsoWithOffset } from '../../../common/malaysian-time.ts';
import { UnreadableEvent } from '../../../events/codec.ts';
import type { OpenPayment } from '../../../events/open-payment.ts';
import type { RequestedPayment } from '../../../events/payment.ts';
import { adjustmentFields, paymentFields } from '../../../receipts/payment-fields.ts';
import type { PaymentChannel } from '../../pay/channel.ts';
import type { Context } from '../../server/context.ts';
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
