// Every text of a receipt, by language.
import { format } from '@ledger/kernel/format.ts';
import { printable } from '@ledger/pdf/printable.ts';
import en from '../../content/texts/receipts.en.json' with { type: 'json' };
import ms from '../../content/texts/receipts.ms.json' with { type: 'json' };
import type { Language } from '../common/languages.ts';
import { displaySen } from '../common/money.ts';
import type { Access } from '../events/open-payment.ts';
import type { Standing } from '../events/payment-standing.ts';
import type { Receipt, ReceiptEntry, ReceiptNote } from './receipt.ts';

export type { Language };

export type ReceiptTexts = typeof en;

export const texts: Readonly<Record<Language, ReceiptTexts>> = { en, ms };

const formatsOf = (form: Intl.DateTimeFormatOptions) => {
  const options = { ...form, dateStyle: 'long', timeZone: 'Asia/Kuala_Lumpur' } as const;
  return { en: new Intl.DateTimeFormat('en-GB', options), ms: new Intl.DateTimeFormat('ms-MY', options) };
};
const dates = formatsOf({});
const times = formatsOf({ timeStyle: 'medium', hourCycle: 'h23' });

/** A moment in UTC as people in Malaysia read it: `20 November 2026 at 09:04:30`. */
export function timeText(utc: string, lang: Language): string {
  return times[lang].format(new Date(utc));
}

/** How long ago, if it is less than an hour: `3 minutes ago`; else when: `on 20 November 2026 at 09:04:30`. */
export function agoText(utc: string, now: Date, lang: Language): string {
  const minutes = Math.floor((now.getTime() - Date.parse(utc)) / 60_000);
  const { justNow, minuteAgo, minutesAgo, on } = texts[lang];
  if (minutes >= 60) return format(on, { time: timeText(utc, lang) });
  if (minutes < 1) return justNow;
  return minutes === 1 ? minuteAgo : format(minutesAgo, { minutes });
}

const dateText = (utc: string, lang: Language) => dates[lang].format(new Date(utc));

export function historyText(entry: ReceiptEntry, lang: Language): string {
  const { history, modes, unknownAmount } = texts[lang];
  return format(history[entry.kind], {
    method: 'mode' in entry ? modes[entry.mode] : '',
    amount: ('amount' in entry && entry.amount) || unknownAmount,
  });
}

/** `isPublic` leaves out the reference, which is for the payer. */
export function noteText(note: ReceiptNote, lang: Language, { isPublic } = { isPublic: false }): string {
  const { notes } = texts[lang];
  const values = { ...note, ...('at' in note && { date: dateText(note.at, lang) }) };
  const reference = note.kind === 'refunded' && !isPublic ? printable(note.reference) : '';
  const text = format(reference ? notes.refundedWithReference : notes[note.kind], { ...values, reference });
  return 'isFurther' in note && note.isFurther ? `${text} ${notes.ofFurtherCharge}` : text;
}

export type StatusName = keyof ReceiptTexts['statuses'];

/** For each charge besides, or instead of, the amount asked for: what was charged, and where the money is now. */
export function otherChargeTexts(
  { notes, otherCharges }: Pick<Receipt, 'notes' | 'otherCharges'>,
  lang: Language,
): string[] {
  const { otherCharges: words, unknownAmount } = texts[lang];
  const open = { wrongAmount: words.openWrongAmount, furtherCharge: words.openFurtherCharge };
  const others = otherCharges.map(({ kind, received, asked, resolved }) => {
    const outcome = resolved
      ? format(words[resolved.resolution], { date: dateText(resolved.at, lang) })
      : open[kind];
    return `${format(words[kind], { received: received || unknownAmount, asked })} ${outcome}`;
  });
  return [...notes.map((note) => noteText(note, lang)), ...others];
}

export const statusName = (status: Standing): StatusName => (status === 'succeeded' ? 'success' : status);

/** The title of a receipt, or what has happened if there is none. */
export function headingOf({ status }: Pick<Receipt, 'status'>, lang: Language): string {
  return texts[lang].receipt.headings[statusName(status)];
}

/** What a payer may do now; if the payment is closed or taken back, only contact the agency. */
export function explanationOf({ isClosed, isOfficial, notes, status }: Receipt, lang: Language): string {
  const { explanations } = texts[lang].receipt;
  const isTakenBack = notes.some((note) => note.kind === 'reversed' && !note.isFurther);
  if (isOfficial && isTakenBack) return explanations.reversed;
  if (isClosed && status === 'partlyPaid') return explanations.closedInPart;
  if (isClosed && ['requested', 'failed', 'cancelled'].includes(status)) return explanations.closed;
  return explanations[statusName(status)];
}

/** Why a receipt does not say who has paid; `''` if it does. */
export function withheldText({ access }: { access: Access }, lang: Language): string {
  const { erased, erasedOn, unavailable } = texts[lang].personalData;
  if (access.kind === 'open') return '';
  if (access.kind === 'unavailable') return unavailable;
  return access.at === null ? erased : format(erasedOn, { date: dateText(access.at, lang) });
}

/** The labelled lines of a receipt, the same in the PDF and in the email: only facts that are known. */
export function factsOf(receipt: Receipt, lang: Language): (readonly [label: string, text: string])[] {
  const words = texts[lang];
  const facts: [string, string][] = [
    [words.receipt.receiptNo, receipt.receiptNo],
    [words.receipt.dateTime, timeText(receipt.at, lang)],
    [words.receipt.asked, receipt.isOfficial ? '' : receipt.total],
    [words.receipt.received, receipt.receivedSen === null ? '' : displaySen(receipt.receivedSen)],
    [words.payer, receipt.payerName || withheldText(receipt, lang)],
    [words.receipt.icNo, receipt.icNo],
    [words.service, receipt.service],
    [words.description, receipt.description],
    [words.reference, receipt.reference],
    [words.receipt.transactionId, receipt.transactionId],
    [words.method, receipt.mode === '' ? '' : words.modes[receipt.mode]],
    [words.bank, receipt.bank],
    receipt.fpxNo === ''
      ? [words.receipt.gatewayNo, receipt.gatewayNo]
      : [words.receipt.fpxNo, receipt.fpxNo],
    [words.receipt.orderNo, receipt.orderNo],
  ];
  return facts.filter(([, fact]) => fact !== '');
}

/** A payment without items is one line with its description. */
export function itemLinesOf({ items, description, amount }: Receipt) {
  return items.length === 0 ? [{ description, detail: '', amount }] : items;
}
