/** POST /generic/request: a merchant asks for a payment and is given the page on which its payer pays. */
import { transactionIdOf } from '../../commands/transaction-id.ts';
import type { Merchant } from '../../config/merchants.ts';
import type { Sen } from '../../events/money.ts';
import { type PaymentRequested, paymentStream } from '../../events/payment.ts';
import { statusCodeOf } from '../../receipts/status-code.ts';
import type { Authenticate } from '../auth/merchant.ts';
import { type Context, causeOf } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Links } from '../payer/links.ts';
import { isSettled, type PayerPages } from '../payer/pages.ts';
import { createReadBody, type RequestBody } from './request-body.ts';

export function createRequest(dependencies: {
  config: { maxAmountSen: Sen; production: boolean; transactionIdKey: string };
  authenticate: Authenticate;
  execute: Dependencies['execute'];
  pages: PayerPages;
  links: Links;
  clock: () => Date;
}) {
  const { authenticate, clock, config, execute, links, pages } = dependencies;
  const readBody = createReadBody(config);

  return async (ctx: Context): Promise<void> => {
    const merchant = authenticate(ctx);
    const body = readBody(ctx.request.body, merchant);
    const request = requestOf(body, merchant, config.transactionIdKey, clock());
    const { state: payment } = await execute(
      paymentStream(request.transactionId),
      { type: 'RequestPayment', request },
      causeOf(ctx, `merchant:${merchant.code}`),
      { creates: true },
    );
    if (payment.status === 'none') throw new Error('A payment that was asked for has no state');
    if (!wantsJson(ctx))
      return isSettled(payment) ? pages.showReceipt(ctx, payment) : pages.showPaymentPage(ctx, payment);
    ctx.body = {
      status: true,
      message: 'Send the payer to payment_url',
      data: {
        transaction_id: request.transactionId,
        payment_url: links.pay(request.transactionId),
        status: statusCodeOf(payment.status),
      },
    };
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

/** Only an Accept that names JSON and no HTML: clients whose default is a catch-all get the documented page. */
function wantsJson(ctx: Context): boolean {
  const types = ctx
    .get('Accept')
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/html') && !types.includes('*/*');
}
