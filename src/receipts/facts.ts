/** The labelled lines of a receipt, the same in the PDF and in the email. */
import type { Receipt } from './receipt.ts';
import { type Language, texts, timeText } from './texts.ts';

/** Only facts that are known. */
export function factsOf(receipt: Receipt, lang: Language): (readonly [label: string, text: string])[] {
  const words = texts[lang];
  const facts: [string, string][] = [
    [words.receipt.receiptNo, receipt.receiptNo],
    [words.receipt.dateTime, timeText(receipt.at, lang)],
    [words.payer, receipt.payerName],
    [words.receipt.icNo, receipt.icNo],
    [words.service, receipt.service],
    [words.description, receipt.description],
    [words.reference, receipt.reference],
    [words.receipt.transactionId, receipt.transactionId],
    [words.method, receipt.mode === '' ? '' : words.modes[receipt.mode]],
    [words.bank, receipt.bank],
    [words.receipt.fpxNo, receipt.fpxNo],
    [words.receipt.orderNo, receipt.orderNo],
  ];
  return facts.filter(([, fact]) => fact !== '');
}

export type AmountLine = { text: string; detail: string; amount: string };

/** A payment without items is one line with its description. */
export function itemLinesOf({ items, description, amount }: Receipt): AmountLine[] {
  if (items.length === 0) return [{ text: description, detail: '', amount }];
  return items.map((item) => ({
    text: item.description,
    detail: [item.titleId, item.receiptNo].filter((part) => part !== '').join(' · '),
    amount: item.amount,
  }));
}
