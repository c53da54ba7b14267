// The receipt email: the same figures as the PDF, in two languages, and nothing in it but text.
import test from 'ava';
import fc from 'fast-check';
import { receiptMessage } from '../../src/receipts/email.ts';
import type { Receipt } from '../../src/receipts/receipt.ts';
import { anyText } from '../support/any-text.ts';
import { chosen, mismatched, resolvedAs, result, sen } from '../support/payments.ts';
import { hasPoppler, pdfOf, textOf } from './pdf-reader.ts';
import { paid, receiptAfter, unpaid } from './receipts.ts';

const receiptUrl = (lang: string) => `https://pay.example/generic/receipt/01ABC?lang=${lang}`;
const characters = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** What a mail program shows of the HTML, white space as single spaces. */
const shown = (html: string) =>
  html
    .replace(/<(title|style)>[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: keyof typeof characters) => characters[name])
    .replace(/\s+/g, ' ');

const receipt = paid({
  items: [
    { description: 'Land tax <b>', titleId: 'HSD 1/2026', amountSen: sen(12_000) },
    { description: 'Search', titleId: '', amountSen: sen(50) },
  ],
});

for (const lang of ['en', 'ms'] as const) {
  (hasPoppler ? test : test.skip)(`text, HTML and PDF say the same in ${lang}`, async (t) => {
    const { text, html } = receiptMessage(receipt, lang, receiptUrl);
    const pdf = textOf(await pdfOf(receipt, lang));
    const facts = text.split('\n').filter((line) => /: /.test(line) && !line.includes('https:'));
    t.true(facts.length > 10);
    for (const fact of facts) {
      const [label = '', ...rest] = fact.split(': ');
      const value = rest.join(': ').replace(/\s/g, ' ');
      for (const part of [...label.split(' · '), value]) {
        t.true(pdf.includes(part), `${part} in the PDF`);
        t.true(shown(html).includes(part), `${part} in the HTML`);
      }
    }
  });
}

test('each language links to the page in both', (t) => {
  for (const lang of ['en', 'ms'] as const) {
    const { text, html } = receiptMessage(receipt, lang, receiptUrl);
    for (const other of ['en', 'ms']) {
      t.true(text.includes(receiptUrl(other)));
      t.true(html.includes(`href="${receiptUrl(other)}"`));
    }
  }
  t.regex(receiptMessage(receipt, 'ms', receiptUrl).subject, /^Resit rasmi /);
});

test('the email about a wrong amount says what the payer is to do, also once the money went back', (t) => {
  const bodyOf = (it: Receipt) => receiptMessage(it, 'en', receiptUrl).text;
  const back = receiptAfter([
    chosen(1),
    mismatched(result(1, 'succeeded', { amountSen: sen(12_150) })),
    resolvedAs('refunded', 1),
  ]);
  const [held, refunded] = [bodyOf(unpaid.wrongAmount), bodyOf(back)];
  t.regex(held, /Do not pay again\./);
  t.regex(refunded, /It was returned to you on .*\nThe page below shows whether you still have to pay\.\n/);
  t.notRegex(refunded, /Do not pay again/);
});

test('the HTML loads nothing from any host and runs no script', (t) => {
  const { html } = receiptMessage(receipt, 'en', receiptUrl);
  t.notRegex(html, /<(script|img|link|iframe|object|form)|\ssrc=|url\(|@import|\son\w+=/i);
});

test('any name stays one line of text', (t) => {
  const anyName = fc.oneof(
    anyText(),
    fc.constantFrom(
      '"><img src=x onerror=alert(1)>',
      'A\r\nBcc: eve@example.org',
      'A\u2028Total: RM 0.01',
      '\u202eMR 00.1',
      '</td></table>&#60;script&#62;',
    ),
  );
  fc.assert(
    fc.property(anyName, (poison) => {
      const poisoned = {
        ...receipt,
        agency: poison,
        receiptNo: poison,
        payerName: poison,
        description: poison,
        bank: poison,
      };
      const lines = receiptMessage(receipt, 'en', receiptUrl).text.split('\n').length;
      const item = { description: poison, titleId: poison, receiptNo: '', detail: poison, amount: 'RM 1.00' };
      const { subject, text, html } = receiptMessage({ ...poisoned, items: [item] }, 'en', receiptUrl);
      t.notRegex(subject, /[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
      t.true(text.split(/[\n\r\u2028\u2029\x85\v\f]/).length <= lines);
      t.notRegex(html, /<img|<script/i);
      t.is(html.split('<table').length, 3);
    }),
  );
});

test('names are shown, not read as HTML', (t) => {
  const { html } = receiptMessage({ ...receipt, payerName: `O'Neil & "Sons" <x>` }, 'en', receiptUrl);
  t.true(html.includes('O&#39;Neil &amp; &quot;Sons&quot; &lt;x&gt;'));
});
