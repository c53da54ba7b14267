import { buffer } from 'node:stream/consumers';
import test from 'ava';
import fc from 'fast-check';
import { receiptPdf } from '../../src/receipts/pdf.ts';
import { runs } from '../support/property-runs.ts';
import { hasPoppler, pdfOf, textOf, verifyUrl } from './pdf-reader.ts';
import { paid } from './receipts.ts';

/** Characters where printing is hard: marks, joiners, right to left, scripts that are reordered, none at all. */
const blocks = [
  [0x0000, 0x024f],
  [0x0300, 0x036f],
  [0x0590, 0x08ff],
  [0x0900, 0x0dff],
  [0x1000, 0x1fff],
  [0x2000, 0x2bff],
  [0x3000, 0x9fff],
  [0xa000, 0xd7ff],
  [0xf900, 0xffff],
  [0x1ee00, 0x1faff],
  [0x20000, 0x2ffff],
  [0xe0000, 0xe01ff],
] as const;
const inBlock = blocks.map(([min, max]) =>
  fc.integer({ min, max }).map((code) => String.fromCodePoint(code)),
);
const anyCharacter = fc.oneof(...inBlock, fc.integer({ min: 0xd800, max: 0xdfff }).map(String.fromCharCode));
const anyText = fc.array(anyCharacter, { maxLength: 60 }).map((characters) => characters.join(''));

test('any text can be printed', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyText, anyText, async (one, other) => {
      const receipt = { ...paid(), payerName: one, agency: other, receiptNo: other };
      const pdf = await buffer(receiptPdf(receipt, { lang: 'en', verifyUrl: verifyUrl }));
      t.true(pdf.toString('latin1').endsWith('%%EOF\n'));
    }),
    { numRuns: runs(60) },
  );
});

test('marks on which the shaping library fails are printed anyway', async (t) => {
  const pdf = await pdfOf({ ...paid(), payerName: 'ڍ ؐ।्🀃' });
  if (hasPoppler) t.true(textOf(pdf).includes('ڍ'));
  else t.true(pdf.length > 0);
});
