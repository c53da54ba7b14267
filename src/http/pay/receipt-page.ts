/**
 * The official receipt, or how a payment stands that is not paid: GET /<channel>/receipt/{id} shows it, POST sends it again,
 * and GET /<channel>/download/{id} gives it as a PDF.
 */
import { hash } from 'node:crypto';
import { format } from '@ledger/kernel/format.ts';
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import { canRequestEmail, receiptEmailOf } from '../../commands/deliveries.ts';
import { otherLanguage } from '../../common/languages.ts';
import type { OpenPayment } from '../../events/open-payment.ts';
import { chosenLanguage, paymentStream, type RequestedPayment } from '../../events/payment.ts';
import { openAttempts } from '../../events/requery-schedule.ts';
import { createReceiptFiles } from '../../receipts/file.ts';
import { statusCodeOf } from '../../receipts/payment-fields.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import {
  factsOf,
  headingOf,
  historyText,
  type Language,
  otherChargeTexts,
  statusName,
  timeText,
} from '../../receipts/texts.ts';
import { bodyText } from '../server/body.ts';
import { type Context, causeOf, HttpProblem, languageOf } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { agencyTexts } from './agency.ts';
import type { PaymentChannel } from './channel.ts';
import type { LoadedPayment, PaymentWithHead } from './load-payment.ts';
import { isSettled } from './payment-page.ts';
import { texts } from './texts.ts';

/** Before the page of an open payment looks again by itself: ten minutes in all, then it is left to its reader. */
const pausesSeconds = [3, 5, 10, 20, 30, 60, 120, 360];

export const showReceipt = (ctx: Context<LoadedPayment>, channel: PaymentChannel): Promise<void> =>
  drawReceipt(ctx, ctx.state, channel);

export function drawReceipt(
  ctx: Context,
  { payment, asAt }: LoadedPayment,
  { config, emailTokens, links, runtime }: PaymentChannel,
): Promise<void> {
  const lang = languageOf(ctx, chosenLanguage(payment));
  const receipt = receiptOf(payment, asAt);
  const { status, transactionId } = receipt;
  const { linkEndsAtMs } = ctx.state;
  const ownUrl = links.receipt(transactionId, lang, linkEndsAtMs);
  const canPay = !isSettled(payment, runtime.now());
  const isOpen = status === 'pending' || (canPay && openAttempts(payment).length > 0);
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

/** Redirects to the receipt, which says whether it was sent. Throws HttpProblem 401. */
export async function sendReceipt(ctx: Context<PaymentWithHead>, channel: PaymentChannel): Promise<void> {
  const { emailTokens, execute, leadToReceipt, links, runtime } = channel;
  const { head, linkEndsAtMs, payment } = ctx.state;
  const { transactionId } = payment.request;
  const read = emailTokens.read(bodyText(ctx, 'token'), transactionId);
  if (typeof read !== 'object') {
    const kind = read === 'expired' ? 'expired' : 'unauthorized';
    const actionUrl = links.receipt(transactionId, undefined, linkEndsAtMs);
    throw new HttpProblem(401, 'The token of this receipt is not valid any more', { kind, actionUrl });
  }
  const at = runtime.now().toISOString();
  const command = { type: 'RequestReceiptEmail', at, attempts: read.number } as const;
  const cause = causeOf(ctx, 'payer');
  const { revision } = await execute(paymentStream(transactionId), command, cause, { from: head });
  leadToReceipt(ctx, transactionId, revision, linkEndsAtMs);
}

/** The PDFs that were drawn last are kept; each has about 30 KB. */
const mostKeptFiles = 500;

export function createDownload({ config, documents }: Pick<Dependencies, 'config' | 'documents'>) {
  const receiptFile = createReceiptFiles(config, documents.receipt);
  /** By what they say, in order of use: drawing one takes some 10 ms of CPU. */
  const kept = new RecentMap<ReturnType<typeof receiptFile>>(mostKeptFiles);

  return async (ctx: Context<LoadedPayment>): Promise<void> => {
    const { payment, asAt } = ctx.state;
    const receipt = receiptOf(payment, asAt);
    const lang = languageOf(ctx, chosenLanguage(payment));
    const key = hash('sha256', JSON.stringify([lang, receipt]), 'base64');
    let file = kept.get(key);
    if (!file) {
      file = receiptFile(receipt, lang);
      file.pdf.catch(() => kept.delete(key));
    }
    kept.set(key, file);
    ctx.body = await file.pdf;
    ctx.type = 'application/pdf';
    ctx.set('Content-Disposition', `inline; filename="${file.name}"`);
    // The policy of the pages would also apply to the elements that browsers build their PDF viewers from.
    ctx.set('Content-Security-Policy', "frame-ancestors 'none'");
  };
}
