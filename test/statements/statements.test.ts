// A day's collection read back from the CSV and the PDF: every receipt, every total, no formula.
import { buffer, text as textFrom } from 'node:stream/consumers';
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { Refused } from '../../src/commands/decider.ts';
import { addSen, displaySen, formatSen, groupedSen } from '../../src/common/money.ts';
import type { CollectedReceipt } from '../../src/projections/journal/collection-queries.ts';
import type { AccountStatement } from '../../src/projections/journal/queries.ts';
import { accountLines, collectionLines, listCsv } from '../../src/statements/csv.ts';
import { gatherReceipts, maxPdfReceipts } from '../../src/statements/document.ts';
import { collectionPdf, statementTexts } from '../../src/statements/pdf.ts';
import { grandTotal, totalsByMethod } from '../../src/statements/totals.ts';
import { hasPoppler, pagesOf, plainParts, textOf } from '../receipts/pdf-reader.ts';
import { sen } from '../support/payments.ts';

const reading = hasPoppler ? test : test.skip;

const collection = {
  merchantCode: 'council',
  day: '2026-11-20',
  asOf: new Date('2026-11-23T02:00:00.000Z'),
};
const printedAt = new Date('2026-11-23T02:00:05.000Z');
const methods = ['fpx', 'cc', 'unknown'] as const;

function receipt(index: number, over: Partial<CollectedReceipt> = {}): CollectedReceipt {
  return {
    transactionId: `T${index}`,
    // As wide as our own numbers get, which are not to break.
    receiptNo: `110-20261120-WQMGHKND${String(index).padStart(8, '0')}`,
    reference: `INV-${index}`,
    method: methods[index % methods.length] ?? 'fpx',
    amountSen: sen(100_000 + index),
    chargeSen: sen(index % 2 === 0 ? 50 : 0),
    paidAt: new Date(Date.parse('2026-11-19T16:00:00.000Z') + index * 1_000),
    recordedAt: new Date('2026-11-20T01:00:00.000Z'),
    isLate: false,
    ...over,
  };
}

async function* each(receipts: readonly CollectedReceipt[]) {
  yield* receipts;
}

const some = (count: number) => Array.from({ length: count }, (_, index) => receipt(index));
const csvOf = (receipts: readonly CollectedReceipt[]) =>
  textFrom(collectionLines(collection, each(receipts)));
const read = (csv: string): Record<string, string>[] => parse(csv, { columns: true, bom: true });
const pdfOf = async (
  receipts: readonly CollectedReceipt[],
  lang: 'en' | 'ms' = 'en',
  agency = 'Example City Council',
) => buffer(collectionPdf({ agency, collection, receipts, printedAt, lang }));

test('the CSV read back has every receipt, and its sums are the totals', async (t) => {
  const late = receipt(7, {
    isLate: true,
    recordedAt: new Date('2026-11-23T01:00:00.000Z'),
    method: 'unknown',
  });
  const receipts = [...some(7), late];
  const rows = read(await csvOf(receipts));
  t.is(rows.length, 8);
  t.is(rows[0]?.recorded_late, 'no');
  t.deepEqual(rows[7], {
    merchant_code: 'council',
    day: '2026-11-20',
    receipt_no: '110-20261120-WQMGHKND00000007',
    reference: 'INV-7',
    transaction_id: 'T7',
    method: 'unknown',
    amount: '1000.07',
    charge: '0.00',
    total: '1000.07',
    paid_at: '2026-11-20T00:00:07+08:00',
    recorded_at: '2026-11-23T09:00:00+08:00',
    recorded_late: 'yes',
  });
  const sum = (column: string) =>
    rows.reduce((total, row) => total + BigInt(row[column]?.replace('.', '') ?? ''), 0n);
  const { amountSen, chargeSen } = grandTotal(totalsByMethod(receipts));
  t.is(sum('amount'), amountSen);
  t.is(sum('charge'), chargeSen);
  t.is(sum('total'), amountSen + chargeSen);
});

test('no text is a formula to a spreadsheet, and any text can be read back', async (t) => {
  for (const first of ['=', '+', '-', '@', '\t', '\r']) {
    const evil = `${first}HYPERLINK("http://evil.example","a,b")`;
    const [row] = read(await csvOf([receipt(0, { reference: evil, receiptNo: evil })]));
    t.is(row?.reference, `'${evil}`);
    t.is(row?.receipt_no, `'${evil}`);
  }
  const odd = 'a "quoted", \r\n陈大文 முருகன் محمد; =1';
  const [row] = read(await csvOf([receipt(0, { reference: odd })]));
  t.is(row?.reference, odd);
});

test('an account has its opening balance, its lines and its closing balance, over any pages', async (t) => {
  const line = (balanceSen: bigint) => ({
    ...{ kind: 'payment', merchantCode: 'council', transactionId: 'T1', revision: 2, balanceSen },
    ...{ reference: 'INV-1', receiptNo: 'R-1', debitSen: 0n, creditSen: 150n },
    ...{ at: new Date('2026-11-20T01:00:00.000Z'), valueAt: new Date('2026-11-20T00:00:00.000Z') },
  });
  async function* pages() {
    yield { openingSen: -150n, lines: [line(0n)], closingSen: 0n } as AccountStatement;
    yield { openingSen: 0n, lines: [line(150n)], closingSen: 150n } as AccountStatement;
  }
  const csv = read(await textFrom(accountLines('merchant:council', pages())));
  t.deepEqual(
    csv.map((row) => [row.kind, row.recorded_at, row.credit, row.balance, row.balance_side].join(' ')),
    [
      'opening   1.50 debit',
      'payment 2026-11-20T09:00:00+08:00 1.50 0.00 ',
      'payment 2026-11-20T09:00:00+08:00 1.50 1.50 credit',
      'closing   1.50 credit',
    ],
  );
  const json = (await textFrom(accountLines('merchant:council', pages(), 'json'))).trim().split('\n');
  t.deepEqual(JSON.parse(json.at(-1) ?? ''), {
    account: 'merchant:council',
    kind: 'closing',
    balance: '1.50',
    balance_side: 'credit',
  });
});

test('a list has a column for each field, with times and amounts in the form of the others', async (t) => {
  async function* rows() {
    yield { paidAt: new Date('2026-11-20T01:00:00.000Z'), amountSen: 150, note: 'x' };
    yield { paidAt: null, amountSen: null, note: 7 };
  }
  t.is(
    await textFrom(listCsv(['paidAt', 'amountSen', 'note'], rows())),
    'paid_at,amount,note\r\n2026-11-20T09:00:00+08:00,1.50,x\r\n,,7\r\n',
  );
});

test('a day without receipts is a CSV with only its header', async (t) => {
  const csv = (await buffer(collectionLines(collection, each([])))).toString();
  t.deepEqual(read(csv), []);
  t.true(csv.startsWith('\ufeffmerchant_code,day,receipt_no,'));
  t.true(csv.endsWith('\r\n'));
});

test('a failed read becomes the stream’s error, and closing the stream early ends the reading', async (t) => {
  async function* failing() {
    yield receipt(0);
    throw new Error('The database is away');
  }
  await t.throwsAsync(textFrom(collectionLines(collection, failing())), { message: 'The database is away' });
  const left = Promise.withResolvers<void>();
  async function* endless() {
    try {
      for (let index = 0; ; index += 1) yield receipt(index);
    } finally {
      left.resolve();
    }
  }
  for await (const _ of collectionLines(collection, endless())) break;
  await left.promise;
  t.pass();
});

for (const lang of ['en', 'ms'] as const) {
  reading(
    `the PDF in ${lang} has every receipt, the totals and the time as of which it is true`,
    async (t) => {
      const words = statementTexts[lang];
      const late = receipt(3, { isLate: true, recordedAt: new Date('2026-11-23T01:00:00.000Z') });
      const receipts = [...some(3), late];
      const text = textOf(await pdfOf(receipts, lang));
      for (const { receiptNo, reference, amountSen } of receipts)
        for (const fact of [receiptNo, reference, groupedSen(amountSen)]) t.true(text.includes(fact), fact);
      const { amountSen, chargeSen } = grandTotal(totalsByMethod(receipts));
      for (const fact of [
        words.title.toUpperCase(),
        displaySen(amountSen),
        groupedSen(amountSen + chargeSen),
        words.unknownMethod,
        'council · 2026-11-20',
        lang === 'en' ? 'Friday, 20 November 2026' : 'Jumaat, 20 November 2026',
        lang === 'en' ? '23 November 2026 at 10:00:00' : '23 November 2026 pada 10:00:00',
      ])
        t.true(text.includes(fact), fact);
      const mark = lang === 'en' ? 'Recorded after the day' : 'Direkodkan selepas tarikh itu';
      t.is(text.split(mark).length, 2, 'one receipt came late');
    },
  );
}

reading('a day of 60 receipts has its table header and a page number on every page', async (t) => {
  const pdf = await pdfOf(some(60));
  const pages = pagesOf(pdf) ?? 0;
  t.true(pages > 1);
  const text = textOf(pdf);
  t.is(text.match(/No\. Time Receipt number/g)?.length, pages);
  for (let page = 1; page <= pages; page += 1) t.true(text.includes(`Page ${page} of ${pages}`));
  for (let index = 0; index < 60; index += 1) t.true(text.includes(receipt(index).receiptNo));
});

reading('the numbers and sums of the longest day are not broken', async (t) => {
  const most = { amountSen: sen(100_000_000), chargeSen: sen(5_000), method: 'fpx1' } as const;
  const receipts = Array.from({ length: maxPdfReceipts }, (_, index) => receipt(index, most));
  for (const lang of ['en', 'ms'] as const) {
    const text = textOf(await pdfOf(receipts, lang));
    t.regex(text, / 1999 00:33:18 .* 2000 00:33:19 /);
    t.is(text.match(/ 2,000,000,000\.00 100,000\.00 /g)?.length, 3, 'by method, in all and of the receipts');
    t.true(text.includes(receipt(maxPdfReceipts - 1).receiptNo));
  }
});

reading('a day without receipts says so; an agency of any name is printed', async (t) => {
  const name = 'Majlis <Bandaraya> & 陈大文';
  const text = textOf(await pdfOf([], 'ms', name));
  t.true(text.includes(statementTexts.ms.none));
  t.true(text.includes(name));
  t.true(text.includes('RM 0.00'));
});

test('the PDF is tagged, titled and the same bytes every time; a day too long is refused', async (t) => {
  const [one, other] = await Promise.all([pdfOf(some(3)), pdfOf(some(3))]);
  t.true(one.equals(other));
  const parts = plainParts(one);
  t.regex(parts, /\/Marked true/);
  t.regex(parts, /\/Lang \(en-MY\)/);
  t.regex(parts, /\/S \/TH/);
  const much = { method: 'fpx' } as const;
  const tooMany = Array.from({ length: maxPdfReceipts + 1 }, (_, index) => receipt(index, much));
  await t.throwsAsync(gatherReceipts(each(tooMany)), { instanceOf: Refused, code: 'too_many_receipts' });
  t.is((await gatherReceipts(each(tooMany.slice(1)))).length, maxPdfReceipts);
});

test('the totals of methods are the sums of their receipts', (t) => {
  const receipts = some(5);
  const totals = totalsByMethod(receipts);
  t.deepEqual(
    totals.map(({ method, receipts: count }) => [method, count]),
    [
      ['cc', 2],
      ['fpx', 2],
      ['unknown', 1],
    ],
  );
  const { amountSen, chargeSen } = grandTotal(totals);
  const each = receipts.map((receipt) => addSen(receipt.amountSen, receipt.chargeSen));
  t.is(formatSen(amountSen + chargeSen), formatSen(addSen(...each)));
});
