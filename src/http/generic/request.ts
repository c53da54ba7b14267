/** POST /generic/request: a merchant requests a payment, and receives the page on which its payer pays. */
import { maskable } from '@ledger/kernel/structs.ts';
import type { Infer } from 'superstruct';
import { transactionIdOf } from '../../commands/transaction-id.ts';
import type { Sen } from '../../common/money.ts';
import type { RequestDetails } from '../../events/personal-data.ts';
import type { PaymentChannel } from '../pay/channel.ts';
import {
  amount,
  checkRedirectHost,
  email,
  extra,
  moment,
  optional,
  reference,
  required,
  url,
} from '../pay/request-fields.ts';
import { startPayment } from '../pay/start-payment.ts';
import type { Context } from '../server/context.ts';
import type { FromMerchant } from './authenticate.ts';

type PaymentRequestBody = Infer<ReturnType<typeof paymentRequestBody>>;

/** Optional texts are `''` where they are missing. */
export function paymentRequestBody({ maxAmountSen, production }: { maxAmountSen: Sen; production: boolean }) {
  return maskable({
    trans_id: reference,
    amount: amount(maxAmountSen),
    service: required(100),
    description: required(250),
    callback_url: url(production),
    redirect_url: url(production),
    name: optional(150),
    email: email,
    ic_no: optional(50),
    address_1: optional(200),
    address_2: optional(200),
    city: optional(100),
    postcode: optional(20),
    state: optional(100),
    phone_no: optional(30),
    expires_at: moment,
    extra: extra(),
  });
}

export async function requestPayment(
  ctx: Context<FromMerchant & { body: PaymentRequestBody }>,
  channel: PaymentChannel,
): Promise<void> {
  const { body, merchant } = ctx.state;
  checkRedirectHost('redirect_url', body.redirect_url, merchant);
  const requested = {
    transactionId: transactionIdOf(channel.config.transactionIdKey, 'generic', merchant.code, body.trans_id),
    merchant,
    reference: body.trans_id,
    amountSen: body.amount,
    service: body.service,
    description: body.description,
    items: [],
    details: detailsOf(body),
    callbackUrl: body.callback_url,
    redirectUrl: body.redirect_url,
    branchCode: '',
    ...(body.expires_at && { expiresAt: body.expires_at }),
  };
  await startPayment(ctx, channel, requested, `merchant:${merchant.code}`);
}

function detailsOf(body: PaymentRequestBody): RequestDetails {
  const payer = {
    name: body.name,
    email: body.email,
    icNo: body.ic_no,
    address1: body.address_1,
    address2: body.address_2,
    city: body.city,
    postcode: body.postcode,
    state: body.state,
    phoneNo: body.phone_no,
  };
  return { payer, extra: body.extra };
}
