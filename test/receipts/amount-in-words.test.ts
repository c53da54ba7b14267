import test from 'ava';
import fc from 'fast-check';
import { amountInWords } from '../../src/receipts/amount-in-words.ts';
import { sen } from '../support/payments.ts';

const cases: [number, string, string][] = [
  [0, 'zero only', 'kosong sahaja'],
  [1, 'sen one only', 'sen satu sahaja'],
  [50, 'sen fifty only', 'sen lima puluh sahaja'],
  [100, 'one only', 'satu sahaja'],
  [1_011, 'ten and sen eleven only', 'sepuluh dan sen sebelas sahaja'],
  [1_212, 'twelve and sen twelve only', 'dua belas dan sen dua belas sahaja'],
  [2_199, 'twenty-one and sen ninety-nine only', 'dua puluh satu dan sen sembilan puluh sembilan sahaja'],
  [10_000, 'one hundred only', 'seratus sahaja'],
  [12_050, 'one hundred twenty and sen fifty only', 'seratus dua puluh dan sen lima puluh sahaja'],
  [20_500, 'two hundred five only', 'dua ratus lima sahaja'],
  [100_000, 'one thousand only', 'seribu sahaja'],
  [111_100, 'one thousand one hundred eleven only', 'seribu seratus sebelas sahaja'],
  [1_100_000, 'eleven thousand only', 'sebelas ribu sahaja'],
  [2_100_000, 'twenty-one thousand only', 'dua puluh satu ribu sahaja'],
  [10_100_000, 'one hundred one thousand only', 'seratus satu ribu sahaja'],
  [99_999_999, 'nine hundred ninety-nine thousand nine hundred ninety-nine and sen ninety-nine only', ''],
  [100_000_000, 'one million only', 'satu juta sahaja'],
  [100_100_100, 'one million one thousand one only', 'satu juta seribu satu sahaja'],
  [
    123_456_789_012,
    'one billion two hundred thirty-four million five hundred sixty-seven thousand eight hundred ninety and sen twelve only',
    'satu bilion dua ratus tiga puluh empat juta lima ratus enam puluh tujuh ribu lapan ratus sembilan puluh dan sen dua belas sahaja',
  ],
];

for (const [amountSen, en, ms] of cases) {
  test(`${amountSen} sen`, (t) => {
    t.is(amountInWords(sen(amountSen), 'en'), `Ringgit Malaysia ${en}`);
    if (ms !== '') t.is(amountInWords(sen(amountSen), 'ms'), `Ringgit Malaysia ${ms}`);
  });
}

test('different amounts never read alike', (t) => {
  const amount = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER - 1_000_000 });
  fc.assert(
    fc.property(amount, fc.constantFrom(1, 10, 90, 100, 10_000, 1_000_000), (amountSen, more) => {
      for (const lang of ['en', 'ms'] as const) {
        const words = amountInWords(sen(amountSen), lang);
        t.notRegex(words, /undefined| {2}| $/);
        t.not(words, amountInWords(sen(amountSen + more), lang));
      }
    }),
  );
});
