/** Where a payer's page leads: back to the merchant, and to the other language. */
import type { RequestedPayment } from '../../events/payment.ts';
import { statusCodeOf } from '../../receipts/payment-fields.ts';
import type { Language } from '../../receipts/texts.ts';

/** redirect_url with trans_id, transaction_id and status after its own query, which the merchant may have signed. */
export function backToMerchant(payment: RequestedPayment): string {
  const { request } = payment;
  const url = new URL(request.redirectUrl);
  const ours = new URLSearchParams({
    trans_id: request.reference,
    transaction_id: request.transactionId,
    status: statusCodeOf(payment),
  });
  url.search = url.search === '' ? `${ours}` : `${url.search}&${ours}`;
  return url.href;
}

export const otherLanguage = (lang: Language): Language => (lang === 'en' ? 'ms' : 'en');
