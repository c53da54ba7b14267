import test from 'ava';
import { texts } from '../../../src/http/pay/texts.ts';
import type { StatusName } from '../../../src/receipts/texts.ts';
import { receiptPage } from './models.ts';
import { render } from './render.ts';

const statuses: StatusName[] = ['success', 'failed', 'cancelled', 'pending', 'requested', 'wrongAmount'];

for (const lang of ['en', 'ms'] as const) {
  for (const status of statuses) {
    test(`${status} in ${lang}: named by word and icon, a receipt only if paid`, async (t) => {
      const words = texts[lang];
      const heading = words.receipt.headings[status];
      const isOfficial = status === 'success';
      const explanation = words.receipt.explanations[status];
      const model = { ...receiptPage, lang, status, heading, explanation, isOfficial };
      const html = await render('receipt', { ...model, payUrl: '/pay' });
      const title = isOfficial ? heading : `${words.statuses[status]}: ${heading}`;
      t.true(html.includes(`<title>${title} – Example City Council</title>`));
      t.regex(
        html,
        new RegExp(`<p class="status ${status}"><svg[^>]*>.*</svg> ${words.statuses[status]}</p>`, 's'),
      );
      t.true(html.includes(`<h1>${heading}</h1>`));
      t.is(html.includes(words.receipt.notReceipt), !isOfficial);
      t.true(html.includes(explanation));
    });
  }
}

test('it shows every fact of the payment', async (t) => {
  const html = await render('receipt', receiptPage);
  const { facts, history, backUrl, fee, total, agency, pdfUrl } = receiptPage;
  for (const text of [...facts.flat(), fee, total, agency, pdfUrl]) t.true(html.includes(text), text);
  for (const entry of history) t.true(html.includes(entry.text) && html.includes(entry.time), entry.text);
  t.true(html.includes(`href="${backUrl.replaceAll('&', '&amp;')}"`));
});

test('what was charged besides is said before everything else', async (t) => {
  const html = await render('receipt', { ...receiptPage, otherCharges: ['A further charge'] });
  const [said, sum] = ['A further charge', receiptPage.total].map((text) => html.indexOf(text));
  t.true(said !== undefined && sum !== undefined && said > 0 && said < sum);
});

test('items, fee and total are in one table', async (t) => {
  const items = [
    { title: 'Land tax', detail: 'HSD 1/2026', amount: 'RM 20.50' },
    { title: 'Search', amount: 'RM 100.00' },
  ];
  const html = await render('receipt', { ...receiptPage, items });
  t.regex(
    html,
    /Land tax<small dir="auto">HSD 1\/2026[\s\S]*RM 20\.50[\s\S]*Search[\s\S]*RM 100\.00[\s\S]*Fee[\s\S]*Total/,
  );
});

test('one primary button: back to the agency, another try after a failure, or another look at an open attempt', async (t) => {
  const primary = (html: string) =>
    Array.from(html.matchAll(/<a class="button" href="([^"]*)"/g), ([, url]) => url);
  const backUrl = 'https://council.example/bills';
  t.deepEqual(primary(await render('receipt', { ...receiptPage, backUrl })), [backUrl]);
  const payUrl = 'https://pay.example/generic/pay/01ABC';
  const failed = await render('receipt', { ...receiptPage, status: 'failed', backUrl, payUrl });
  t.deepEqual(primary(failed), [payUrl]);
  t.true(failed.includes(`<a class="button quiet" href="${backUrl}"`));
  const refreshUrl = 'https://pay.example/generic/receipt/01ABC';
  const pending = await render('receipt', { ...receiptPage, status: 'pending', backUrl, refreshUrl });
  t.deepEqual(primary(pending), [backUrl]);
  t.true(pending.includes(`<a href="${refreshUrl}">Check the status again</a>`));
  const open = await render('receipt', { ...receiptPage, status: 'requested', backUrl, payUrl, refreshUrl });
  t.deepEqual(primary(open), [refreshUrl], 'who has just paid looks again before paying twice');
  t.true(open.includes(`<a class="button quiet" href="${payUrl}"`));
});
