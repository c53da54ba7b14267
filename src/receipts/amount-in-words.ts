/**
 * An amount in words, which a receipt prints next to the figures so that neither can be altered alone.
 *
 * Not n2words, whose Malay has `sejuta` and `sifar` where receipts say `satu juta` and `kosong`, and not to-words,
 * whose English has no hyphens.
 */
import type { Sen } from '../kernel/money.ts';
import type { Language } from './texts.ts';

type Numerals = {
  belowTwenty: readonly string[];
  /** 20, 30, … 90. */
  tens: readonly string[];
  tenJoiner: string;
  /** In descending order. `one`: the form for exactly one, where it is a word of its own. */
  units: readonly { value: number; name: string; one?: string }[];
  and: string;
  only: string;
};

const malayDigits = ['dua', 'tiga', 'empat', 'lima', 'enam', 'tujuh', 'lapan', 'sembilan'];

const numerals: Readonly<Record<Language, Numerals>> = {
  en: {
    belowTwenty:
      'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
        ' ',
      ),
    tens: ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'],
    tenJoiner: '-',
    units: [
      { value: 1e12, name: 'trillion' },
      { value: 1e9, name: 'billion' },
      { value: 1e6, name: 'million' },
      { value: 1000, name: 'thousand' },
      { value: 100, name: 'hundred' },
    ],
    and: 'and',
    only: 'only',
  },
  ms: {
    belowTwenty: [
      ...['kosong', 'satu', ...malayDigits, 'sepuluh', 'sebelas'],
      ...malayDigits.map((digit) => `${digit} belas`),
    ],
    tens: malayDigits.map((digit) => `${digit} puluh`),
    tenJoiner: ' ',
    units: [
      { value: 1e12, name: 'trilion' },
      { value: 1e9, name: 'bilion' },
      { value: 1e6, name: 'juta' },
      { value: 1000, name: 'ribu', one: 'seribu' },
      { value: 100, name: 'ratus', one: 'seratus' },
    ],
    and: 'dan',
    only: 'sahaja',
  },
};

/** 12050 → `Ringgit Malaysia one hundred twenty and sen fifty only`, in English or Malay. */
export function amountInWords(amountSen: Sen, lang: Language): string {
  const words = numerals[lang];
  const [ringgit, sen] = [Math.floor(amountSen / 100), amountSen % 100];
  const parts = [
    ...(ringgit > 0 || sen === 0 ? [numberInWords(ringgit, words)] : []),
    ...(sen > 0 ? [`sen ${numberInWords(sen, words)}`] : []),
  ];
  return `Ringgit Malaysia ${parts.join(` ${words.and} `)} ${words.only}`;
}

function numberInWords(number: number, words: Numerals): string {
  const unit = words.units.find(({ value }) => number >= value);
  if (!unit) return belowHundred(number, words);
  const count = Math.floor(number / unit.value);
  const rest = number % unit.value;
  const ofUnit = count === 1 && unit.one ? unit.one : `${numberInWords(count, words)} ${unit.name}`;
  return rest === 0 ? ofUnit : `${ofUnit} ${numberInWords(rest, words)}`;
}

function belowHundred(number: number, { belowTwenty, tens, tenJoiner }: Numerals): string {
  if (number < 20) return belowTwenty[number] ?? '';
  const ten = tens[Math.floor(number / 10) - 2] ?? '';
  const digit = number % 10;
  return digit === 0 ? ten : `${ten}${tenJoiner}${belowTwenty[digit]}`;
}
