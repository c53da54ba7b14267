/** GET /<channel>/pay/{id}: the page on which a payer chooses how to pay. */
import { format } from '@ledger/kernel/format.ts';
import { refusalToBegin } from '../../commands/refusal-to-pay.ts';
import { otherLanguage } from '../../common/languages.ts';
import { displaySen } from '../../common/money.ts';
import { outstandingSen } from '../../events/adjustments.ts';
import type { OpenPayment } from '../../events/open-payment.ts';
import { standingOf } from '../../events/payment-standing.ts';
import { openAttempts } from '../../events/requery-schedule.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { agoText, type Language, otherChargeTexts, timeText } from '../../receipts/texts.ts';
import { askedLanguage, type Context, languageOf, seeOther } from '../server/context.ts';
import { agencyTexts } from './agency.ts';
import type { PaymentChannel } from './channel.ts';
import { drawKept } from './kept-page.ts';
import type { LoadedPayment } from './load-payment.ts';
import { type Offer, offersFor } from './payment-methods.ts';
import { type Texts, texts } from './texts.ts';

/** What was wrong with the form that a payer sent, and what the payer had chosen. */
export type FormFault = { error: keyof Texts['formErrors']; chosenMode: string; chosenBank: string };

export async function showPaymentPage(ctx: Context<LoadedPayment>, channel: PaymentChannel): Promise<void> {
  const { payment, asAt } = ctx.state;
  if (refusalToBegin(payment, channel.runtime.now().toISOString()))
    return seeOther(ctx, channel.links.receipt(payment.request.transactionId, askedLanguage(ctx)));
  const asAtText = asAt && timeText(asAt.toISOString(), languageOf(ctx));
  await drawPaymentPage(ctx, payment, channel, { asAt: asAtText });
}

/** A merchant may relay the page from its own origin: every URL in it is absolute. Amounts read `RM 1,234.50`. */
export function drawPaymentPage(
  ctx: Context,
  payment: OpenPayment,
  { config, links, tokens, runtime }: PaymentChannel,
  more: (FormFault & { again: boolean }) | { asAt: string | null } = { asAt: null },
): Promise<void> {
  const { attempts, request, status } = payment;
  const { linkEndsAtMs } = ctx.state;
  const lang = languageOf(ctx);
  const offers = offersFor(payment, config);
  const otherCharges = otherChargeTexts(receiptOf(payment), lang);
  const texts = {
    otherLanguageUrl: links.pay(request.transactionId, otherLanguage(lang), linkEndsAtMs),
    action: links.pay(request.transactionId, lang, linkEndsAtMs),
    token: tokens.issue(request.transactionId, attempts.length + 1),
    amount: displaySen(outstandingSen(payment)),
    ...agencyTexts(config.merchants, request.merchant, lang),
    service: request.service,
    description: request.description,
    reference: request.reference,
    payerName: request.payer.name,
    receiptUrl: links.receipt(request.transactionId, lang),
  };
  const model = () => ({
    lang,
    items: request.items.map(({ description, titleId, amountSen }) => ({
      title: description,
      detail: titleId,
      amount: displaySen(amountSen),
    })),
    methods: offers.map((offer) => shownMethod(offer, lang)),
    otherCharges,
    lastAttempt: status === 'failed' || status === 'cancelled' ? status : undefined,
    openAttempts: openAttemptTexts(payment, { lang, offers, now: runtime.now() }),
    isPartlyPaid: standingOf(payment) === 'partlyPaid',
    ...more,
  });
  const isNew = status === 'requested' && attempts.length === 0 && otherCharges.length === 0;
  if (!isNew || request.items.length > 0 || 'error' in more || more.asAt !== null)
    return ctx.render('payment.njk', { ...model(), ...texts });
  const shape = JSON.stringify([lang, offers.map(shapeOf)]);
  return drawKept(ctx, 'payment.njk', { settings: config.methods, shape, texts, model });
}

/** What a method shows besides its settings. */
const shapeOf = ({ mode, chargeSen, totalSen, outsideLimits }: Offer) =>
  chargeSen === 0 ? [mode, outsideLimits] : [mode, outsideLimits, chargeSen, totalSen];

const shownAttempts = 3;

function openAttemptTexts(
  payment: OpenPayment,
  { lang, offers, now }: { lang: Language; offers: readonly Offer[]; now: Date },
): string[] {
  const open = new Set(openAttempts(payment).map(({ sellerOrderNo }) => sellerOrderNo));
  const chosen = payment.attempts.filter(({ sellerOrderNo }) => open.has(sellerOrderNo));
  return chosen.slice(-shownAttempts).map(({ at, bankCode, mode }) => {
    const banks = offers.find((offer) => offer.mode === mode)?.banks ?? [];
    const bank = banks.find(({ code }) => code === bankCode)?.name;
    const method = bank ?? texts[lang].modes[mode];
    return format(texts[lang].openAttempt.started, { method, when: agoText(at, now, lang) });
  });
}

function shownMethod({ mode, minSen, maxSen, banks, ...offer }: Offer, lang: Language) {
  const t = texts[lang];
  const min = minSen === null ? '' : displaySen(minSen);
  const max = maxSen === null ? '' : displaySen(maxSen);
  const reasons = { below: format(t.belowLimit, { min }), above: format(t.aboveLimit, { max }) };
  return {
    mode,
    name: t.modes[mode],
    /** Sent back with the form: by then, the fee may be another. */
    feeSen: offer.chargeSen,
    charge:
      offer.chargeSen === 0
        ? undefined
        : { amount: displaySen(offer.chargeSen), total: displaySen(offer.totalSen) },
    /** Why this payment cannot use the method, which is then shown but cannot be chosen. */
    unavailable: offer.outsideLimits ? reasons[offer.outsideLimits] : undefined,
    banks: banks.length === 0 ? undefined : banks,
  };
}
