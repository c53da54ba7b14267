// The message catalogues: what a translator must keep, and how the program fills them.
import { readdirSync, readFileSync } from 'node:fs';
import { format } from '@ledger/kernel/format.ts';
import test from 'ava';
import refusals from '../../content/refusals.json' with { type: 'json' };
import { texts } from '../../src/http/pay/texts.ts';

const folder = new URL('../../content/texts/', import.meta.url);

/** Every text with its path. */
const flatten = (value: unknown, path = ''): [string, string][] =>
  typeof value === 'string'
    ? [[path, value]]
    : Object.entries(value as object).flatMap(([key, child]) => flatten(child, `${path}.${key}`));

const catalogue = (file: string) => flatten(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

const placeholdersOf = (text: string | undefined) => text?.match(/\{\w*\}/g)?.sort() ?? [];

for (const file of readdirSync(folder)) {
  const entries = catalogue(file);

  test(`${file} has no empty text, and its braces are placeholders`, (t) => {
    for (const [path, text] of entries) {
      t.regex(text, /\S/, path);
      t.notRegex(text.replace(/\{\w+\}/g, ''), /[{}]/, path);
    }
  });

  // The keys of its sentences are the English ones: phrases.test.ts.
  if (file === 'phrases.ms.json') continue;
  if (file.endsWith('.ms.json'))
    test(`${file} has the same texts as its English catalogue, with the same placeholders`, (t) => {
      const english = catalogue(file.replace('.ms.', '.en.'));
      t.deepEqual(
        entries.map(([path]) => path),
        english.map(([path]) => path),
      );
      const malay = new Map(entries);
      for (const [path, text] of english)
        t.deepEqual(placeholdersOf(malay.get(path)), placeholdersOf(text), path);
    });
}

test('placeholders are filled, more than once if need be, and values are not read as placeholders', (t) => {
  t.is(format('{a} of {b}, {a}', { a: 1, b: '{a}' }), '1 of {a}, 1');
  t.is(format('{unknown} stays', {}), '{unknown} stays');
});

test('translated texts differ', (t) => {
  const malay = new Map(flatten(texts.ms));
  const same = flatten(texts.en).filter(([path, text]) => malay.get(path) === text);
  t.deepEqual(
    same.map(([path]) => path),
    ['.modes.dnqr', '.bank'],
  );
});

test('in both languages, the pages of the console have the same addresses and need the same permissions', (t) => {
  const [english, malay] = ['en', 'ms'].map((lang) =>
    catalogue(`console.${lang}.json`).filter(([path]) => /^\.pages\.\d+\.(path|permission)$/.test(path)),
  );
  t.deepEqual(malay, english);
});

test('statuses and modes are called what the interface documents call them', (t) => {
  const { requested: _, partlyPaid: _p, wrongAmount: _a, ...statuses } = texts.en.statuses;
  t.deepEqual(statuses, {
    success: 'Successful',
    failed: 'Failed',
    cancelled: 'Cancelled',
    pending: 'Pending',
  });
  const { requested: __, partlyPaid: _q, wrongAmount: _b, ...malayStatuses } = texts.ms.statuses;
  t.deepEqual(malayStatuses, {
    success: 'Berjaya',
    failed: 'Gagal',
    cancelled: 'Dibatalkan',
    pending: 'Menunggu Pengesahan',
  });
  t.deepEqual(texts.en.modes, {
    fpx: 'FPX Online Banking (Individual)',
    fpx1: 'FPX Online Banking (Corporate)',
    cc: 'Credit Card',
    dc: 'Debit Card',
    dnqr: 'DuitNow QR',
    wallet: 'E-Wallet',
  });
  t.deepEqual(texts.ms.modes, {
    fpx: 'Perbankan Internet (Individu)',
    fpx1: 'Perbankan Internet (Korporat)',
    cc: 'Kad Kredit',
    dc: 'Kad Debit',
    dnqr: 'DuitNow QR',
    wallet: 'e-Dompet',
  });
});

test('a refusal that has an explanation of its own names one that pages have', (t) => {
  for (const [code, refusal] of Object.entries(refusals))
    if ('kind' in refusal) t.true(refusal.kind in texts.en.problems, code);
});
