/** Addresses that payers are sent to. All are absolute: a merchant may relay a page from its own origin. */
import type { RequestedPayment } from '../../events/payment.ts';
import { statusCodeOf } from '../../receipts/status-code.ts';
import type { Language } from '../pages/language.ts';

export type Links = ReturnType<typeof createLinks>;

export function createLinks(baseUrl: string) {
  const page = (kind: string) => (transactionId: string, lang?: Language) =>
    `${baseUrl}/generic/${kind}/${transactionId}${lang ? `?lang=${lang}` : ''}`;
  return {
    pay: page('pay'),
    receipt: page('receipt'),
    download: page('download'),
    gatewayResult: `${baseUrl}/generic/response`,
  };
}

/** The merchant's redirect_url with trans_id, transaction_id and status in its query. */
export function backToMerchant({ request, status }: RequestedPayment): string {
  const url = new URL(request.redirectUrl);
  url.searchParams.set('trans_id', request.reference);
  url.searchParams.set('transaction_id', request.transactionId);
  url.searchParams.set('status', statusCodeOf(status));
  return url.href;
}

export const otherLanguage = (lang: Language): Language => (lang === 'en' ? 'ms' : 'en');
