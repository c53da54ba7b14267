/** POST /<channel>/request, once the caller and the body are known: makes the payment, and shows the page to pay it on. */
import { type PaymentRequested, paymentStream } from '../../events/payment.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { statusCodeOf } from '../../receipts/status-code.ts';
import { type Context, causeOf } from '../server/context.ts';
import type { PayDependencies } from './dependencies.ts';
import { isSettled, type PayerPages } from './pages.ts';

/** Answers the request. Asking again for the same payment shows it as it stands by now. Throws Refused. */
export type StartPayment = (ctx: Context, request: PaymentRequested, actor: string) => Promise<void>;

export function createStartPayment({
  execute,
  links,
  pages,
}: {
  execute: PayDependencies['execute'];
  links: Links;
  pages: PayerPages;
}): StartPayment {
  return async (ctx, request, actor) => {
    const { state: payment } = await execute(
      paymentStream(request.transactionId),
      { type: 'RequestPayment', request },
      causeOf(ctx, actor),
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

/** Only an Accept that names JSON and no HTML: clients whose default is a catch-all get the documented page. */
function wantsJson(ctx: Context): boolean {
  const types = ctx
    .get('Accept')
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/html') && !types.includes('*/*');
}
