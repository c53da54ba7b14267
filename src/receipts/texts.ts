// Every text of a receipt, by language.
import type { Access } from '../events/open-payment.ts';
import type { PaymentStatus } from '../events/payment.ts';
import type { ReceiptNote } from './notes.ts';
import { printable } from './printable.ts';
import type { HistoryEntry, Receipt } from './receipt.ts';
import { en, type ReceiptTexts } from './texts/en.ts';
import { ms } from './texts/ms.ts';

export type Language = 'en' | 'ms';

export const texts: Readonly<Record<Language, ReceiptTexts>> = { en, ms };

const timeFormat = (locale: string) =>
  new Intl.DateTimeFormat(locale, {
    dateStyle: 'long',
    timeStyle: 'medium',
    hourCycle: 'h23',
    timeZone: 'Asia/Kuala_Lumpur',
  });

const times = { en: timeFormat('en-GB'), ms: timeFormat('ms-MY') };

/** A moment in UTC as people in Malaysia read it: `20 November 2026 at 09:04:30`. */
export function timeText(utc: string, lang: Language): string {
  return times[lang].format(new Date(utc));
}

const dateFormat = (locale: string) =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'Asia/Kuala_Lumpur' });

const dates = { en: dateFormat('en-GB'), ms: dateFormat('ms-MY') };

/** The Malaysian day of a moment in UTC: `20 November 2026`. */
function dateText(utc: string, lang: Language): string {
  return dates[lang].format(new Date(utc));
}

export function historyText(entry: HistoryEntry, lang: Language): string {
  const { history, modes } = texts[lang];
  return entry.kind === 'methodChosen' ? history.methodChosen(modes[entry.mode]) : history[entry.kind];
}

/** `isPublic` leaves out the reference, which is for the payer. */
export function noteText(note: ReceiptNote, lang: Language, { isPublic } = { isPublic: false }): string {
  const { notes } = texts[lang];
  switch (note.kind) {
    case 'credited':
      return notes.credited(note.amount);
    case 'partlyPaid':
      return notes.partlyPaid(note.amount, note.outstanding);
    case 'reversed':
      return notes.reversed(dateText(note.at, lang), note.amount);
    case 'refunded':
      return notes.refunded(dateText(note.at, lang), note.amount, isPublic ? '' : printable(note.reference));
    default:
      return note satisfies never;
  }
}

export type StatusName = keyof ReceiptTexts['statuses'];

/** The key of a status in the texts. */
export const statusName = (status: PaymentStatus): StatusName =>
  status === 'succeeded' ? 'success' : status;

/** Why a receipt does not say who has paid; `''` if it does. */
export function withheldText({ access }: { access: Access }, lang: Language): string {
  const { erased, erasedOn, unavailable } = texts[lang].personalData;
  if (access.kind === 'open') return '';
  if (access.kind === 'unavailable') return unavailable;
  return access.at === null ? erased : erasedOn(dateText(access.at, lang));
}

/** The labelled lines of a receipt, the same in the PDF and in the email: only facts that are known. */
export function factsOf(receipt: Receipt, lang: Language): (readonly [label: string, text: string])[] {
  const words = texts[lang];
  const facts: [string, string][] = [
    [words.receipt.receiptNo, receipt.receiptNo],
    [words.receipt.dateTime, timeText(receipt.at, lang)],
    [words.payer, receipt.payerName || withheldText(receipt, lang)],
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

/** A payment without items is one line with its description. */
export function itemLinesOf({ items, description, amount }: Receipt) {
  return items.length === 0 ? [{ description, detail: '', amount }] : items;
}
