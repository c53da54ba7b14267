// Every text of a receipt, by language.
import type { PaymentStatus } from '../events/payment.ts';
import type { HistoryEntry } from './receipt.ts';
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

const times: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: timeFormat('en-GB'),
  ms: timeFormat('ms-MY'),
};

/** A moment in UTC as people in Malaysia read it: `20 November 2026 at 09:04:30`. */
export function timeText(utc: string, lang: Language): string {
  return times[lang].format(new Date(utc));
}

export function historyText(entry: HistoryEntry, lang: Language): string {
  const { history, modes } = texts[lang];
  return entry.kind === 'methodChosen' ? history.methodChosen(modes[entry.mode]) : history[entry.kind];
}

export type StatusName = keyof ReceiptTexts['statuses'];

/** The key of a status in the texts. */
export const statusName = (status: PaymentStatus): StatusName =>
  status === 'succeeded' ? 'success' : status;
