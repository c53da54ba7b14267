/** The words that a payer is found by: those of the name, the email address, and the numbers that stand for a person. */
import type { PaymentRequested } from '../../events/payment.ts';
import { indexable } from '../../postgres/indexable.ts';

/** A name of more words than that is not one. */
const maxTerms = 40;

/** Of a payer, for the row. A number that was written in groups is found in one piece, too. */
export function searchTokens({ name, email, icNo, phoneNo }: PaymentRequested['payer']): string[] {
  const inOnePiece = [icNo, phoneNo].map((number) => number.replace(/\s/g, ''));
  return termsOf([...inOnePiece, email, icNo, phoneNo, name].join(' '));
}

/** Of what somebody types in: a payer is found when the row has all of them, in whatever order. */
export function termsOf(text: string): string[] {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\s,]+/)
    .map(withoutSeparators)
    .filter((word) => word !== '');
  return [...new Set(words.map(indexable))].slice(0, maxTerms);
}

/** 900101-14-5678 and 900101145678 are one number. */
function withoutSeparators(word: string): string {
  return /^\+?[\d()-]+$/.test(word) ? word.replace(/[()-]/g, '') : word;
}
