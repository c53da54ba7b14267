// GET /generic/download/{id}: the same amounts as on the page, as a PDF that opens in the browser and is not cached.
import test from 'ava';
import { hasPoppler, pagesOf, textOf } from '../../receipts/pdf-reader.ts';
import { startApp } from '../../support/app.ts';
import { chooseMethod, createPayment, postResult, resultFields, signed } from './helpers.ts';

const app = await startApp();
test.after.always(() => app.close());

const downloadUrl = (id: string, query = '') => `${app.url}/generic/download/${id}${query}`;
const report = (id: string, over: Record<string, string> = {}) =>
  postResult(app, signed(resultFields(id, over)));

async function download(id: string, query = '', headers = {}) {
  const response = await fetch(downloadUrl(id, query), { headers });
  return { response, pdf: Buffer.from(await response.arrayBuffer()) };
}

test('an official receipt: headers, a safe file name, a verification code', async (t) => {
  const id = await createPayment(app);
  await report(id, { RECEIPT_NO: 'R (1): /2026' });
  const { response, pdf } = await download(id);
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), 'application/pdf');
  t.is(response.headers.get('content-disposition'), 'inline; filename="Official-receipt-R-1-2026.pdf"');
  t.is(response.headers.get('cache-control'), 'no-store');
  t.is(response.headers.get('content-security-policy'), "frame-ancestors 'none'");
  t.is(response.headers.get('referrer-policy'), 'no-referrer');
  t.is(response.headers.get('x-robots-tag'), 'noindex');
  t.is(response.headers.get('x-content-type-options'), 'nosniff');
  t.is(pagesOf(pdf), 1);
  t.true(pdf.includes(`${app.url}/verify/`));
  t.deepEqual((await download(id)).pdf, pdf);
});

test('the receipt page links to it, in the page’s language', async (t) => {
  const id = await createPayment(app);
  const page = await (await fetch(`${app.url}/generic/receipt/${id}?lang=ms`)).text();
  t.true(page.includes(`href="${downloadUrl(id)}?lang=ms"`));
});

test('before a success it says so, and is no receipt', async (t) => {
  const id = await createPayment(app, { trans_id: 'INV/中文/9' });
  const { response, pdf } = await download(id, '?lang=ms');
  t.is(
    response.headers.get('content-disposition'),
    'inline; filename="Belum-ada-pembayaran-yang-disahkan-INV-9.pdf"',
  );
  t.false(pdf.includes('/verify/'));
  if (hasPoppler) t.regex(textOf(pdf), /BELUM ADA PEMBAYARAN YANG DISAHKAN Ini bukan resit\./);
});

test('the language comes from ?lang=, else from Accept-Language', async (t) => {
  const id = await createPayment(app);
  const title = async (query: string, headers = {}) =>
    (await download(id, query, headers)).response.headers.get('content-disposition');
  t.regex((await title('', { 'accept-language': 'ms' })) ?? '', /Belum/);
  t.regex((await title('?lang=en', { 'accept-language': 'ms' })) ?? '', /No-payment/);
});

(hasPoppler ? test : test.skip)(
  'every figure of the page is in the PDF, and the IC number is masked',
  async (t) => {
    const id = await createPayment(app, { trans_id: 'INV/2026-7' });
    await chooseMethod(app, id, { method: 'fpx', bank_fpx: 'MB2U0227' });
    await report(id);
    const page = await (await fetch(`${app.url}/generic/receipt/${id}`)).text();
    const text = textOf((await download(id)).pdf);
    const facts = Array.from(
      page.matchAll(/<dt>(.*?)<\/dt><dd dir="auto">(.*?)<\/dd>/g),
      ([, label, fact]) => [label, fact],
    );
    t.true(facts.length > 10);
    for (const [label, fact] of facts) t.true(text.includes(`${label} ${fact}`), `${label} ${fact}`);
    const sums = page.match(/RM\s[\d,.]+/g) ?? [];
    t.true(sums.length > 2);
    for (const sum of sums) t.true(text.includes(sum.replace(/\s/, ' ')), sum);
    t.false(text.includes('900101145678'));
  },
);

test('an unknown payment is a page with 404, or JSON on request', async (t) => {
  const response = await fetch(downloadUrl('0'.repeat(26)));
  t.is(response.status, 404);
  t.true((await response.text()).includes('We do not know this payment'));
  const json = await fetch(downloadUrl('x'), { headers: { accept: 'application/json' } });
  t.deepEqual([json.status, await json.json()], [404, { status: false, message: 'Transaction not found' }]);
});

test('HEAD is answered with the headers', async (t) => {
  const head = await fetch(downloadUrl(await createPayment(app)), { method: 'HEAD' });
  t.deepEqual([head.status, head.headers.get('content-type')], [200, 'application/pdf']);
});

test('a PDF that was drawn is sent again, until the receipt says something else', async (t) => {
  const id = await createPayment(app);
  const [first, ...more] = await Promise.all([download(id), download(id), download(id)]);
  for (const { pdf } of more) t.deepEqual(pdf, first.pdf);
  t.notDeepEqual((await download(id, '?lang=ms')).pdf, first.pdf);
  await report(id);
  const paid = await download(id);
  t.regex(paid.response.headers.get('content-disposition') ?? '', /Official-receipt/);
  t.notDeepEqual(paid.pdf, first.pdf);
});
