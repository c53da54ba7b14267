import test from 'ava';
import { viewTexts as texts } from '../../../src/http/view-texts.ts';

/** Every text with its path; a text with blanks is filled with them numbered. */
const flatten = (value: unknown, path = ''): [string, string][] => {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, value('{0}', '{1}')]];
  return Object.entries(value as object).flatMap(([key, child]) => flatten(child, `${path}.${key}`));
};

const english = flatten(texts.en);
const malay = new Map(flatten(texts.ms));

test('both languages have the same texts, and none is empty', (t) => {
  t.deepEqual(
    [...malay.keys()],
    english.map(([path]) => path),
  );
  for (const [path, text] of [...english, ...malay]) t.regex(text, /\S/, path);
});

test('both languages fill the same blanks', (t) => {
  const blanks = (text: string | undefined) => text?.match(/\{\d\}/g)?.sort() ?? [];
  for (const [path, text] of english) t.deepEqual(blanks(malay.get(path)), blanks(text), path);
});

test('translated texts differ', (t) => {
  const same = english.filter(([path, text]) => malay.get(path) === text).map(([path]) => path);
  t.deepEqual(same, ['.modes.dnqr', '.bank']);
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
