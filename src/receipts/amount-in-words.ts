/**
 * An amount in words, which a receipt prints next to the figures so that neither can be altered alone.
 *
 * Not n2words, whose Malay has `sejuta` and `sifar` where receipts say `satu juta` and `kosong`, and not to-words,
 * whose English has no hyphens.
 */
import { format } from '@ledger/kernel/format.ts';
import type { Sen } from '../common/money.ts';
import { type Language, type ReceiptTexts, texts } from './texts.ts';

type Numbers = ReceiptTexts['numbers'];

const units = [
  { value: 1e12, name: 'trillion' },
  { value: 1e9, name: 'billion' },
  { value: 1e6, name: 'million' },
  { value: 1000, name: 'thousand' },
  { value: 100, name: 'hundred' },
] as const;

/** 12050 → `Ringgit Malaysia one hundred twenty and sen fifty only`, in English or Malay. */
export function amountInWords(amountSen: Sen, lang: Language): string {
  const { numbers } = texts[lang];
  const [ringgit, sen] = [Math.floor(amountSen / 100), amountSen % 100];
  const words = { ringgit: numberInWords(ringgit, numbers), sen: numberInWords(sen, numbers) };
  if (sen === 0) return format(numbers.ringgit, words);
  return format(ringgit === 0 ? numbers.sen : numbers.ringgitAndSen, words);
}

function numberInWords(number: number, numbers: Numbers): string {
  const unit = units.find(({ value }) => number >= value);
  if (!unit) return belowHundred(number, numbers);
  const count = Math.floor(number / unit.value);
  const rest = number % unit.value;
  const { one, many } = numbers.units[unit.name];
  const ofUnit = count === 1 ? one : format(many, { count: numberInWords(count, numbers) });
  return rest === 0 ? ofUnit : `${ofUnit} ${numberInWords(rest, numbers)}`;
}

function belowHundred(number: number, { belowTwenty, tens, tenAndOne }: Numbers): string {
  if (number < 20) return belowTwenty[number] ?? '';
  const ten = tens[Math.floor(number / 10) - 2] ?? '';
  const digit = number % 10;
  return digit === 0 ? ten : format(tenAndOne, { ten, one: belowTwenty[digit] });
}
