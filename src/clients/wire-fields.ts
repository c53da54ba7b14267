/** Fields that the clients read leniently, because their senders are not careful. */
import { coerce, defaulted, literal, number, string, union } from 'superstruct';
import { type PaymentMode, paymentModes } from '../common/payment-modes.ts';

/** Longer texts are cut when they are read; the raw fields stay whole. Code points. */
const maxTextLength = 200;

/** A text, also where a number or null was sent; `''` where the field is missing. */
export const lenientText = defaulted(
  coerce(string(), union([number(), literal(null)]), (value) => (value === null ? '' : String(value))),
  '',
);

/** A text as the ledger keeps it: one line, cut to 200 characters. */
export function oneLine(value: string): string {
  const line = value.replace(/\p{Cc}+/gu, ' ').trim();
  return line.length <= maxTextLength ? line : Array.from(line).slice(0, maxTextLength).join('');
}

/** `''` where the text is not fit to be the number of an official receipt: content/docs/payment-states.md has the rule. */
export function readReceiptNo(text: string): string {
  const number = text.trim();
  return /^[a-z\d](?:(?!["'<>\\`])[ -~]){0,99}$/i.test(number) ? number : '';
}

/** `''` where the text names no payment method of ours. */
export function readMode(text: string): PaymentMode | '' {
  return paymentModes.find((mode) => mode === text.toLowerCase()) ?? '';
}
