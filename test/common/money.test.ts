// Amounts: which are accepted and refused, callers' own sums, and the two ways of writing them.
import test from 'ava';
import fc from 'fast-check';
import {
  addSen,
  displaySen,
  formatSen,
  groupedSen,
  parseAmount,
  readAmount,
  type Sen,
} from '../../src/common/money.ts';

const sen = (amount: number) => amount as Sen;
const maxSen = sen(100_000_000);

const amounts: [unknown, number | string][] = [
  // Texts
  ['0.01', 1],
  ['1', 100],
  ['1.5', 150],
  ['1.50', 150],
  ['007.10', 710],
  ['120.50', 12_050],
  ['1000000', 100_000_000],
  ['1000000.00', 100_000_000],
  ['1000000.01', 'too_large'],
  ['999999999.99', 'too_large'],
  ['1000000000', 'not_numeric'],
  ['0', 'not_positive'],
  ['0.00', 'not_positive'],
  ['000', 'not_positive'],
  ['10.005', 'too_many_decimals'],
  ['10.000', 'too_many_decimals'],
  ['30.299999999999997', 'too_many_decimals'],
  ['', 'not_numeric'],
  [' ', 'not_numeric'],
  [' 1', 'not_numeric'],
  ['1 ', 'not_numeric'],
  ['1\n', 'not_numeric'],
  ['1\u0000', 'not_numeric'],
  ['\ufeff1', 'not_numeric'],
  ['+1', 'not_numeric'],
  ['-1', 'not_numeric'],
  ['-0', 'not_numeric'],
  ['1e3', 'not_numeric'],
  ['1E3', 'not_numeric'],
  ['0x10', 'not_numeric'],
  ['0b1', 'not_numeric'],
  ['1_000', 'not_numeric'],
  ['1,000.00', 'not_numeric'],
  ['1,5', 'not_numeric'],
  ['1.', 'not_numeric'],
  ['.5', 'not_numeric'],
  ['1.2.3', 'not_numeric'],
  ['1.5.', 'not_numeric'],
  ['RM1', 'not_numeric'],
  ['1n', 'not_numeric'],
  ['NaN', 'not_numeric'],
  ['Infinity', 'not_numeric'],
  ['١٢٣', 'not_numeric'],
  ['１２', 'not_numeric'],
  ['9'.repeat(1_000_000), 'not_numeric'],
  [`1.${'0'.repeat(1_000_000)}`, 'too_many_decimals'],
  // Numbers
  [0.01, 1],
  [1, 100],
  [1.1, 110],
  [120.5, 12_050],
  [1.005, 'too_many_decimals'],
  [10.005, 'too_many_decimals'],
  [0.001, 'too_many_decimals'],
  [0.005, 'too_many_decimals'],
  [0.009_999, 'too_many_decimals'],
  [0.1 + 0.2, 30],
  [10.1 + 20.2, 3030],
  [30.299999999999997, 3030],
  [1.15 * 3, 345],
  [999_999.99, 99_999_999],
  [1_000_000, 100_000_000],
  [1_000_000.01, 'too_large'],
  [999_999.995, 'too_many_decimals'],
  [0.010_000_009, 1],
  [0.010_000_02, 'too_many_decimals'],
  [0, 'not_positive'],
  [-0, 'not_positive'],
  [-1, 'not_positive'],
  [-0.001, 'not_positive'],
  [Number.MIN_VALUE, 'not_positive'],
  [1e-9, 'not_positive'],
  [1e15, 'too_large'],
  [1e21, 'too_large'],
  [Number.MAX_VALUE, 'too_large'],
  [Number.NaN, 'not_numeric'],
  [Number.POSITIVE_INFINITY, 'not_numeric'],
  [Number.NEGATIVE_INFINITY, 'not_numeric'],
  // Anything else
  [undefined, 'not_numeric'],
  [null, 'not_numeric'],
  [true, 'not_numeric'],
  [1n, 'not_numeric'],
  [[], 'not_numeric'],
  [['1'], 'not_numeric'],
  [{ valueOf: () => 1 }, 'not_numeric'],
  [{ toString: () => '1' }, 'not_numeric'],
];

for (const [index, [value, expected]] of amounts.entries()) {
  const shown = typeof value === 'string' ? JSON.stringify(value).slice(0, 40) : String(value);
  test(`amount ${index}: ${typeof value} ${shown} is ${expected}`, (t) => {
    t.is<unknown, unknown>(parseAmount(value, maxSen), expected);
  });
}

const gatewayAmounts: [string, number | null][] = [
  ['120.50', 12_050],
  ['120.5', 12_050],
  ['120', 12_000],
  ['0', 0],
  [' 120.50\r\n', 12_050],
  ['120.500', null],
  ['1,000.00', null],
  ['-1', null],
  ['1e3', null],
  ['', null],
  ['RM 1', null],
  ['1234567890', null],
];

for (const [index, [text, expected]] of gatewayAmounts.entries()) {
  test(`gateway's amount ${index}: ${JSON.stringify(text)} is ${expected}`, (t) => {
    t.is<unknown, unknown>(readAmount(text), expected);
  });
}

const anySen = fc.integer({ min: 1, max: maxSen }).map(sen);

test('a written amount is read back unchanged, as text and as a number', (t) => {
  fc.assert(
    fc.property(anySen, (amount) => {
      const text = formatSen(amount);
      return (
        parseAmount(text, maxSen) === amount &&
        parseAmount(Number(text), maxSen) === amount &&
        readAmount(text) === amount &&
        /^\d+\.\d\d$/.test(text)
      );
    }),
  );
  t.pass();
});

test("a caller's own floating-point sum of two-decimal numbers is the exact sum", (t) => {
  const items = fc.array(fc.integer({ min: 1, max: maxSen / 20 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(items, (cents) => {
      const noisy = cents.reduce((sum, cent) => sum + cent / 100, 0);
      return parseAmount(noisy, maxSen) === addSen(...cents.map(sen));
    }),
    { numRuns: 1000 },
  );
  t.pass();
});

test('a real third decimal is refused, however large the amount', (t) => {
  const thousandths = fc.integer({ min: 1, max: 999_999_999 }).filter((value) => value % 10 !== 0);
  fc.assert(
    fc.property(thousandths, (value) => parseAmount(value / 1000, maxSen) === 'too_many_decimals'),
    { numRuns: 1000 },
  );
  t.pass();
});

test('any value is either an amount within the bounds or a fault', (t) => {
  const faults = ['not_numeric', 'too_many_decimals', 'not_positive', 'too_large'];
  const values = fc.oneof(fc.anything(), fc.string(), fc.double(), fc.stringMatching(/^[\d.,e+-]{1,12}$/));
  fc.assert(
    fc.property(values, (value) => {
      const parsed: unknown = parseAmount(value, maxSen);
      if (typeof parsed === 'string') return faults.includes(parsed);
      return Number.isInteger(parsed) && Number(parsed) > 0 && Number(parsed) <= maxSen;
    }),
    { numRuns: 1000 },
  );
  t.pass();
});

const written: [number, string, string][] = [
  [0, '0.00', 'RM 0.00'],
  [5, '0.05', 'RM 0.05'],
  [50, '0.50', 'RM 0.50'],
  [100, '1.00', 'RM 1.00'],
  [99_999, '999.99', 'RM 999.99'],
  [100_000, '1000.00', 'RM 1,000.00'],
  [1_234_550, '12345.50', 'RM 12,345.50'],
  [100_000_000, '1000000.00', 'RM 1,000,000.00'],
];

for (const [amount, text, display] of written) {
  test(`${amount} sen is written ${text} and shown as ${display}`, (t) => {
    t.is(formatSen(sen(amount)), text);
    t.is(displaySen(sen(amount)).replace('\u00a0', ' '), display);
  });
}

test('the sum of no amounts is zero', (t) => t.is<number, number>(addSen(), 0));

test('sums past the safe integers are written to the last sen', (t) => {
  t.is(formatSen(2n ** 70n), '11805916207174113034.24');
  t.is(groupedSen(2n ** 70n), '11,805,916,207,174,113,034.24');
  t.is(displaySen(7n), 'RM 0.07');
  for (const ringgit of ['', 'MYR', 'rm']) t.is(displaySen(7n, ringgit), 'RM 0.07');
  t.is(displaySen(7n, 'usd'), 'usd 0.07');
});
