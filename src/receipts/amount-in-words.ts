/** An amount in words, as a receipt states it beside the figure so that neither can be altered alone. */
import type { Sen } from '../kernel/money.ts';
import type { Language } from './texts.ts';

type Numerals = {
  /** 0 to 19. */
  small: readonly string[];
  /** 20, 30, … 90. */
  tens: readonly string[];
  tenJoiner: string;
  hundred: string;
  /** Thousand, million, … */
  scales: readonly string[];
  /** The forms Malay has for one hundred and one thousand. */
  oneHundred: string;
  oneThousand: string;
  and: string;
  only: string;
};

const numerals: Readonly<Record<Language, Numerals>> = {
  en: {
    small:
      'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
        ' ',
      ),
    tens: ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'],
    tenJoiner: '-',
    hundred: 'hundred',
    scales: ['thousand', 'million', 'billion', 'trillion'],
    oneHundred: 'one hundred',
    oneThousand: 'one thousand',
    and: 'and',
    only: 'only',
  },
  ms: {
    small: [
      ...'kosong satu dua tiga empat lima enam tujuh lapan sembilan sepuluh sebelas'.split(' '),
      ...'dua tiga empat lima enam tujuh lapan sembilan'.split(' ').map((digit) => `${digit} belas`),
    ],
    tens: 'dua tiga empat lima enam tujuh lapan sembilan'.split(' ').map((digit) => `${digit} puluh`),
    tenJoiner: ' ',
    hundred: 'ratus',
    scales: ['ribu', 'juta', 'bilion', 'trilion'],
    oneHundred: 'seratus',
    oneThousand: 'seribu',
    and: 'dan',
    only: 'sahaja',
  },
};

/** 12050 → `Ringgit Malaysia one hundred twenty and sen fifty only`; any amount of sen, in English or Malay. */
export function amountInWords(amountSen: Sen, lang: Language): string {
  const words = numerals[lang];
  const ringgit = Math.floor(amountSen / 100);
  const sen = amountSen % 100;
  const ringgitText = `Ringgit Malaysia ${numberInWords(ringgit, words)}`;
  if (sen === 0) return `${ringgitText} ${words.only}`;
  const senText = `sen ${numberInWords(sen, words)} ${words.only}`;
  return ringgit === 0 ? `Ringgit Malaysia ${senText}` : `${ringgitText} ${words.and} ${senText}`;
}

function numberInWords(number: number, words: Numerals): string {
  if (number < 1000) return belowThousand(number, words);
  const parts: string[] = [];
  let rest = number;
  for (let scale = words.scales.length; scale > 0; scale -= 1) {
    const unit = 1000 ** scale;
    const count = Math.floor(rest / unit);
    rest %= unit;
    if (count === 0) continue;
    const isOneThousand = count === 1 && scale === 1;
    parts.push(
      isOneThousand ? words.oneThousand : `${belowThousand(count, words)} ${words.scales[scale - 1]}`,
    );
  }
  if (rest > 0) parts.push(belowThousand(rest, words));
  return parts.join(' ');
}

function belowThousand(number: number, words: Numerals): string {
  const hundreds = Math.floor(number / 100);
  const rest = number % 100;
  const parts: string[] = [];
  if (hundreds === 1) parts.push(words.oneHundred);
  if (hundreds > 1) parts.push(`${words.small[hundreds]} ${words.hundred}`);
  if (rest > 0 || hundreds === 0) parts.push(belowHundred(rest, words));
  return parts.join(' ');
}

function belowHundred(number: number, { small, tens, tenJoiner }: Numerals): string {
  if (number < 20) return small[number] ?? '';
  const ten = tens[Math.floor(number / 10) - 2] ?? '';
  const digit = number % 10;
  return digit === 0 ? ten : `${ten}${tenJoiner}${small[digit]}`;
}
