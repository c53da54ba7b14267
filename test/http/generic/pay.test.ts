// /generic/pay/{id}: the page, the choice of a method, and what is handed to the gateway.
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { verifyFields } from '../../../src/clients/gateway/checksum.ts';
import type { Sen } from '../../../src/common/money.ts';
import { loadPaymentMethods } from '../../../src/config/payment-methods.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { apiKey, gatewaySecret, startApp } from '../../support/app.ts';
import { countLoads } from '../../support/count-loads.ts';
import { choose } from '../../support/payments.ts';
import {
  carryOut,
  chooseMethod,
  createPayment,
  hiddenFields,
  pagesOf,
  postRequest,
  postResult,
  requestBody,
  resultFields,
  signed,
  tokenOf,
} from './helpers.ts';

const app = await startApp();
test.after.always(() => app.close());
const { chosen, payUrl, receiptUrl } = pagesOf(app);

test('choosing a bank hands the payer over to the gateway, signed', async (t) => {
  const name = 'Dato’ "Ali" & Sons = 100% <b>';
  const id = await createPayment(app, { name });
  const response = await chooseMethod(app, id, { method: 'fpx', bank_fpx: 'MB2U0227', bank_fpx1: '' });
  t.is(response.status, 200);
  const html = await response.text();
  t.regex(html, /<form [^>]*method="post" action="https:\/\/gateway\.example\/pay"/);
  const { CHECKSUM, ...fields } = hiddenFields(html);
  t.deepEqual(fields, {
    DIRECTION: 'request',
    MERCHANT_CODE: 'council',
    TRANS_ID: id,
    MERCHANT_ORDER_NO: `${id}-1`,
    AMOUNT: '120.50',
    PAYMENT_MODE: 'fpx',
    BANK_CODE: 'MB2U0227',
    DESCRIPTION: 'Second half of 2026',
    BUYER_NAME: name,
    BUYER_EMAIL: 'aminah@example.my',
    RESPONSE_URL: `${app.url}/generic/response`,
  });
  t.is(verifyFields({ ...fields, CHECKSUM: CHECKSUM ?? '' }, gatewaySecret), 'valid');
  const [{ at: _, ...choice } = { at: '' }, ...more] = await chosen(id);
  t.deepEqual(choice, {
    attempt: 1,
    mode: 'fpx',
    bankCode: 'MB2U0227',
    chargeSen: 0,
    sellerOrderNo: `${id}-1`,
    lang: 'en',
  });
  t.deepEqual(more, []);
});

test('the hand-over page may run its one script and post to the gateway; the payment page may do neither', async (t) => {
  const id = await createPayment(app);
  const page = await fetch(payUrl(id));
  t.regex(
    page.headers.get('content-security-policy') ?? '',
    /script-src 'none'.*form-action 'self' http:\/\/127/,
  );
  const handOver = await chooseMethod(app, id, { method: 'cc' });
  t.regex(
    handOver.headers.get('content-security-policy') ?? '',
    /script-src 'sha256-.*form-action https:\/\/gateway\.example https:;/,
  );
});

test('a method without banks needs none, and the merchant’s own fee is added', async (t) => {
  const headers = {
    accept: 'application/json',
    authorization: 'Bearer older-key',
    'x-merchant-code': 'museum',
  };
  const body = requestBody({ redirect_url: 'https://museum.example/' });
  const { data } = (await (await postRequest(app, body, headers)).json()) as {
    data: { transaction_id: string };
  };
  const response = await chooseMethod(app, data.transaction_id, { method: 'cc' });
  t.is(hiddenFields(await response.text()).AMOUNT, '122.00');
  t.like((await chosen(data.transaction_id))[0], { mode: 'cc', bankCode: '', chargeSen: 150 });
});

test('a page that is sent twice, even at once, makes one attempt', async (t) => {
  const id = await createPayment(app);
  const token = tokenOf(await (await fetch(payUrl(id))).text());
  const form = { token, method: 'fpx', bank_fpx: 'PBB0233' };
  const answers = await Promise.all(Array.from({ length: 10 }, () => chooseMethod(app, id, form)));
  const orders = await Promise.all(
    answers.map(async (answer) => hiddenFields(await answer.text()).MERCHANT_ORDER_NO),
  );
  t.deepEqual([...new Set(orders)], [`${id}-1`]);
  t.is((await chosen(id)).length, 1);
});

test('another attempt while one is open is asked about first, and has its own order number', async (t) => {
  const id = await createPayment(app);
  const token = tokenOf(await (await fetch(payUrl(id))).text());
  await chooseMethod(app, id, { token, method: 'fpx', bank_fpx: 'PBB0233' });
  const back = await chooseMethod(app, id, { token, method: 'fpx', bank_fpx: 'RHB0218' });
  t.is(back.status, 409);
  const page = await back.text();
  t.true(
    page.includes('You started a payment with Public Bank just now.'),
    page.match(/You started[^<]*/)?.[0],
  );
  t.regex(page, /value="RHB0218" selected/);
  t.regex(page, /A payment that you started is still open/);
  t.is((await chosen(id)).length, 1);
  const unasked = { token: tokenOf(page), method: 'fpx', bank_fpx: 'RHB0218' };
  t.is((await chooseMethod(app, id, unasked)).status, 409);
  t.is((await chooseMethod(app, id, { ...unasked, token, again: '1' })).status, 409, 'the first page again');
  const second = await chooseMethod(app, id, { ...unasked, again: '1' });
  t.is(hiddenFields(await second.text()).MERCHANT_ORDER_NO, `${id}-2`);
  const malay = await (await fetch(`${payUrl(id)}?lang=ms`)).text();
  t.true(
    malay.includes('Anda memulakan pembayaran melalui RHB Bank sebentar tadi.'),
    malay.match(/Anda mem[^<]*/)?.[0],
  );
});

test('two pages sent at once, with another bank each, make one attempt', async (t) => {
  const id = await createPayment(app);
  const token = tokenOf(await (await fetch(payUrl(id))).text());
  const banks = ['PBB0233', 'RHB0218', 'MB2U0227', 'BIMB0340'];
  const answers = await Promise.all(
    banks.map((bank) => chooseMethod(app, id, { token, method: 'fpx', bank_fpx: bank })),
  );
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
  t.is((await chosen(id)).length, 1);
});

const cancel = (id: string, form: Record<string, string> = {}) =>
  chooseMethod(app, id, { cancel: '1', ...form });

test('cancelling is recorded once, the merchant hears it, and the payer may pay all the same', async (t) => {
  const id = await createPayment(app);
  const token = tokenOf(await (await fetch(payUrl(id))).text());
  const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(id, { token })));
  for (const answer of answers) {
    t.is(answer.status, 303);
    t.is(answer.headers.get('location'), `${receiptUrl(id)}?lang=en`);
    t.regex(answer.headers.get('set-cookie') ?? '', /^written-/, 'the receipt is to show the cancellation');
  }
  const cancelled = (await app.events(id)).filter(({ type }) => type === 'PaymentCancelled');
  t.is(cancelled.length, 1);
  t.like(cancelled[0]?.data, {
    source: 'payer',
    deliveries: [{ key: 'callback-1', kind: 'callback', url: 'https://council.example/callback' }],
  });
  const page = await (await fetch(receiptUrl(id))).text();
  t.true(page.includes('<h1>The payment was cancelled</h1>'));
  t.true(page.includes('Cancelled by the payer'));
  t.regex(page, /council\.example\/paid[^"]*status=2"/);
  t.is((await chooseMethod(app, id, { method: 'cc' })).status, 200);
});

test('while an attempt is open the page says why the payment cannot be cancelled', async (t) => {
  const id = await createPayment(app);
  await chooseMethod(app, id, { method: 'cc' });
  const refused = await cancel(id);
  t.is(refused.status, 409);
  t.regex(await refused.text(), /This payment cannot be cancelled yet/);
  t.false((await app.events(id)).some(({ type }) => type === 'PaymentCancelled'));
});

test('cancelling takes the token of the page, and cannot undo a success', async (t) => {
  const id = await createPayment(app);
  const other = await createPayment(app);
  for (const token of ['', 'x', tokenOf(await (await fetch(payUrl(other))).text())])
    t.is((await cancel(id, { token })).status, 401);
  const token = tokenOf(await (await fetch(payUrl(id))).text());
  await postResult(app, signed(resultFields(id)));
  t.is((await cancel(id, { token })).headers.get('location'), `${receiptUrl(id)}?lang=en`);
  t.is((await app.events(id)).at(-1)?.type, 'PaymentSucceeded');
});

const faults: Record<string, [Record<string, string>, Record<string, string>, string]> = {
  'no method': [{}, {}, 'Choose a payment method.'],
  'an unknown method': [{}, { method: 'gold' }, 'This payment method is not available'],
  'a method every object has': [{}, { method: 'toString' }, 'This payment method is not available'],
  'no bank': [{}, { method: 'fpx', bank_fpx: '' }, 'Choose your bank.'],
  'the bank of another method': [{}, { method: 'fpx', bank_fpx1: 'MBB0228' }, 'Choose your bank.'],
  'an unknown bank': [{}, { method: 'fpx', bank_fpx: 'NOBANK' }, 'This bank is not in the list.'],
  'a method above its limit': [
    { amount: '30000.01' },
    { method: 'fpx', bank_fpx: 'PBB0233' },
    'This payment method is not available',
  ],
  'a method below its limit': [
    { amount: '1.99' },
    { method: 'fpx1', bank_fpx1: 'MBB0228' },
    'This payment method is not available',
  ],
};

for (const [title, [request, form, message]] of Object.entries(faults)) {
  test(`the page comes back with what is wrong: ${title}`, async (t) => {
    const id = await createPayment(app, request);
    const response = await chooseMethod(app, id, form);
    t.is(response.status, 400);
    const html = await response.text();
    t.true(html.includes(message));
    t.not(tokenOf(html), '');
    t.deepEqual(await chosen(id), []);
  });
}

test('limits are inclusive, and what is outside them is shown disabled with the reason', async (t) => {
  const atLimit = await createPayment(app, { amount: '30000.00' });
  t.is((await chooseMethod(app, atLimit, { method: 'fpx', bank_fpx: 'PBB0233' })).status, 200);
  const above = await (await fetch(payUrl(await createPayment(app, { amount: '30000.01' })))).text();
  t.regex(above, /id="method-fpx" value="fpx" disabled/);
  t.regex(above, /this method goes up to RM\u00a030,000\.00/);
});

test('a payment that is paid after it was read leads to its receipt, and nothing more is recorded', async (t) => {
  const unpaid: string[] = [];
  const append: typeof app.eventStore.append = async (...given) => {
    for (const id of unpaid.splice(0)) await postResult(app, signed(resultFields(id)));
    return app.eventStore.append(...given);
  };
  const other = await startApp({ eventStore: { append } }, app);
  t.teardown(() => other.close());
  for (const form of [{ method: 'wallet' }, { cancel: '1' }]) {
    const id = await createPayment(app);
    const token = tokenOf(await (await fetch(payUrl(id))).text());
    unpaid.push(id);
    const answer = await chooseMethod(other, id, { ...form, token });
    t.deepEqual(
      [answer.status, answer.headers.get('location')],
      [303, `${other.url}/generic/receipt/${id}?lang=en`],
    );
    const types = (await app.events(id)).map(({ type }) => type);
    t.deepEqual(types, ['PaymentRequested', 'PaymentSucceeded']);
  }
});

test('a bank that is down is chosen by saying so, and never holds up what is under way', async (t) => {
  const methods = loadPaymentMethods('config/payment-methods.yaml');
  const fpx = methods.get('fpx') ?? t.fail();
  const banks = fpx.banks.map((bank) => ({ ...bank, down: bank.code === 'MB2U0227' }));
  // Another process, which has read the changed file.
  const other = await startApp({ config: { methods: new Map([['fpx', { ...fpx, banks }]]) } }, app);
  t.teardown(() => other.close());
  const id = await createPayment(app);
  const form = {
    token: tokenOf(await (await fetch(payUrl(id))).text()),
    method: 'fpx',
    bank_fpx: 'MB2U0227',
  };
  for (const bank_down of ['', '1', 'PBB0233']) {
    const warned = await chooseMethod(other, id, { ...form, bank_down });
    t.is(warned.status, 409);
    const html = await warned.text();
    t.regex(html, /href="#bank-fpx">This bank is not available at the moment/);
    t.regex(html, /Maybank2u \(not available\)/);
  }
  t.deepEqual(await chosen(id), []);
  t.is((await chooseMethod(other, id, { ...form, bank_down: 'MB2U0227' })).status, 200);
  t.is((await chooseMethod(other, id, form)).status, 200);
  t.is((await chosen(id)).length, 1);
});

test('nobody pays a fee that the page has not shown, because the fee has changed since', async (t) => {
  const card = loadPaymentMethods('config/payment-methods.yaml').get('cc') ?? t.fail();
  const withFee = (chargeSen: Sen) =>
    startApp({ config: { methods: new Map([['cc', { ...card, chargeSen }]]) } }, app);
  const [before, after] = await Promise.all([withFee(0 as Sen), withFee(150 as Sen)]);
  t.teardown(() => Promise.all([before.close(), after.close()]));
  const id = await createPayment(app);
  const formOf = (html: string) => ({ ...hiddenFields(html), method: 'cc' });
  const form = formOf(await (await fetch(pagesOf(before).payUrl(id))).text());
  const asked = await chooseMethod(after, id, form);
  t.is(asked.status, 409);
  const page = await asked.text();
  t.regex(page, /href="#methods">The fee of this method has changed/);
  t.regex(page, /RM\u00a0122\.00/);
  t.deepEqual(await chosen(id), []);
  t.is(hiddenFields(await (await chooseMethod(after, id, formOf(page))).text()).AMOUNT, '122.00');
  const again = await chooseMethod(before, id, formOf(page));
  t.is(hiddenFields(await again.text()).AMOUNT, '122.00', 'the same form twice is the same attempt');
  t.is((await chosen(id)).length, 1);
});

test('what a payer has confirmed need not be confirmed again when something else is asked', async (t) => {
  const fpx = loadPaymentMethods('config/payment-methods.yaml').get('fpx') ?? t.fail();
  const banks = fpx.banks.map((bank) => ({ ...bank, down: bank.code === 'MB2U0227' }));
  const other = await startApp({ config: { methods: new Map([['fpx', { ...fpx, banks }]]) } }, app);
  t.teardown(() => other.close());
  const id = await createPayment(app);
  await chooseMethod(app, id, { method: 'cc' });
  const form = { method: 'fpx', bank_fpx: 'MB2U0227' };
  const ticked = async (more: Record<string, string>) => {
    const page = await (await chooseMethod(other, id, { ...form, ...more })).text();
    return Array.from(
      page.matchAll(/<input type="checkbox" name="(\w+)"[^>]*?( checked)?>/g),
      ([, name, on]) => [name, !!on],
    );
  };
  t.deepEqual(await ticked({}), [
    ['again', false],
    ['bank_down', false],
  ]);
  t.deepEqual(await ticked({ again: '1' }), [
    ['again', true],
    ['bank_down', false],
  ]);
  t.deepEqual(await ticked({ bank_down: 'MB2U0227' }), [
    ['again', false],
    ['bank_down', true],
  ]);
  t.is((await chooseMethod(other, id, { ...form, again: '1', bank_down: 'MB2U0227' })).status, 200);
});

test('a page says whose it is, in its language', async (t) => {
  const id = await createPayment(app);
  const show = async (lang: string) => await (await fetch(`${payUrl(id)}?lang=${lang}`)).text();
  const [en, ms] = [await show('en'), await show('ms')];
  t.regex(en, /<strong dir="auto">Example City Council<\/strong>/);
  t.regex(ms, /<strong dir="auto">Majlis Bandaraya Contoh<\/strong>/);
  t.regex(ms, /<img class="logo" src="data:image\/png;base64,/);
  t.regex(ms, /<a href="tel:03-8000-1234">03-8000-1234<\/a>\s*<a href="mailto:help@council\.example">/);
  t.regex(ms, /<a href="https:\/\/council\.example\/ms">/);
  t.regex(
    ms,
    /<footer class="wide">\s*<a href="https:\/\/council\.example\/ms\/privacy\?a=1&amp;b">Privasi<\/a>\s*<\/footer>/,
  );
  const museum = { 'x-merchant-code': 'museum', authorization: 'Bearer older-key' };
  const other = await postRequest(app, requestBody({ redirect_url: 'https://museum.example/' }), museum);
  t.notRegex(await other.text(), /<img|class="contact"/);
  const receipt = await (await fetch(`${receiptUrl(id)}?lang=ms`)).text();
  t.regex(receipt, /<img class="logo" /);
  t.regex(receipt, /<strong dir="auto">Example City Council<\/strong>/);
});

test('a token is for one payment and cannot be forged', async (t) => {
  const id = await createPayment(app);
  const other = await createPayment(app);
  const foreign = tokenOf(await (await fetch(payUrl(other))).text());
  const own = tokenOf(await (await fetch(payUrl(id))).text());
  const forgeries = [
    '',
    'x',
    foreign,
    own.replace(/^1\./, '2.'),
    `${own}x`,
    own.slice(0, -1),
    '1.9999999999999.',
  ];
  for (const token of forgeries) {
    const response = await chooseMethod(app, id, { token, method: 'cc' });
    t.is(response.status, 401, token);
    t.true((await response.text()).includes('This link is not valid'));
  }
  t.deepEqual(await chosen(id), []);
});

test('an expired token leads to a fresh page', async (t) => {
  let now = new Date('2026-11-20T01:00:00.000Z');
  const timed = await startApp({ clock: () => now }, app);
  try {
    const id = await createPayment(timed);
    const url = `${timed.url}/generic/pay/${id}`;
    const token = tokenOf(await (await fetch(url)).text());
    now = new Date('2026-11-20T01:59:59.999Z');
    t.is((await chooseMethod(timed, id, { token, method: 'cc' })).status, 200);
    now = new Date('2026-11-20T02:00:00.000Z');
    const response = await chooseMethod(timed, id, { token, method: 'dc' });
    t.is(response.status, 401);
    const html = await response.text();
    t.true(html.includes('This page has expired'));
    t.true(html.includes(`href="${url}?lang=en"`));
  } finally {
    await timed.close();
  }
});

for (const [status, title] of [
  ['1', 'paid'],
  ['3', 'pending'],
] as const) {
  test(`a payment that is ${title} leads to its receipt`, async (t) => {
    const id = await createPayment(app);
    const token = tokenOf(await (await fetch(payUrl(id))).text());
    await postResult(app, signed(resultFields(id, { STATUS: status })));
    const before = await app.events(id);
    const shown = await fetch(payUrl(id), { redirect: 'manual' });
    t.deepEqual([shown.status, shown.headers.get('location')], [303, receiptUrl(id)]);
    for (const form of [{ method: 'cc' }, { method: '' }]) {
      const sent = await chooseMethod(app, id, { token, ...form });
      t.deepEqual([sent.status, sent.headers.get('location')], [303, `${receiptUrl(id)}?lang=en`]);
    }
    t.deepEqual(await app.events(id), before);
  });
}

test('a failed payment can be tried again, with the next order number', async (t) => {
  const id = await createPayment(app);
  await chooseMethod(app, id, { method: 'cc' });
  await postResult(app, signed(resultFields(id, { STATUS: '0' })));
  const page = await (await fetch(payUrl(id))).text();
  t.true(page.includes('Your last attempt did not go through.'));
  const again = await chooseMethod(app, id, { method: 'cc' });
  t.is(hiddenFields(await again.text()).MERCHANT_ORDER_NO, `${id}-2`);
});

test('after 50 attempts the payer is told to contact the agency', async (t) => {
  const id = await createPayment(app);
  for (let attempt = 1; attempt <= 50; attempt += 1) {
    // Not over HTTP, where one address can make 20.
    await carryOut(app, id, choose(attempt, { at: new Date().toISOString(), mode: 'cc', bankCode: '' }));
    const ids = { MERCHANT_ORDER_NO: `${id}-${attempt}`, PAYMENT_TRANS_ID: `P-${attempt}` };
    await postResult(app, signed(resultFields(id, { STATUS: '0', ...ids })));
  }
  const response = await chooseMethod(app, id, { method: 'cc' });
  t.is(response.status, 409);
  t.true((await response.text()).includes('This payment has been tried too often'));
  t.is((await chosen(id)).length, 50);
});

test('the page is in the requested language, and its form keeps it', async (t) => {
  const id = await createPayment(app);
  const html = await (
    await fetch(payUrl(id), { headers: { 'accept-language': 'ms-MY,ms;q=0.9,en;q=0.8' } })
  ).text();
  t.regex(html, /<html lang="ms">/);
  t.true(html.includes(`action="${payUrl(id)}?lang=ms"`));
});

test('a form that cannot be recorded now leads back to its page', async (t) => {
  const id = await createPayment(app);
  const append = () => Promise.reject(new EventStoreUnavailable('It does not answer'));
  const away = await startApp({ eventStore: { append } }, app);
  t.teardown(() => away.close());
  const answer = await chooseMethod(away, id, { method: 'cc' }, 'ms');
  t.is(answer.status, 503);
  t.true(
    (await answer.text()).includes(
      `<a class="button" href="${away.url}/generic/pay/${id}?lang=ms">Cuba lagi`,
    ),
  );
});

test('whatever a form in Malay leads to is in Malay', async (t) => {
  const id = await createPayment(app, { email: '' });
  const url = `${payUrl(id)}?lang=ms`;
  const post = (form: Record<string, string>) =>
    fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams(form) });
  t.true((await (await post({ token: 'x' })).text()).includes(`href="${url}"`));
  const token = tokenOf(await (await fetch(url)).text());
  t.is((await post({ token, cancel: '1' })).headers.get('location'), `${receiptUrl(id)}?lang=ms`);
  await postResult(app, signed(resultFields(id)));
  t.is((await post({ token, method: 'cc' })).headers.get('location'), `${receiptUrl(id)}?lang=ms`);
});

for (const id of ['nothing', '0'.repeat(26), '../../etc/passwd', '%00', '%E0%A4%A', 'constructor']) {
  test(`an unknown payment is a page with 404: ${id}`, async (t) => {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${app.url}/generic/pay/${encodeURI(id)}`, { method });
      t.is(response.status, 404);
      const text = await response.text();
      t.notRegex(text, /at \w+ \(|node_modules/);
    }
  });
}

test('a page never shows a secret', async (t) => {
  const id = await createPayment(app);
  const html =
    (await (await fetch(payUrl(id))).text()) + (await (await chooseMethod(app, id, { method: 'cc' })).text());
  for (const secret of [apiKey, gatewaySecret, 'a key of the tests']) t.false(html.includes(secret));
});

test('the choice of a method loads the payment once', async (t) => {
  const { eventStore, loadsOf } = countLoads(app.eventStore);
  const counted = await startApp({ eventStore }, app);
  t.teardown(() => counted.close());
  const id = await createPayment(counted);
  const token = tokenOf(await (await fetch(`${counted.url}/generic/pay/${id}`)).text());
  const before = loadsOf(paymentStream(id));
  t.is((await chooseMethod(counted, id, { method: 'cc', token })).status, 200);
  t.is(loadsOf(paymentStream(id)) - before, 1);
  t.is((await chosen(id)).length, 1);
});
