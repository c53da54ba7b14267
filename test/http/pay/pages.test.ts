// Every page: escaping, policy, markup, languages.
import { createHash } from 'node:crypto';
import test from 'ava';
import { texts } from '../../../src/http/pay/texts.ts';
import { scriptHash, styleHash } from '../../../src/http/server/inline-style.ts';
import {
  debugPage,
  errorPage,
  handOverPage,
  homePage,
  paymentPage,
  receiptPage,
  simulatePage,
  verifyPage,
  verifyProofPage,
} from './models.ts';
import { render, request } from './render.ts';

const items = [{ title: 'Land tax', detail: 'HSD 1/2026', amount: 'RM 1.00' }];
const pages: Record<string, object> = {
  payment: { ...paymentPage, items },
  'hand-over': handOverPage,
  receipt: {
    ...receiptPage,
    items,
    payUrl: 'https://pay.example/t',
    refreshUrl: 'https://pay.example/r',
    refresh: '3; url=https://pay.example/r?look=1',
    receiptEmail: { text: 'Sent to a***@example.my', action: 'https://pay.example/e', token: 'TOKEN' },
  },
  verify: verifyPage,
  'verify-proof': verifyProofPage,
  error: { ...errorPage, detail: 'amount: more than two decimals' },
  home: homePage,
  debug: debugPage,
  simulate: simulatePage,
};

/** The model with `poison` added to every text that is not one of the fixed words. */
const poisoned = (value: unknown, poison: string, key = ''): unknown => {
  if (typeof value === 'string') return ['lang', 'status', 'problem'].includes(key) ? value : value + poison;
  if (Array.isArray(value)) return value.map((child) => poisoned(child, poison));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, poisoned(child, poison, name)]),
  );
};

const countTexts = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, child) => sum + countTexts(child), 0)
    : Number(typeof value === 'string');

/** The elements left open, or closed without being open. */
const unbalanced = (html: string): string[] => {
  const open: string[] = [];
  const stray: string[] = [];
  const voids = ['meta', 'link', 'input', 'path', 'circle', 'rect', 'img'];
  for (const [, close, name = '', selfClosed] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*?(\/?)>/g)) {
    if (close) {
      if (open.at(-1) === name) open.pop();
      else stray.push(name);
    } else if (!selfClosed && !voids.includes(name)) open.push(name);
  }
  return [...open, ...stray];
};

for (const [name, model] of Object.entries(pages)) {
  test(`${name}: everything in the model is escaped`, async (t) => {
    const html = await render(name, poisoned(model, `<img src=x onerror="alert(1)">'&{{ 7 * 7 }}`) as object);
    t.notRegex(html, /<img src=x|alert\(1\)"|'&\{|49/);
    const escaped = '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;{{ 7 * 7 }}';
    // Nearly every text of the model is shown; a page that shows none of them would pass the check above.
    t.true(html.split(escaped).length > countTexts(model) / 2);
  });

  test(`${name}: requests nothing from any host`, async (t) => {
    const html = await render(name, model);
    t.notRegex(html, /\ssrc=|@import|url\(|<iframe|<object|<base/i);
    t.deepEqual(
      Array.from(html.matchAll(/<link[^>]*href="([^",]*)/g), ([, start]) => start),
      ['data:image/svg+xml'],
    );
  });

  test(`${name}: style and script are those that the policy names`, async (t) => {
    const html = await render(name, model);
    const hashes = (tag: string) =>
      Array.from(
        html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs')),
        ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
      );
    t.deepEqual(hashes('style'), [styleHash]);
    t.deepEqual(hashes('script'), name === 'hand-over' ? [scriptHash] : []);
    t.notRegex(html, /\sstyle=/);
  });

  for (const lang of ['en', 'ms'] as const) {
    test(`${name}: well-formed, titled and in ${lang}`, async (t) => {
      const { status, type, html } = await request(name, { ...model, lang });
      t.is(status, 200);
      t.is(type, 'text/html; charset=utf-8');
      t.regex(html, /^\s*<!doctype html>/);
      t.true(html.includes(`<html lang="${lang}">`));
      t.true(html.includes(texts[lang].masthead));
      t.regex(html, /<title>[^<]*\S[^<]*<\/title>/);
      t.is(html.match(/<h1/g)?.length, 1);
      t.deepEqual(unbalanced(html), []);
      t.notRegex(html, /undefined|\[object|NaN/);
    });
  }
}

test('the hand-over form is sent by a button where scripts are off', async (t) => {
  const html = await render('hand-over', handOverPage);
  t.regex(html, /<form class="card" method="post" action="https:\/\/gateway\.example\/">/);
  t.true(html.includes('<input type="hidden" name="TRANS_ID" value="01ABC">'));
  t.true(html.includes('<input type="hidden" name="AMOUNT" value="120.50">'));
  t.true(html.includes('<button>Continue</button>'));
});

for (const [problem, words] of Object.entries(texts.en.problems)) {
  test(`the ${problem} page says what happened and what to do`, async (t) => {
    const html = await render('error', { ...errorPage, problem });
    for (const text of [...Object.values(words), 'Error 410', errorPage.requestId])
      t.true(html.includes(text), text);
    t.true(html.includes(`<a class="button" href="${errorPage.actionUrl}">`));
    t.notRegex(await render('error', { ...errorPage, problem, actionUrl: undefined }), /<a class="button"/);
  });
}

test('in production the front page only says what this is', async (t) => {
  const html = await render('home', { lang: 'en' });
  t.true(html.includes(texts.en.home.what));
  t.notRegex(html, /curl|sandbox/i);
});

test('a page whose model lacks a value is not shown', async (t) => {
  const { amount: _, ...incomplete } = paymentPage;
  const { status, html } = await request('payment', incomplete);
  t.is(status, 500);
  t.is(html, 'Internal Server Error');
});
