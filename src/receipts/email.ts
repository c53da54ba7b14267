/**
 * The receipt email, with the same facts as the attached PDF, or the one about a wrong amount: subject, text and HTML.
 * Names and descriptions are never more than text in it.
 */
import { printable } from '@ledger/pdf/printable.ts';
import { createTemplates, renderText } from '../common/templates.ts';
import type { Receipt } from './receipt.ts';
import { factsOf, itemLinesOf, type Language, otherChargeTexts, statusName, texts } from './texts.ts';

const templates = createTemplates('email');

/** `receiptUrl` gives the receipt's page in a language. */
export function receiptMessage(receipt: Receipt, lang: Language, receiptUrl: (lang: Language) => string) {
  const content = contentOf(receipt, lang, receiptUrl);
  return {
    subject: `${content.title} ${printable(receipt.receiptNo || receipt.reference)} – ${content.agency}`,
    text: renderText('receipt.txt', content),
    html: templates.render('receipt.njk', content),
  };
}

type Pair = readonly [label: string, text: string];

/** Every value is one line, without control characters. */
function contentOf(receipt: Receipt, lang: Language, receiptUrl: (lang: Language) => string) {
  const words = texts[lang];
  const pair = (label: string, text: string): Pair => [label, printable(text)];
  const lines = (...parts: string[]) => parts.map(printable).filter(Boolean).join(' · ');
  return {
    lang,
    words: words.email,
    isOfficial: receipt.isOfficial,
    title: receipt.isOfficial ? words.receipt.headings.success : words.email.notice,
    agency: printable(receipt.agency),
    total: receipt.total,
    status: words.statuses[statusName(receipt.status)],
    /** What has happened, and what to do. */
    lead: [
      ...otherChargeTexts(receipt, lang).map(printable),
      words.email.explanations[statusName(receipt.status)],
    ],
    facts: factsOf(receipt, lang).map(([label, fact]) => pair(label, fact)),
    amountsTitle: words.receipt.amounts,
    items: itemLinesOf(receipt).map(({ description, detail, amount }) =>
      pair(lines(description, detail), amount),
    ),
    sums: [...(receipt.fee === '' ? [] : [pair(words.fee, receipt.fee)]), pair(words.total, receipt.total)],
    open: [receipt.isOfficial ? words.email.open : words.email.openPayment, receiptUrl(lang)] as Pair,
    other: [words.email.otherLanguage, receiptUrl(lang === 'en' ? 'ms' : 'en')] as Pair,
  };
}
