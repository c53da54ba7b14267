/** GET /<channel>/receipt/{id}: the official receipt, or the statement of a payment that has not succeeded. */
import type { Links } from '../../receipts/payment-links.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { historyText, noteText, statusName, texts, timeText, withheldText } from '../../receipts/texts.ts';
import { type Context, languageOf } from '../server/context.ts';
import { backToMerchant, otherLanguage } from './links.ts';
import type { LoadedPayment } from './load-payment.ts';

export function createShowReceipt(links: Links) {
  return (ctx: Context<LoadedPayment>): Promise<void> => drawReceipt(ctx, ctx.state, links);
}

export function drawReceipt(ctx: Context, { payment, asAt }: LoadedPayment, links: Links): Promise<void> {
  const lang = languageOf(ctx);
  const { items, history, notes, ...receipt } = receiptOf(payment, asAt);
  const { transactionId, status } = receipt;
  const canTryAgain = status === 'failed' || status === 'cancelled';
  const isOpen = status === 'requested' || status === 'pending';
  return ctx.render('receipt.njk', {
    ...receipt,
    lang,
    withheld: withheldText(receipt, lang),
    asAt: receipt.asAt && timeText(receipt.asAt, lang),
    otherLanguageUrl: links.receipt(transactionId, otherLanguage(lang)),
    status: statusName(status),
    notes: notes.map((note) => noteText(note, lang)),
    dateTime: timeText(receipt.at, lang),
    items: items.map(({ description, detail, amount }) => ({ title: description, detail, amount })),
    method: receipt.mode === '' ? undefined : texts[lang].modes[receipt.mode],
    history: history.map((entry) => ({ time: timeText(entry.at, lang), text: historyText(entry, lang) })),
    backUrl: backToMerchant(payment),
    pdfUrl: links.download(transactionId, lang),
    tryAgainUrl: canTryAgain || status === 'partlyPaid' ? links.pay(transactionId, lang) : undefined,
    refreshUrl: isOpen ? links.receipt(transactionId, lang) : undefined,
  });
}
