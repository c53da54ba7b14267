import test from 'ava';
import { texts } from '../../../src/http/pay/texts.ts';
import { paymentPage, receiptPage } from './models.ts';
import { render } from './render.ts';

const tag = (html: string, pattern: RegExp) => html.match(pattern)?.[0] ?? '';

test('amount and payee come before everything else that the payer reads', async (t) => {
  const html = await render('payment', { ...paymentPage, description: 'Second half' });
  const order = [
    'RM\u00a0120.50',
    'Example City Council',
    'Assessment tax',
    'Second half',
    'INV-2026-000123',
    'Aminah',
  ];
  const main = html.slice(html.indexOf('<main'));
  const places = order.map((text) => main.indexOf(text));
  t.false(places.includes(-1));
  t.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});

test('without any script it is one form with a button to go on and one to cancel, posting token, method and bank to an absolute URL', async (t) => {
  const html = await render('payment', paymentPage);
  t.notRegex(html, /<script|\son\w+=|javascript:/i);
  t.is(
    tag(html, /<form[^>]*>/),
    `<form class="card" method="post" action="${paymentPage.action}" novalidate>`,
  );
  t.is(html.match(/<form/g)?.length, 1);
  t.deepEqual(html.match(/<button[^>]*>/g), ['<button>', '<button class="quiet" name="cancel" value="1">']);
  t.true(html.includes(`<input type="hidden" name="token" value="${paymentPage.token}">`));
  const radios = html.match(/<input type="radio" name="method"[^>]*>/g) ?? [];
  t.deepEqual(
    radios.map((radio) => radio.match(/value="(\w+)"/)?.[1]),
    ['fpx', 'fpx1', 'cc', 'dc', 'dnqr', 'wallet'],
  );
  for (const radio of radios) {
    const id = radio.match(/id="([\w-]+)"/)?.[1];
    t.true(html.includes(`<label for="${id}">`), id);
  }
  t.is(html.match(/<select/g)?.length, 1);
  t.regex(html, /<label for="bank-fpx">Bank<\/label>\s*<select id="bank-fpx" name="bank_fpx">/);
});

test('a method outside its limits cannot be chosen, and is described by the reason', async (t) => {
  const html = await render('payment', paymentPage);
  const radio = tag(html, /<input type="radio"[^>]*value="fpx1"[^>]*>/);
  t.regex(radio, / disabled/);
  const withJsonSchema = radio.match(/aria-describedby="([\w-]+)"/)?.[1];
  t.true(html.includes(`<p id="${withJsonSchema}">Not available: this method starts at RM\u00a02.00.</p>`));
  t.notRegex(tag(html, /<input type="radio"[^>]*value="cc"[^>]*>/), /disabled/);
});

test('when no method accepts the amount, the page says so, and the payer can only cancel', async (t) => {
  const methods = paymentPage.methods.map((method) => ({ ...method, unavailable: 'Not available.' }));
  const html = await render('payment', { ...paymentPage, methods });
  t.true(html.includes(texts.en.payment.noMethod));
  t.deepEqual(html.match(/<button[^>]*>/g), ['<button class="quiet" name="cancel" value="1">']);
  t.false((await render('payment', paymentPage)).includes(texts.en.payment.noMethod));
});

test('fee and total are shown where a fee applies', async (t) => {
  const html = await render('payment', paymentPage);
  t.is(html.match(/Fee RM\u00a01\.20, total RM\u00a0121\.70/g)?.length, 1);
  const methods = paymentPage.methods.map((method) => ({ ...method, unavailable: 'Up to RM 120.50.' }));
  const outside = await render('payment', { ...paymentPage, methods });
  t.regex(outside, /Up to RM\u00a0120\.50\. <strong>Fee/, 'the fee may be why the total is beyond the limit');
});

test('a form without a bank comes back with what was chosen and the error tied to the bank list', async (t) => {
  const html = await render('payment', { ...paymentPage, chosenMode: 'fpx', error: 'bankMissing' });
  t.regex(html, /<title>There is a problem: /);
  t.regex(html, /<p id="error"><a href="#bank-fpx">Choose your bank\.<\/a>/);
  t.regex(tag(html, /<select[^>]*>/), /aria-describedby="error" aria-invalid="true"/);
  t.regex(tag(html, /<input type="radio"[^>]*value="fpx"[^>]*>/), / checked/);
  t.is(html.match(/ checked/g)?.length, 1);
});

test('the fault is what has the focus, and no message is left to the browser', async (t) => {
  for (const error of ['methodMissing', 'bankMissing', 'attemptOpen', 'bankDown', 'feeChanged']) {
    const html = await render('payment', {
      ...paymentPage,
      openAttempts: ['One.'],
      chosenMode: 'fpx',
      chosenBank: '',
      error,
    });
    t.is(html.match(/<div class="notice danger" role="alert" tabindex="-1" autofocus>/g)?.length, 1);
    t.notRegex(html, /<[^>]* required/);
    const [, target] = /<p id="error"><a href="#([\w-]+)"/.exec(html) ?? [];
    t.true(html.includes(` id="${target}"`), error);
  }
});

test('a bank that is down is marked in the language of the page, and chosen only by saying so', async (t) => {
  const banks = [
    { code: 'UP', name: 'Up' },
    { code: 'DOWN', name: 'Down', down: true },
  ];
  const methods = [{ mode: 'fpx', feeSen: 0, name: 'FPX', banks }];
  for (const lang of ['en', 'ms', 'en'] as const) {
    const html = await render('payment', { ...paymentPage, methods, lang });
    t.true(html.includes(`<option value="DOWN">Down (${texts[lang].bankDown})</option>`));
    t.true(html.includes('<option value="UP">Up</option>'));
    t.notRegex(html, /name="bank_down"/);
  }
  const chosen = { chosenMode: 'fpx', chosenBank: 'DOWN', error: 'bankDown' };
  const warned = await render('payment', { ...paymentPage, methods, ...chosen });
  t.regex(warned, /<option value="DOWN" selected>Down \(not available\)/);
  t.regex(warned, /<input type="checkbox" name="bank_down" value="DOWN"> Try this bank anyway/);
});

test('logo and contact are shown where there are some, and nothing in their place', async (t) => {
  const logo = 'data:image/png;base64,AAAA';
  const agency = {
    logo,
    phone: '03-8000-1234',
    email: 'help@council.example',
    website: 'https://a.example/en',
  };
  for (const [name, model] of Object.entries({ payment: paymentPage, receipt: receiptPage })) {
    const html = await render(name, { ...model, ...agency });
    t.true(html.includes(`<img class="logo" src="${logo}" alt="">`));
    for (const address of ['tel:03-8000-1234', 'mailto:help@council.example', 'https://a.example/en'])
      t.true(html.includes(`<a href="${address}">`));
    t.true(html.includes('>a.example/en</a>'), 'without the scheme, which breaks the line on a phone');
    t.notRegex(await render(name, model), /<img|class="contact"/);
  }
});

test('a form without a method points to the methods; a chosen bank is kept', async (t) => {
  const none = await render('payment', { ...paymentPage, error: 'methodMissing' });
  t.regex(none, /<a href="#methods">Choose a payment method\.<\/a>/);
  t.notRegex(none, /<input[^>]* checked|<select[^>]*aria-invalid/);
  const kept = await render('payment', {
    ...paymentPage,
    chosenMode: 'fpx',
    chosenBank: 'BANK3',
    lastAttempt: 'failed',
  });
  t.deepEqual(kept.match(/<option [^>]*selected>/g), ['<option value="BANK3" selected>']);
});

test('one payer’s bank is not chosen on the next payer’s page', async (t) => {
  for (const chosenBank of ['', 'BANK3', '', 'BANK2', '']) {
    const html = await render('payment', { ...paymentPage, chosenMode: 'fpx', chosenBank });
    t.is(html.match(/<option value="BANK/g)?.length, 20);
    t.deepEqual(
      html.match(/<option [^>]*selected>/g),
      chosenBank === '' ? null : [`<option value="${chosenBank}" selected>`],
    );
  }
});

for (const lastAttempt of ['failed', 'cancelled'] as const) {
  test(`after a ${lastAttempt} attempt the page says so`, async (t) => {
    const html = await render('payment', { ...paymentPage, lastAttempt });
    t.true(html.includes(texts.en.lastAttempts[lastAttempt]));
  });
}

test('an open attempt is told before the methods, and has to be confirmed before another', async (t) => {
  const html = await render('payment', {
    ...paymentPage,
    openAttempts: ['You started a payment with Maybank2U 3 minutes ago.'],
    lastAttempt: 'failed',
  });
  const [told, methods] = ['Maybank2U 3 minutes ago', 'id="methods"'].map((text) => html.indexOf(text));
  t.true(told !== undefined && methods !== undefined && told > 0 && told < methods);
  t.regex(html, /<label class="tick"><input type="checkbox" name="again" value="1">/);
  t.true(html.includes(`href="${paymentPage.receiptUrl}"`));
  t.false(html.includes(texts.en.lastAttempts.failed));
  t.notRegex(await render('payment', paymentPage), /name="again"/);
});

for (const error of ['attemptOpen', 'cancelOpen'] as const)
  test(`the error ${error} points to the open attempt`, async (t) => {
    const html = await render('payment', { ...paymentPage, openAttempts: ['Open'], error });
    t.true(html.includes(`<a href="#open">${texts.en.formErrors[error]}</a>`));
    t.true(html.includes('id="open"'));
  });

test('items are listed with the total, and a long list is folded away', async (t) => {
  const items = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ title: `Item ${index}`, amount: `RM\u00a0${index}.00` }));
  const few = await render('payment', { ...paymentPage, items: items(2) });
  t.regex(few, /<details open>/);
  t.regex(few, /Item 1[\s\S]*RM\u00a01\.00[\s\S]*Total<\/th><td class="figure">RM\u00a0120\.50/);
  t.regex(await render('payment', { ...paymentPage, items: items(20) }), /<details>/);
  t.notRegex(await render('payment', paymentPage), /<table/);
});

test('nothing is shown for values that the model lacks', async (t) => {
  const html = await render('payment', {
    ...paymentPage,
    payerName: undefined,
    otherLanguageUrl: undefined,
  });
  t.notRegex(html, /Payer|Bahasa Melayu|undefined/);
});

test('it weighs under 40 KB at its heaviest: 20 items and two long bank lists', async (t) => {
  const banks = Array.from({ length: 40 }, (_, index) => ({
    code: `BANK0${index}`,
    name: `Example Islamic Bank ${index}`,
  }));
  const items = Array.from({ length: 20 }, () => ({
    title: 'T'.repeat(200),
    detail: 'D'.repeat(100),
    amount: 'RM 1.00',
  }));
  const methods = paymentPage.methods.map((method) => ({
    ...method,
    unavailable: undefined,
    banks: method.banks && banks,
  }));
  const openAttempts = Array.from({ length: 3 }, () => 'O'.repeat(150));
  const html = await render('payment', { ...paymentPage, items, methods, openAttempts });
  const bytes = Buffer.byteLength(html);
  t.true(bytes < 40_000, `${bytes} bytes`);
});
