import { format } from '@ledger/kernel/format.ts';
import test from 'ava';
import { paymentModes } from '../../src/common/payment-modes.ts';
import type { Standing } from '../../src/events/payment-standing.ts';
import { historyText, statusName, texts, timeText } from '../../src/receipts/texts.ts';
import { chosen, result, sen, succeeded } from '../support/payments.ts';
import { hasPoppler, pagesOf, pdfOf, plainParts, textOf, verifyUrl } from './pdf-reader.ts';
import { paid, receiptAfter, unpaid } from './receipts.ts';

const reading = hasPoppler ? test : test.skip;
if (!hasPoppler) test('pdftotext is not installed: what is in a PDF is not read back', (t) => t.pass());

const itemsOf = (count: number, description: string) =>
  Array.from({ length: count }, (_, index) => ({
    description: `${description} ${index + 1}`,
    titleId: `080102GRN${String(index).padStart(8, '0')}`,
    amountSen: sen(100 + index),
  }));

for (const lang of ['en', 'ms'] as const) {
  const words = texts[lang];

  reading(`a receipt in ${lang} has every fact of the payment`, async (t) => {
    const charged = [
      chosen(1, { chargeSen: sen(50) }),
      succeeded(result(1, 'succeeded', { amountSen: sen(12_100) })),
    ];
    const receipt = receiptAfter(charged, { channel: 'landreg' });
    const text = textOf(await pdfOf(receipt, lang));
    const { isOfficial, isClosed, status, at, history, items, mode, amount, access, ...rest } = receipt;
    const { totalSen, feeSen, notes, receivedSen, otherCharges, ...facts } = rest;
    for (const fact of Object.values(facts)) t.true(text.includes(fact), fact);
    for (const fact of items.flatMap((item) => Object.values(item))) t.true(text.includes(fact), fact);
    t.is(receipt.fee, 'RM 0.50');
    t.true(text.includes(words.receipt.headings.success.toUpperCase()));
    t.true(text.includes(words.statuses.success));
    t.true(text.includes(timeText(at, lang)));
    t.true(mode !== '' && text.includes(words.modes[mode]));
    t.true(
      text.includes(
        lang === 'en'
          ? 'Ringgit Malaysia one hundred twenty-one only'
          : 'Ringgit Malaysia seratus dua puluh satu sahaja',
      ),
    );
    t.true(text.includes(verifyUrl));
    t.true(text.includes(format(words.pdf.page, { page: 1, pages: 1 })));
    t.false(text.includes('900101145678'), 'the IC number is masked');
  });

  reading(`a statement of a payment that nobody can pay any more says so, in ${lang}`, async (t) => {
    const { failed } = unpaid;
    const { closed, failed: tryAgain } = words.receipt.explanations;
    t.true(textOf(await pdfOf(failed, lang)).includes(tryAgain));
    t.true(textOf(await pdfOf({ ...failed, isClosed: true }, lang)).includes(closed));
  });

  for (const [state, receipt] of Object.entries(unpaid)) {
    reading(
      `a statement of a payment that is ${state}, in ${lang}, is no receipt and tells the history`,
      async (t) => {
        const text = textOf(await pdfOf(receipt, lang));
        t.true(text.includes(words.receipt.headings[statusName(state as Standing)].toUpperCase()));
        t.true(text.includes(words.receipt.notReceipt));
        t.false(text.includes(words.receipt.headings.success.toUpperCase()));
        t.false(text.includes('Ringgit Malaysia'), 'no amount in words');
        t.false(text.includes(words.pdf.computerGenerated));
        t.true(text.includes(receipt.total));
        t.true(receipt.history.length > 0);
        for (const entry of receipt.history) {
          t.true(text.includes(`${timeText(entry.at, lang)} ${historyText(entry, lang)}`));
        }
        t.false(text.includes(words.pdf.verify));
      },
    );
  }
}

const names = [
  'Siti Nur’ain binti Abdul Rahman @ Łucja Nguyễn',
  '陈大文 陳美麗 黃麗鳳 鄺龍',
  'முருகன் பெருமாள் கௌரி ஸ்ரீ',
  'محمد بن عبد الله الحاج',
  'हिन्दी क्षत्रिय',
  'Привет Ελλάδα',
  '†‰→ “q” – ₿ ①',
];
for (const name of names) {
  reading(`a payer named ${name}`, async (t) => {
    const receipt = paid({ merchant: { code: 'council', id: 7, name } });
    const text = textOf(await pdfOf({ ...receipt, payerName: name }));
    const letters = (words: string) => words.replaceAll(' ', '');
    t.is(letters(text).split(letters(name)).length - 1, 2, 'in the regular and the bold font');
  });
}

reading('one name can mix scripts', async (t) => {
  const name = 'Tan 陈大文 முருகன் محمد end';
  const text = textOf(await pdfOf({ ...paid(), payerName: name }));
  for (const part of name.split(' ')) t.true(text.includes(part), part);
});

reading('right-to-left text continues over lines and pages, with each word once', async (t) => {
  const words = 'محمد بن عبدالله الحاج ';
  const text = textOf(await pdfOf({ ...paid(), payerName: words.repeat(500) }));
  t.is(text.match(/محمد/g)?.length, 500);
  t.is(text.match(/الحاج/g)?.length, 500);
});

reading('special characters in a text are printed as text', async (t) => {
  const nasty = 'A(b) \\) ET Q endstream <<>> \\101 %PDF <script>&amp; {{x}}';
  const receipt = paid({ description: nasty, service: nasty, reference: nasty });
  const text = textOf(await pdfOf({ ...receipt, receiptNo: nasty, agency: nasty }));
  t.true(text.split(nasty).length - 1 >= 5);
});

reading('right-to-left text around an amount does not reverse it', async (t) => {
  const text = textOf(
    await pdfOf(paid({ description: 'x \u202e05.021 MR\u202c', service: 'שלום (2) محمد' })),
  );
  t.true(text.includes('x 05.021 MR'));
  t.true(text.includes('RM 120.50'));
});

reading('20 long items continue over pages, each with a header and a number', async (t) => {
  const items = itemsOf(20, 'Quit rent of a lot in the district, with all that was due before it;'.repeat(4));
  const pdf = await pdfOf(paid({ items }));
  const pages = pagesOf(pdf) ?? 0;
  t.true(pages > 2);
  const text = textOf(pdf);
  for (const { description, titleId } of items) t.true(text.includes(description) && text.includes(titleId));
  t.is(text.match(/Item Amount/g)?.length, pages);
  for (let page = 1; page <= pages; page += 1) t.true(text.includes(`Page ${page} of ${pages}`));
});

reading('a word of 10,000 letters is printed to its end', async (t) => {
  const text = textOf(await pdfOf(paid({ description: `${'ñ'.repeat(10_000)}END` })));
  t.is(text.match(/ñ/g)?.length, 20_000, 'as the description and as the one item');
  t.is(text.match(/END/g)?.length, 2);
});

test('a usual receipt is one page of less than 100 KB', async (t) => {
  const pdf = await pdfOf(paid());
  t.is(pagesOf(pdf), 1);
  t.true(pdf.length < 100_000, String(pdf.length));
});

test('names in every script keep it under 250 KB', async (t) => {
  const pdf = await pdfOf({ ...paid(), payerName: names.join(' '), agency: names.join(' ') });
  t.true(pdf.length < 250_000, String(pdf.length));
});

test('the same receipt is the same bytes, whatever was printed before', async (t) => {
  const receipt = { ...paid({ items: itemsOf(3, 'Item') }), payerName: names.join(' ') };
  const first = await pdfOf(receipt);
  await pdfOf({ ...receipt, payerName: 'ﻣﺤﻤﺪ \u00a0 ﷽ fi ﬁ Ð Đ' }, 'ms');
  t.deepEqual(await pdfOf(receipt), first);
});

test('it has a title, a language, a structure and a text for the QR code', async (t) => {
  const pdf = plainParts(await pdfOf(paid({ items: itemsOf(2, 'Item') }), 'ms'));
  t.regex(pdf, /\/Marked true/);
  t.regex(pdf, /\/Lang \(ms-MY\)/);
  t.regex(pdf, /\/DisplayDocTitle true/);
  t.true(pdf.includes('(Resit rasmi 7-20261120-HE7CEVBBN545JZX2)'));
  for (const tag of ['Document', 'Sect', 'H1', 'H2', 'P', 'Table', 'TR', 'TH', 'TD', 'Figure', 'Link']) {
    t.true(pdf.includes(`/S /${tag}\n`), tag);
  }
  t.true(pdf.includes(`/Alt (${format(texts.ms.pdf.codeOf, { url: verifyUrl })})`));
  t.true(pdf.includes(`/URI (${verifyUrl})`));
});

test('the metadata names nobody', async (t) => {
  const receipt = paid();
  const pdf = plainParts(await pdfOf(receipt));
  for (const fact of [receipt.payerName, receipt.agency, receipt.icNo, receipt.transactionId]) {
    t.false(pdf.includes(fact), fact);
  }
  t.true(pdf.includes('/CreationDate') && pdf.includes('(D:20261120010430Z)'));
});

test('every font is embedded', async (t) => {
  const pdf = plainParts(await pdfOf({ ...paid(), payerName: names.join(' ') }));
  const fonts = pdf.match(/\/Subtype \/Type0/g)?.length ?? 0;
  t.true(fonts > 8);
  t.is(pdf.match(/\/FontFile2/g)?.length, fonts);
});

test('an address too long for a QR code is printed without one', async (t) => {
  const pdf = plainParts(await pdfOf(paid(), 'en', `${verifyUrl}${'0'.repeat(4000)}`));
  t.false(pdf.includes('/S /Figure'));
  t.true(pdf.includes('/S /Link'));
});

for (const mode of paymentModes) {
  reading(`paid by ${mode}`, async (t) => {
    const receipt = receiptAfter([chosen(1, { mode }), succeeded(result(1, 'succeeded', { mode }))]);
    t.true(textOf(await pdfOf(receipt)).includes(texts.en.modes[mode]));
  });
}
