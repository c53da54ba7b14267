/** Shows a payer the payment as it stands: the page to pay on, or the receipt. */
import type { RequestedPayment } from '../../events/payment.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { type Context, languageOf } from '../server/context.ts';
import type { PayDependencies } from './dependencies.ts';
import type { PageTokens } from './page-token.ts';
import { type Offer, offersFor } from './payment-methods.ts';
import { type FormFault, paymentPage } from './payment-page.ts';
import { receiptPage } from './receipt-page.ts';

export type PayerPages = ReturnType<typeof createPayerPages>;

export function createPayerPages(dependencies: {
  config: Pick<PayDependencies['config'], 'merchants' | 'methods'>;
  links: Links;
  tokens: PageTokens;
  clock: () => Date;
}) {
  const { config, links, tokens, clock } = dependencies;

  function offers({ request }: RequestedPayment): Offer[] {
    return offersFor(request, config.methods, config.merchants.get(request.merchant.code));
  }

  function showPaymentPage(ctx: Context, payment: RequestedPayment, fault?: FormFault): Promise<void> {
    const token = tokens.issue(payment.request.transactionId, payment.attempts.length + 1, clock());
    const page = { lang: languageOf(ctx), token, links, offers: offers(payment) };
    return ctx.render('payment.njk', paymentPage(payment, page, fault));
  }

  function showReceipt(ctx: Context, payment: RequestedPayment): Promise<void> {
    return ctx.render('receipt.njk', receiptPage(payment, languageOf(ctx), links));
  }

  return { offers, showPaymentPage, showReceipt };
}

/** Whether there is nothing to choose: it is paid, or may be paid already at the bank. */
export function isSettled({ status }: RequestedPayment): boolean {
  return status === 'succeeded' || status === 'pending';
}
