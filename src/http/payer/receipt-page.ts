/** The receipt, or statement, of a payment as a page. */
import type { RequestedPayment } from '../../events/payment.ts';
import { type HistoryEntry, receiptOf } from '../../receipts/receipt.ts';
import type { Language } from '../pages/language.ts';
import type { ReceiptPage } from '../pages/models.ts';
import { texts } from '../pages/texts.ts';
import { backToMerchant, type Links, otherLanguage } from './links.ts';

const timeFormat = (locale: string) =>
  new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'medium',
    hourCycle: 'h23',
    timeZone: 'Asia/Kuala_Lumpur',
  });

const times: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: timeFormat('en-GB'),
  ms: timeFormat('ms-MY'),
};

export function receiptPage(payment: RequestedPayment, lang: Language, links: Links): ReceiptPage {
  const receipt = receiptOf(payment);
  const { transactionId, status } = receipt;
  const again = status === 'failed' || status === 'cancelled';
  const open = status === 'requested' || status === 'pending';
  return {
    lang,
    otherLanguageUrl: links.receipt(transactionId, otherLanguage(lang)),
    status: status === 'succeeded' ? 'success' : status,
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
    tryAgainUrl: again ? links.pay(transactionId, lang) : undefined,
    refreshUrl: open ? links.receipt(transactionId, lang) : undefined,
  };
}

function timeText(utc: string, lang: Language): string {
  return times[lang].format(new Date(utc));
}

function historyText(entry: HistoryEntry, lang: Language): string {
  const { history, modes } = texts[lang];
  return entry.kind === 'methodChosen' ? history.methodChosen(modes[entry.mode]) : history[entry.kind];
}
