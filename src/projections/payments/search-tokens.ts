/** The words by which a payer is found: of the name, the email address, and numbers that identify a person. */
import { indexable } from '@ledger/postgres/table.ts';
import type { Payer } from '../../events/personal-data.ts';

/** No name has more words. */
const maxTerms = 40;

/**
 * The tokens of a payer, which the table of payers holds as a blind index. A number that was written in groups is found
 * as one word, too, and the identity card however it is grouped.
 */
export function searchTokens({ name, email, icNo, phoneNo }: Payer): string[] {
  const inOnePiece = [icNo, phoneNo].map((number) => number.replace(/\s/g, ''));
  return termsOf([numberOf(icNo), ...inOnePiece, email, icNo, phoneNo, name].join(' '));
}

/** The letters and digits of a number of an identity card: what stays the same however somebody writes it. */
export function numberOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Words of names that people write in several ways or leave out, such as bt., bin and a/l. */
const connecting = /^(b|bn|bt|bte|bin|binti|binte|a\/?[klp]|[ds]\/o)\.?$/;

/** The tokens of a search as somebody typed it: a number in groups, such as `900101 14 5678`, is one word. */
export function typedTerms(text: string): string[] {
  const groups = text.trim().split(/\s+/);
  const terms = termsOf(groups.every((group) => /^[\d()+-]{1,8}$/.test(group)) ? groups.join('') : text);
  const telling = terms.filter((term) => !connecting.test(term));
  return telling.length > 0 ? telling : terms;
}

const phonePrefix = /^(\+?60|0)(?=\d{8,10}$)/;

/** The token, or those of a Malaysian phone number with and without its country code: a payer may have given either. */
export const spellingsOf = (token: string) =>
  phonePrefix.test(token) ? ['0', '60', '+60'].map((each) => token.replace(phonePrefix, each)) : [token];

/** The tokens of a search: a payer is found when the row has all of them, in any order. */
export function termsOf(text: string): string[] {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\s,]+/)
    // 900101-14-5678 and 900101145678 are one number.
    .map((word) => (/^\+?[\d()-]+$/.test(word) ? word.replace(/[()-]/g, '') : word))
    .filter((word) => word !== '');
  return [...new Set(words.map(indexable))].slice(0, maxTerms);
}
