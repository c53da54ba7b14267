/** POST /generic/request: a merchant requests a payment, and receives the page on which its payer pays. */
import { createFingerprint } from '../../commands/fingerprint.ts';
import { transactionIdOf } from '../../commands/transaction-id.ts';
import type { PaymentRequested } from '../../events/payment.ts';
import type { RequestDetails } from '../../events/personal-data.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { checkRedirectHost } from '../pay/request-fields.ts';
import type { StartPayment } from '../pay/start-payment.ts';
import type { Context } from '../server/context.ts';
import type { FromMerchant } from './authenticate.ts';
import type { PaymentRequestBody } from './request-body.ts';

export function createRequestPayment(dependencies: {
  transactionIdKey: string;
  startPayment: StartPayment;
  runtime: Pick<Runtime, 'now'>;
}) {
  const { transactionIdKey, startPayment, runtime } = dependencies;
  const fingerprint = createFingerprint(transactionIdKey);
  return async (ctx: Context<FromMerchant & { body: PaymentRequestBody }>): Promise<void> => {
    const { body, merchant } = ctx.state;
    checkRedirectHost('redirect_url', body.redirect_url, merchant);
    const details = detailsOf(body);
    const transactionId = transactionIdOf(transactionIdKey, 'generic', merchant.code, body.trans_id);
    const request: PaymentRequested = {
      at: runtime.now().toISOString(),
      transactionId,
      channel: 'generic',
      merchant: { code: merchant.code, id: merchant.id, name: merchant.name },
      reference: body.trans_id,
      amountSen: body.amount,
      service: body.service,
      description: body.description,
      items: [],
      personal: { plain: details },
      fingerprint: fingerprint([transactionId, details]),
      emailReceipt: body.email !== '',
      callbackUrl: body.callback_url,
      redirectUrl: body.redirect_url,
      branchCode: '',
    };
    await startPayment(ctx, request, `merchant:${merchant.code}`);
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
