/** The page on which a payer chooses how to pay. */

import type { RequestedPayment } from '../../events/payment.ts';
import { displaySen } from '../../kernel/money.ts';
import type { Links } from '../../receipts/payment-links.ts';
import type { Language } from '../server/language.ts';
import { backToMerchant, otherLanguage } from './links.ts';
import type { PaymentMethod, PaymentPage } from './models.ts';
import type { Offer } from './payment-methods.ts';
import { texts } from './texts.ts';

/** The form as it was sent, when it comes back with an error. */
export type FormFault = Required<Pick<PaymentPage, 'error' | 'chosenMode' | 'chosenBank'>>;

export function paymentPage(
  payment: RequestedPayment,
  page: { lang: Language; token: string; links: Links; offers: readonly Offer[] },
  fault?: FormFault,
): PaymentPage {
  const { request, status } = payment;
  const { lang, links } = page;
  return {
    lang,
    otherLanguageUrl: links.pay(request.transactionId, otherLanguage(lang)),
    action: links.pay(request.transactionId, lang),
    token: page.token,
    amount: displaySen(request.amountSen),
    agency: request.merchant.name,
    service: request.service,
    description: request.description,
    reference: request.reference,
    payerName: request.payer.name,
    items: request.items.map(({ description, titleId, amountSen }) => ({
      title: description,
      detail: titleId,
      amount: displaySen(amountSen),
    })),
    methods: page.offers.map((offer) => methodOf(offer, lang)),
    lastAttempt: status === 'failed' || status === 'cancelled' ? status : undefined,
    cancelUrl: backToMerchant(payment),
    ...fault,
  };
}

function methodOf({ mode, minSen, maxSen, banks, ...offer }: Offer, lang: Language): PaymentMethod {
  const t = texts[lang];
  const min = minSen === null ? '' : displaySen(minSen);
  const max = maxSen === null ? '' : displaySen(maxSen);
  return {
    mode,
    name: t.modes[mode],
    limits: min && max ? t.limits(min, max) : undefined,
    charge:
      offer.chargeSen === 0
        ? undefined
        : { amount: displaySen(offer.chargeSen), total: displaySen(offer.totalSen) },
    unavailable: offer.outsideLimits
      ? offer.outsideLimits === 'below'
        ? t.belowLimit(min)
        : t.aboveLimit(max)
      : undefined,
    banks: banks.length === 0 ? undefined : banks,
  };
}
