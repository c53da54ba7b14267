// GET /generic/receipt/{id}: never less than what happened, in two languages, with the way back to the merchant.
import test from 'ava';
import { evolve, noPayment } from '../../../src/events/payment.ts';
import type { PaymentRow } from '../../../src/projections/payments/queries.ts';
import { apiKey, startApp } from '../../support/app.ts';
import { resolving } from '../../support/payments.ts';
import {
  carryOut,
  chooseMethod,
  createPayment,
  postResult,
  resultFields,
  signed,
  tokenOf,
} from './helpers.ts';

const rows = new Map<string, PaymentRow>();
let postgresIsDown = false;

const app = await startApp({
  async findPayment(transactionId) {
    if (postgresIsDown)
      throw Object.assign(new Error(`select … '${transactionId}'`), { code: 'ECONNREFUSED' });
    return rows.get(transactionId) ?? null;
  },
});
test.after.always(() => app.close());

const receiptUrl = (id: string, query = '') => `${app.url}/generic/receipt/${id}${query}`;
const receipt = async (id: string, query = '', headers = {}) =>
  (await fetch(receiptUrl(id, query), { headers })).text();
const report = (id: string, over: Record<string, string> = {}) =>
  postResult(app, signed(resultFields(id, over)));

/** The row as a projection that has caught up writes it. */
async function project(id: string): Promise<PaymentRow> {
  const events = await app.events(id);
  const state = events.reduce(evolve, noPayment);
  if (state.status === 'none') throw new Error('no such payment');
  const row = { revision: events.length - 1, state, updatedAt: new Date('2026-11-20T01:04:30Z') };
  rows.set(id, row);
  return row;
}

/** The visible text of a page, one space between words. */
const textOf = (html: string) =>
  html
    .replace(/<(style|script|title)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');

test('the official receipt has every fact, and the IC number is masked', async (t) => {
  const id = await createPayment(app, { trans_id: 'INV/2026-1' });
  await chooseMethod(app, id, { method: 'fpx', bank_fpx: 'MB2U0227' });
  await report(id);
  const html = await receipt(id);
  const text = textOf(html);
  for (const part of [
    'Successful Official receipt RM 120.50',
    'Example City Council',
    'Receipt number R-1',
    'Date and time 20 November 2026 at 09:04:30',
    'Payer Aminah binti Ismail',
    'IC number ********5678',
    'Service Assessment tax',
    'Description Second half of 2026',
    'Reference INV/2026-1',
    `Transaction ID ${id}`,
    'Payment method FPX Online Banking (Individual)',
    'Bank Maybank2U',
    'FPX number P-1',
    `Seller order number ${id}-1`,
    'Total RM 120.50',
    'Payment requested',
    'FPX Online Banking (Individual) chosen',
    'Payment successful',
  ])
    t.true(text.includes(part), part);
  t.false(html.includes('900101145678'));
  t.false(text.includes('not a receipt'));
});

for (const [status, title, again] of [
  ['0', 'Failed The payment did not go through', true],
  ['2', 'Cancelled The payment was cancelled', true],
  ['3', 'Pending The bank has yet to confirm the payment', false],
] as const) {
  test(`the heading of what is no receipt says what happened: ${title}`, async (t) => {
    const id = await createPayment(app);
    await report(id, { STATUS: status });
    const html = await receipt(id);
    t.true(textOf(html).includes(title));
    t.true(textOf(html).includes('This is not a receipt.'));
    t.is(html.includes(`href="${app.url}/generic/pay/${id}?lang=en"`), again);
    t.is(html.includes(`href="${receiptUrl(id)}?lang=en"`), !again);
    t.false(textOf(html).includes('Receipt number'));
  });
}

test('the back button adds the outcome to the merchant’s own query, which stays unchanged', async (t) => {
  const back = async (id: string) =>
    /href="(https:\/\/council[^"]+)"/.exec(await receipt(id))?.[1]?.replaceAll('&amp;', '&');
  const own = 'https://council.example/paid?session=a%20b+c~(1)&status=old&sig=%2f!*';
  const id = await createPayment(app, { trans_id: 'A&B=1', redirect_url: `${own}#top` });
  const ours = (status: number) => `trans_id=A%26B%3D1&transaction_id=${id}&status=${status}`;
  t.is(await back(id), `${own}&${ours(3)}#top`);
  await report(id);
  t.is(await back(id), `${own}&${ours(1)}#top`);
  const bare = await createPayment(app, { trans_id: 'B-1', redirect_url: 'https://council.example/paid' });
  t.is(await back(bare), `https://council.example/paid?trans_id=B-1&transaction_id=${bare}&status=3`);
});

test('the page is in the language in which the payer chose, whatever the browser prefers', async (t) => {
  const id = await createPayment(app);
  await chooseMethod(app, id, { method: 'cc' }, 'ms');
  t.regex(await receipt(id, ''), /<html lang="ms">/);
  t.regex(await receipt(id, '?lang=en'), /<html lang="en">/);
  await report(id);
  const paymentPage = await fetch(`${app.url}/generic/pay/${id}?lang=en`, { redirect: 'manual' });
  t.is(paymentPage.headers.get('location'), `${receiptUrl(id)}?lang=en`);
});

test('the language comes from ?lang=, else from Accept-Language', async (t) => {
  const id = await createPayment(app);
  const malay = { 'accept-language': 'ms' };
  t.regex(await receipt(id, '', malay), /<html lang="ms">/);
  t.regex(await receipt(id, '?lang=en', malay), /<html lang="en">/);
  t.regex(await receipt(id, '?lang=ms'), /Menunggu/);
  t.regex(await receipt(id, '?lang=xx&lang=ms'), /<html lang="en">/);
});

test('the page is private and not cached', async (t) => {
  const { headers } = await fetch(receiptUrl(await createPayment(app)));
  t.is(headers.get('cache-control'), 'no-store');
  t.is(headers.get('referrer-policy'), 'no-referrer');
  t.is(headers.get('x-robots-tag'), 'noindex');
  t.is(headers.get('x-content-type-options'), 'nosniff');
  t.is(headers.get('x-frame-options'), 'DENY');
  t.regex(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/);
  t.is(headers.get('set-cookie'), null);
});

test.serial('a row that is behind hides nothing', async (t) => {
  const id = await createPayment(app);
  await project(id);
  await report(id, { STATUS: '0' });
  t.regex(await receipt(id), /Failed/);
  await project(id);
  await report(id, { PAYMENT_TRANS_ID: 'P-2', MERCHANT_ORDER_NO: `${id}-2` });
  t.regex(await receipt(id), /Official receipt/);
});

test.serial('a row that says succeeded is final: the stream is not read', async (t) => {
  const id = await createPayment(app);
  await report(id);
  const row = await project(id);
  const apart = await startApp(
    {
      findPayment: async () => row,
      eventStore: { load: () => Promise.reject(new Error('not to be called')) },
    },
    app,
  );
  try {
    const response = await fetch(`${apart.url}/generic/receipt/${id}`);
    t.is(response.status, 200);
    t.regex(await response.text(), /Official receipt/);
  } finally {
    await apart.close();
  }
});

test.serial('without Postgres the stream is folded', async (t) => {
  const id = await createPayment(app);
  await report(id);
  postgresIsDown = true;
  try {
    t.regex(await receipt(id), /Official receipt/);
  } finally {
    postgresIsDown = false;
  }
  const lines = app.logged
    .filter(({ reason }) => reason === 'ECONNREFUSED')
    .map((line) => JSON.stringify(line));
  t.is(lines.length, 1);
  t.false(lines.join().includes(id));
});

test.serial('a payment of another channel is unknown here', async (t) => {
  const id = await createPayment(app);
  await report(id);
  const { state, ...row } = await project(id);
  rows.set(id, { ...row, state: { ...state, request: { ...state.request, channel: 'landreg' } } });
  t.is((await fetch(receiptUrl(id))).status, 404);
});

test('the page of an error has a link to itself in the other language, with all of its query', async (t) => {
  const page = await receipt('0'.repeat(26), '?until=1&x="><script>');
  const [link = ''] = page.match(/(?<=href=")[^"]+(?=" lang="ms")/) ?? [];
  const url = new URL(link.replaceAll('&amp;', '&'));
  t.is(`${url.origin}${url.pathname}`, receiptUrl('0'.repeat(26)));
  t.deepEqual(
    [...url.searchParams],
    [
      ['until', '1'],
      ['x', '"><script>'],
      ['lang', 'ms'],
    ],
  );
  t.regex(await (await fetch(url)).text(), /<html lang="ms">.* lang="en"/s);
  t.notRegex(await (await fetch(receiptUrl('0'.repeat(26)), { method: 'POST' })).text(), /hreflang/);
});

test('nobody is told to pay a request that its agency has cancelled, whatever its attempts came to', async (t) => {
  const headers = { authorization: `Bearer ${apiKey}`, 'x-merchant-code': 'council' };
  for (const STATUS of ['0', '2']) {
    const id = await createPayment(app);
    await report(id, { STATUS });
    t.regex(textOf(await receipt(id)), /You can (try again|still pay)/);
    const url = `${app.url}/generic/payments/${id}/cancel`;
    t.is((await fetch(url, { method: 'POST', headers })).status, 202);
    const text = textOf(await receipt(id));
    t.regex(text, /this request can no longer be paid/);
    t.notRegex(text, /You can|Try again/);
  }
});

test('an unknown payment is a page with 404, or JSON on request', async (t) => {
  const response = await fetch(receiptUrl('0'.repeat(26)));
  t.is(response.status, 404);
  t.true((await response.text()).includes('We do not know this payment'));
  const json = await fetch(receiptUrl('x'), { headers: { accept: 'application/json' } });
  t.deepEqual([json.status, await json.json()], [404, { status: false, message: 'Transaction not found' }]);
});

/** The page at the address in its own refresh, and so on until it stops. */
async function pauses(url: string): Promise<number[]> {
  const found: number[] = [];
  for (let next = url; found.length < 20; ) {
    const [, seconds, address] =
      /http-equiv="refresh" content="(\d+); url=([^"]+)"/.exec(await (await fetch(next)).text()) ?? [];
    if (!seconds || !address) return found;
    found.push(Number(seconds));
    next = address.replaceAll('&amp;', '&');
  }
  return found;
}

test('a page that waits for the bank looks again by itself, with growing pauses, for ten minutes', async (t) => {
  const id = await createPayment(app);
  t.deepEqual(await pauses(receiptUrl(id)), [], 'nothing to wait for before the first attempt');
  await report(id, { STATUS: '3' });
  const waited = await pauses(`${receiptUrl(id)}?lang=ms`);
  t.deepEqual(
    waited,
    waited.toSorted((a, b) => a - b),
  );
  const seconds = waited.reduce((sum, each) => sum + each, 0);
  t.true(seconds > 500 && seconds < 700, String(seconds));
  for (const look of ['99', '-1', '0.5', 'x', 'length', '__proto__', '1&look=2'])
    t.true((await pauses(`${receiptUrl(id)}?look=${look}`)).length <= 1, look);
  await report(id, { STATUS: '1' });
  t.deepEqual(await pauses(receiptUrl(id)), []);
});

const sentAgain = async (id: string) =>
  (await app.events(id)).filter(({ type }) => type === 'ReceiptEmailRequested').length;

async function sendAgain(id: string, token: string): Promise<Response> {
  return await fetch(receiptUrl(id), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ token, email: 'thief@example.my', to: 'thief@example.my' }),
  });
}

/** As the reactor records that the receipt was sent, or given up. */
async function recordEmail(id: string, kind: 'delivered' | 'abandoned', attempt: number, at: string) {
  const outcome =
    kind === 'delivered'
      ? { kind, status: null, messageId: '<1>' }
      : { kind, status: null, reason: 'no such mailbox' };
  const tried = { at, delivery: 'email', attempt, durationMs: 5 };
  await carryOut(app, id, { type: 'RecordDeliveryAttempt', ...tried, outcome });
}

const long = '2026-01-01T00:00:00.000Z';

test('the page says where the receipt went, and sends it again once for each button', async (t) => {
  const id = await createPayment(app);
  await report(id);
  const due = await receipt(id);
  t.true(due.includes('The receipt is on its way to a***@example.my.'));
  t.is(tokenOf(due), '');
  t.false(due.includes('aminah@example.my'));
  await recordEmail(id, 'delivered', 1, long);
  const sent = await receipt(id);
  t.regex(sent, /The receipt was sent to a\*\*\*@example\.my on 1 January 2026/);
  const token = tokenOf(sent);
  const answers = await Promise.all(Array.from({ length: 5 }, () => sendAgain(id, token)));
  for (const answer of answers) t.is(answer.headers.get('location'), receiptUrl(id));
  t.is(await sentAgain(id), 1);
  await recordEmail(id, 'delivered', 2, long);
  await sendAgain(id, token);
  t.is(await sentAgain(id), 1, 'the token has served');
  t.true((await receipt(id, '?lang=ms')).includes('Resit telah dihantar ke a***@example.my pada'));
});

test('the receipt is not sent again at once, nor without end, nor with another token', async (t) => {
  const id = await createPayment(app);
  const other = await createPayment(app);
  await report(id);
  await report(other);
  await recordEmail(other, 'delivered', 1, long);
  await recordEmail(id, 'delivered', 1, new Date().toISOString());
  t.is(tokenOf(await receipt(id)), '');
  const foreign = tokenOf(await receipt(other));
  for (const token of ['', 'x', foreign]) t.is((await sendAgain(id, token)).status, 401);
  t.is(await sentAgain(id), 0);
  for (let attempt = 2; attempt <= 15; attempt += 1) {
    const token = tokenOf(await receipt(other));
    if (token !== '') await sendAgain(other, token);
    await recordEmail(other, attempt % 2 === 0 ? 'delivered' : 'abandoned', attempt, long);
  }
  t.is(tokenOf(await receipt(other)), '');
  t.is(await sentAgain(other), 14);
  t.true((await receipt(other)).includes('The receipt could not be sent to a***@example.my.'));
});

test('a page of the receipt that was open for too long says so, and asks nobody to pay again', async (t) => {
  const id = await createPayment(app);
  await report(id);
  await recordEmail(id, 'delivered', 1, long);
  const token = tokenOf(await receipt(id));
  const later = await startApp({ clock: () => new Date(Date.now() + 61 * 60_000) }, app);
  t.teardown(() => later.close());
  const answer = await fetch(`${later.url}/generic/receipt/${id}`, {
    method: 'POST',
    headers: { accept: 'text/html' },
    body: new URLSearchParams({ token }),
  });
  t.is(answer.status, 401);
  const text = textOf(await answer.text());
  t.regex(
    text,
    /The receipt was not sent again .* Open the receipt again, and send it from there\. Open the receipt/,
  );
  t.notRegex(text, /payment method/);
  t.is(await sentAgain(id), 0);
});

test('without an address the page says nothing of an email', async (t) => {
  const id = await createPayment(app, { email: '' });
  await report(id);
  t.notRegex(await receipt(id), /The receipt (is on its way|was sent|could not)/);
  t.is(tokenOf(await receipt(id)), '');
});

test('the receipt of a double charge says first that the second charge will be returned, and then that it was', async (t) => {
  const id = await createPayment(app);
  await report(id);
  await report(id, { PAYMENT_TRANS_ID: 'P-2' });
  const text = textOf(await receipt(id));
  const said = text.indexOf(
    'You were charged once more: we received a further RM 120.50. It will be returned to you.',
  );
  t.true(said > 0 && said < text.indexOf('Receipt number'));
  await carryOut(app, id, resolving(2, 'refunded'));
  t.regex(textOf(await receipt(id)), /It was returned to you on 21 November 2026/);
  t.regex(textOf(await receipt(id, '?lang=ms')), /telah dikembalikan kepada anda pada 21 November 2026/);
});

test('a card payment shows the gateway’s number, and none of FPX', async (t) => {
  const id = await createPayment(app);
  await report(id, { PAYMENT_MODE: 'cc', PAYMENT_TRANS_ID: 'CARD-77' });
  const text = textOf(await receipt(id));
  t.regex(text, /Gateway number CARD-77/);
  t.notRegex(text, /FPX number/);
});
