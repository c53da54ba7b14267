/** GET /<channel>/receipt/{id}: the official receipt, or how a payment stands that is not paid. */
import type { Links } from '../../receipts/payment-links.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import {
  factsOf,
  headingOf,
  historyText,
  otherChargeTexts,
  statusName,
  timeText,
} from '../../receipts/texts.ts';
import { type Context, languageOf } from '../server/context.ts';
import { backToMerchant, otherLanguage } from './links.ts';
import type { LoadedPayment } from './load-payment.ts';

export function createShowReceipt(links: Links) {
  return (ctx: Context<LoadedPayment>): Promise<void> => drawReceipt(ctx, ctx.state, links);
}

export function drawReceipt(ctx: Context, { payment, asAt }: LoadedPayment, links: Links): Promise<void> {
  const lang = languageOf(ctx);
  const receipt = receiptOf(payment, asAt);
  const { status, transactionId } = receipt;
  const isOpen = status === 'requested' || status === 'pending';
  const isUntried = status === 'requested' && payment.attempts.length === 0;
  const canPay = status === 'failed' || status === 'cancelled' || isUntried;
  return ctx.render('receipt.njk', {
    lang,
    otherLanguageUrl: links.receipt(transactionId, otherLanguage(lang)),
    status: statusName(status),
    heading: headingOf(receipt, lang),
    isOfficial: receipt.isOfficial,
    agency: receipt.agency,
    otherCharges: otherChargeTexts(receipt, lang),
    asAt: receipt.asAt && timeText(receipt.asAt, lang),
    facts: factsOf(receipt, lang),
    description: receipt.description,
    amount: receipt.amount,
    fee: receipt.fee,
    total: receipt.total,
    items: receipt.items.map(({ description, detail, amount }) => ({ title: description, detail, amount })),
    history: receipt.history.map((entry) => ({
      time: timeText(entry.at, lang),
      text: historyText(entry, lang),
    })),
    backUrl: backToMerchant(payment),
    pdfUrl: links.download(transactionId, lang),
    payUrl: canPay ? links.pay(transactionId, lang) : undefined,
    refreshUrl: isOpen ? links.receipt(transactionId, lang) : undefined,
  });
}
