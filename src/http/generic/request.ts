/** POST /generic/request: a merchant requests a payment, and receives the page on which its payer pays. */
import { transactionIdOf } from '../../commands/transaction-id.ts';
import type { RequestDetails } from '../../events/personal-data.ts';
import { checkRedirectHost } from '../pay/request-fields.ts';
import type { StartPayment } from '../pay/start-payment.ts';
import type { Context } from '../server/context.ts';
import type { FromMerchant } from './authenticate.ts';
import type { PaymentRequestBody } from './request-body.ts';

export function createRequestPayment(transactionIdKey: string, startPayment: StartPayment) {
  return async (ctx: Context<FromMerchant & { body: PaymentRequestBody }>): Promise<void> => {
    const { body, merchant } = ctx.state;
    checkRedirectHost('redirect_url', body.redirect_url, merchant);
    const requested = {
      transactionId: transactionIdOf(transactionIdKey, 'generic', merchant.code, body.trans_id),
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
    await startPayment(ctx, requested, `merchant:${merchant.code}`);
  };
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
