/** POST /generic/request: a merchant asks for a payment and is given the page on which its payer pays. */
import { transactionIdOf } from '../../commands/transaction-id.ts';
import type { Merchant } from '../../config/merchants.ts';
import type { PaymentRequested } from '../../events/payment.ts';
import type { Sen } from '../../kernel/money.ts';
import type { StartPayment } from '../pay/start-payment.ts';
import type { Context } from '../server/context.ts';
import type { Authenticate } from './authenticate.ts';
import { createReadBody, type RequestBody } from './request-body.ts';

export function createRequest(dependencies: {
  config: { maxAmountSen: Sen; production: boolean; transactionIdKey: string };
  authenticate: Authenticate;
  startPayment: StartPayment;
  clock: () => Date;
}) {
  const { authenticate, clock, config, startPayment } = dependencies;
  const readBody = createReadBody(config);

  return async (ctx: Context): Promise<void> => {
    const merchant = authenticate(ctx);
    const body = readBody(ctx.request.body, merchant);
    const request = requestOf(body, merchant, config.transactionIdKey, clock());
    await startPayment(ctx, request, `merchant:${merchant.code}`);
  };
}

function requestOf(body: RequestBody, merchant: Merchant, key: string, now: Date): PaymentRequested {
  return {
    at: now.toISOString(),
    transactionId: transactionIdOf(key, 'generic', merchant.code, body.trans_id),
    channel: 'generic',
    merchant: { code: merchant.code, id: merchant.id, name: merchant.name },
    reference: body.trans_id,
    amountSen: body.amount,
    service: body.service,
    description: body.description,
    items: [],
    payer: {
      name: body.name,
      email: body.email,
      icNo: body.ic_no,
      address1: body.address_1,
      address2: body.address_2,
      city: body.city,
      postcode: body.postcode,
      state: body.state,
      phoneNo: body.phone_no,
    },
    callbackUrl: body.callback_url,
    redirectUrl: body.redirect_url,
    branchCode: '',
    extra: body.extra,
  };
}
