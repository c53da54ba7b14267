// GET /generic/debug: /generic/response accepts what it signs, texts are escaped, and without a sandbox it does not exist.
import test from 'ava';
import { signFields } from '../../../src/clients/gateway/checksum.ts';
import type { FoundPayment } from '../../../src/projections/payments/search.ts';
import { gatewaySecret, startApp } from '../../support/app.ts';
import { sen } from '../../support/payments.ts';
import { chooseMethod, createPayment, hiddenFields, postResult } from './helpers.ts';

let latest: FoundPayment[] | Error = [];
const app = await startApp({
  config: { sandbox: { enabled: true } },
  latestPayments: async () => {
    if (latest instanceof Error) throw latest;
    return latest;
  },
});
test.after.always(() => app.close());

const debug = async (query: Record<string, string> = {}) => {
  const response = await fetch(`${app.url}/generic/debug?${new URLSearchParams(query)}`);
  return { status: response.status, html: await response.text() };
};

/** The fields of the form that posts to /generic/response. */
const signedFields = (html: string) =>
  hiddenFields(html.slice(html.indexOf('action="', html.indexOf('method="post"'))));

test('a result is signed, and posting the form pays', async (t) => {
  const id = await createPayment(app);
  await chooseMethod(app, id, { method: 'fpx', bank_fpx: 'MB2U0227' });
  const { html } = await debug({ TRANS_ID: id });
  t.true(html.includes(`method="post" action="${app.url}/generic/response"`));
  const fields = signedFields(html);
  t.like(fields, {
    STATUS: '1',
    TRANS_ID: id,
    AMOUNT: '120.50',
    MERCHANT_ORDER_NO: `${id}-1`,
    PAYMENT_MODE: 'fpx',
  });
  t.is(fields.CHECKSUM, signFields(fields, gatewaySecret));
  const sent = await postResult(app, fields);
  t.deepEqual([sent.status, sent.headers.get('location')], [303, `${app.url}/generic/receipt/${id}`]);
  const last = (await app.events(id)).at(-1);
  t.like(last, { type: 'PaymentSucceeded', data: { verified: true } });
  t.regex((await debug({ TRANS_ID: id })).html, /<p class="status success">/);
});

test('the amount is what the payer pays, including the fee', async (t) => {
  const headers = {
    authorization: 'Bearer older-key',
    'x-merchant-code': 'museum',
    'content-type': 'application/json',
  };
  const response = await fetch(`${app.url}/generic/request`, {
    method: 'POST',
    headers: { ...headers, accept: 'application/json' },
    body: JSON.stringify({
      trans_id: 'T-1',
      amount: '10.00',
      service: 'Tickets',
      description: 'Two',
      callback_url: 'https://museum.example/c',
      redirect_url: 'https://museum.example/r',
    }),
  });
  const { data } = (await response.json()) as { data: { transaction_id: string } };
  await chooseMethod(app, data.transaction_id, { method: 'cc' });
  t.is(signedFields((await debug({ TRANS_ID: data.transaction_id })).html).AMOUNT, '11.50');
});

test('the fields are signed as typed, without the empty ones', async (t) => {
  const id = await createPayment(app);
  const typed = { STATUS: '0', AMOUNT: '1.00', CURRENCY: 'USD', BUYER_NAME: 'A&B <b>"\'', BUYER_BANK: '' };
  const { html } = await debug({ TRANS_ID: id, ...typed, MERCHANT_CODE: 'other', CHECKSUM: 'x', EVIL: '1' });
  const { BUYER_BANK: _, ...rest } = typed;
  const fields = signedFields(html);
  t.like(fields, { ...rest, MERCHANT_CODE: 'other' });
  t.is(fields.CHECKSUM, signFields(fields, gatewaySecret));
  for (const name of ['BUYER_BANK', 'EVIL', 'RECEIPT_NO']) t.false(name in fields, name);
  t.false(html.includes('<b>"'));
  t.regex(html, /<option value="0" selected>/);
});

test('the latest payments can be chosen; without Postgres an id still can', async (t) => {
  const row = {
    transactionId: 'X',
    merchantCode: 'council',
    reference: '<i>1',
    status: 'failed',
    amountSen: sen(100),
  } as const;
  latest = [
    { ...row, channel: 'generic', mode: '', receiptNo: null, isWaiting: false, requestedAt: new Date() },
  ];
  const { html } = await debug();
  t.true(html.includes(`href="${app.url}/generic/debug?TRANS_ID=X&amp;lang=en">&lt;i&gt;1</a>`));
  t.false(html.includes('CHECKSUM'), 'nothing is signed before a payment is chosen');
  latest = new Error('down');
  const id = await createPayment(app);
  const without = await debug({ TRANS_ID: id });
  latest = [];
  t.true(without.html.includes('They cannot be listed at the moment.'));
  t.is(signedFields(without.html).TRANS_ID, id);
});

test('nothing is signed for an unknown payment', async (t) => {
  for (const id of ['0'.repeat(26), 'x', '"><script>']) {
    const { status, html } = await debug({ TRANS_ID: id });
    t.is(status, 200);
    t.true(html.includes('No payment has this TRANS_ID.'));
    t.false(html.includes('CHECKSUM'));
    t.false(html.includes('"><script>'));
  }
});

test('a repeated field and invalid UTF-8 break nothing', async (t) => {
  const id = await createPayment(app);
  const response = await fetch(
    `${app.url}/generic/debug?TRANS_ID=${id}&STATUS=0&STATUS=1&BUYER_NAME=%ED%A0%80%FF`,
  );
  t.is(response.status, 200);
  t.is((await postResult(app, signedFields(await response.text()))).status, 303);
});

test('without a sandbox there are no test pages', async (t) => {
  const without = await startApp({}, app);
  t.teardown(() => without.close());
  const id = await createPayment(app);
  for (const page of [`debug?TRANS_ID=${id}`, 'simulate']) {
    const url = `${without.url}/generic/${page}`;
    t.is((await fetch(url)).status, 404);
    t.is((await fetch(url, { method: 'POST' })).status, 404);
  }
  t.false((await (await fetch(without.url)).text()).includes('/generic/debug'));
  t.true((await (await fetch(app.url)).text()).includes(`${app.url}/generic/debug`));
});
