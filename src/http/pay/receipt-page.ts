/** GET /<channel>/receipt/{id}: the official receipt, or how a payment stands that is not paid. */
import { format } from '@ledger/kernel/format.ts';
import { canRequestEmail, receiptEmailOf } from '../../commands/deliveries.ts';
import { refusalToBegin } from '../../commands/refusal-to-pay.ts';
import { otherLanguage } from '../../common/languages.ts';
import type { OpenPayment } from '../../events/open-payment.ts';
import { chosenLanguage, type RequestedPayment } from '../../events/payment.ts';
import { openAttempts } from '../../events/requery-schedule.ts';
import { statusCodeOf } from '../../receipts/payment-fields.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import {
  explanationOf,
  factsOf,
  headingOf,
  historyText,
  type Language,
  otherChargeTexts,
  statusName,
  timeText,
} from '../../receipts/texts.ts';
import { type Context, languageOf } from '../server/context.ts';
import { agencyTexts } from './agency.ts';
import type { PaymentChannel } from './channel.ts';
import type { LoadedPayment } from './load-payment.ts';
import { texts } from './texts.ts';

/** The pauses after which the page of an open payment looks again by itself: ten minutes in all. */
const pausesSeconds = [3, 5, 10, 20, 30, 60, 120, 360];

export const showReceipt = (ctx: Context<LoadedPayment>, channel: PaymentChannel): Promise<void> =>
  drawReceipt(ctx, ctx.state, channel);

export function drawReceipt(
  ctx: Context,
  { payment, asAt }: LoadedPayment,
  { config, emailTokens, links, runtime }: PaymentChannel,
): Promise<void> {
  const lang = languageOf(ctx, chosenLanguage(payment));
  const receipt = receiptOf(payment, asAt, runtime.now());
  const { status, transactionId } = receipt;
  const { linkEndsAtMs } = ctx.state;
  const ownUrl = links.receipt(transactionId, lang, linkEndsAtMs);
  const canPay = !refusalToBegin(payment, runtime.now().toISOString());
  // Also where nobody may begin to pay any more: the bank may still report an attempt that has begun.
  const isUnpaid = status === 'requested' || status === 'partlyPaid';
  const isOpen = status === 'pending' || (isUnpaid && openAttempts(payment).length > 0);
  const looks = Number(ctx.query.look ?? 0);
  const pauseSeconds = isOpen ? pausesSeconds[looks] : undefined;
  const email = emailOf(payment, lang, runtime.now());
  return ctx.render('receipt.njk', {
    lang,
    otherLanguageUrl: links.receipt(transactionId, otherLanguage(lang), linkEndsAtMs),
    ...agencyTexts(config.merchants, payment.request.merchant, lang),
    ...receipt,
    status: statusName(status),
    heading: headingOf(receipt, lang),
    explanation: explanationOf(receipt, lang),
    otherCharges: otherChargeTexts(receipt, lang),
    asAt: receipt.asAt && timeText(receipt.asAt, lang),
    facts: factsOf(receipt, lang),
    items: receipt.items.map(({ description, detail, amount }) => ({ title: description, detail, amount })),
    history: receipt.history.map((entry) => ({
      time: timeText(entry.at, lang),
      text: historyText(entry, lang),
    })),
    backUrl: backToMerchant(payment),
    pdfUrl: links.download(transactionId, lang, linkEndsAtMs),
    canPay,
    payUrl: canPay ? links.payFromReceipt(payment.request, lang) : undefined,
    refreshUrl: isOpen ? ownUrl : undefined,
    refresh: pauseSeconds && `${pauseSeconds}; url=${ownUrl}&look=${looks + 1}`,
    receiptEmail: email && {
      text: email.text,
      action: ownUrl,
      token: email.canSend ? emailTokens.issue(transactionId, email.attempts) : undefined,
    },
  });
}

/** redirect_url with trans_id, transaction_id and status after its own query, which the merchant may have signed. */
function backToMerchant(payment: RequestedPayment): string {
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

/** Whether the receipt email was sent. Null if there is none, or if its address cannot be read any more. */
function emailOf(payment: OpenPayment, lang: Language, now: Date) {
  const delivery = receiptEmailOf(payment);
  const { email } = payment.request.payer;
  if (!delivery || email === '') return null;
  const { attempts, settledAt, state } = delivery;
  const words = texts[lang].receipt.emails;
  const address = email.replace(/(?<=^.).*(?=@)/su, '***');
  return {
    text: format(words[state === 'superseded' ? 'abandoned' : state], {
      address,
      time: settledAt ? timeText(settledAt, lang) : '',
    }),
    attempts,
    canSend: canRequestEmail(delivery, now.toISOString()),
  };
}
