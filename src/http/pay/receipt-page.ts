/** The receipt, or statement, of a payment as a page. */
import type { RequestedPayment } from '../../events/payment.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { historyText, statusName, texts, timeText } from '../../receipts/texts.ts';
import type { Language } from '../server/language.ts';
import { backToMerchant, otherLanguage } from './links.ts';
import type { ReceiptPage } from './models.ts';

export function receiptPage(payment: RequestedPayment, lang: Language, links: Links): ReceiptPage {
  const receipt = receiptOf(payment);
  const { transactionId, status } = receipt;
  const again = status === 'failed' || status === 'cancelled';
  const open = status === 'requested' || status === 'pending';
  return {
    lang,
    otherLanguageUrl: links.receipt(transactionId, otherLanguage(lang)),
    status: statusName(status),
    agency: receipt.agency,
    receiptNo: receipt.receiptNo,
    dateTime: timeText(receipt.at, lang),
    payerName: receipt.payerName,
    icNo: receipt.icNo,
    service: receipt.service,
    description: receipt.description,
    reference: receipt.reference,
    transactionId,
    items: receipt.items.map(({ description, titleId, receiptNo, amount }) => ({
      title: description,
      detail: [titleId, receiptNo].filter((text) => text !== '').join(' · '),
      amount,
    })),
    amount: receipt.amount,
    charge: receipt.charge,
    total: receipt.total,
    method: receipt.mode === '' ? undefined : texts[lang].modes[receipt.mode],
    bank: receipt.bank,
    fpxNo: receipt.fpxNo,
    orderNo: receipt.orderNo,
    history: receipt.history.map((entry) => ({
      time: timeText(entry.at, lang),
      text: historyText(entry, lang),
    })),
    backUrl: backToMerchant(payment),
    pdfUrl: links.download(transactionId, lang),
    tryAgainUrl: again ? links.pay(transactionId, lang) : undefined,
    refreshUrl: open ? links.receipt(transactionId, lang) : undefined,
  };
}
