/** The end of POST /<channel>/request: records the payment, and shows the page on which to pay it. */
import { refusalToBegin } from '../../commands/refusal-to-pay.ts';
import type { Merchant } from '../../config/merchants.ts';
import { openedAs, openPayment } from '../../events/open-payment.ts';
import { type PaymentRequested, paymentStream } from '../../events/payment.ts';
import type { RequestDetails } from '../../events/personal-data.ts';
import { statusCodeOf } from '../../receipts/payment-fields.ts';
import { type Context, causeOf } from '../server/context.ts';
import type { PaymentChannel } from './channel.ts';
import { drawPaymentPage } from './payment-page.ts';
import { drawReceipt } from './receipt-page.ts';

/** What the channels find in their requests. */
type Requested = Omit<
  PaymentRequested,
  'at' | 'channel' | 'merchant' | 'personal' | 'fingerprint' | 'emailReceipt'
> & { merchant: Merchant; details: RequestDetails };

/** Answers the request; a repeated request gets the payment in its present state. Throws Refused. */
export async function startPayment(
  ctx: Context,
  dependencies: PaymentChannel,
  { merchant, details, ...requested }: Requested,
  actor: string,
): Promise<void> {
  const { channel, execute, fingerprint, links, personalData, runtime } = dependencies;
  const { transactionId } = requested;
  const request: PaymentRequested = {
    ...requested,
    at: runtime.now().toISOString(),
    channel,
    merchant: { code: merchant.code, id: merchant.id, name: merchant.name },
    personal: { plain: details },
    fingerprint: fingerprint([transactionId, details]),
    emailReceipt: details.payer.email !== '',
  };
  const command = { type: 'RequestPayment', request } as const;
  const stream = paymentStream(transactionId);
  const { events, state } = await execute(stream, command, causeOf(ctx, actor), { creates: true });
  if (state.status === 'none') throw new Error('A payment that was requested has no state');
  const refusal = refusalToBegin(state, runtime.now().toISOString());
  if (!wantsJson(ctx)) {
    // A new payment's details are at hand; those of an earlier request have to be decrypted.
    const payment =
      events.length > 0 ? openedAs(state, details) : await openPayment(state, personalData.open);
    return refusal
      ? drawReceipt(ctx, { payment, asAt: null }, dependencies)
      : drawPaymentPage(ctx, payment, dependencies);
  }
  ctx.body = {
    status: true,
    message: refusal?.message ?? 'Send the payer to payment_url',
    data: {
      transaction_id: transactionId,
      payment_url: links.pay(transactionId),
      status: statusCodeOf(state),
    },
  };
}

/** An Accept that names JSON but not HTML. Clients that accept anything by default get the documented page. */
function wantsJson(ctx: Context): boolean {
  const types = ctx
    .get('Accept')
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/html') && !types.includes('*/*');
}
