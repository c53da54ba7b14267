// A land-registry payment from the page to the receipt, through signed links, and the results that the gateway may report.
import test from 'ava';
import { verifyFields } from '../../../src/clients/gateway/checksum.ts';
import { gatewaySecret, startApp } from '../../support/app.ts';
import { hiddenFields, signed, tokenOf } from '../generic/helpers.ts';
import { createLandPayment, landResult, reportLandResult } from './helpers.ts';

const app = await startApp();
test.after.always(() => app.close());

const attribute = (text: string) => text.replaceAll('&amp;', '&');
const linkTo = (html: string, page: string) =>
  attribute(new RegExp(`(?:href|action)="([^"]*/landreg/${page}/[^"]*)"`).exec(html)?.[1] ?? '');
const formOf = (html: string) => attribute(/<form[^>]* action="([^"]*)"/.exec(html)?.[1] ?? '');

/** The payer's browser: opens the page and sends its form. */
async function choose(payUrl: string, form: Record<string, string>): Promise<Response> {
  const html = await (await fetch(payUrl)).text();
  const body = new URLSearchParams({ ...form, token: tokenOf(html) });
  return fetch(formOf(html), { method: 'POST', redirect: 'manual', body });
}

test('20 items are paid through signed links: page, gateway, receipt, PDF, and back to the land registry', async (t) => {
  const items = Array.from({ length: 20 }, (_, index) => ({
    id_hakmilik: index % 2 ? '' : `GRN${index}`,
    urusan: `Cukai Tanah ${index + 1}`,
    jumlah_bayaran: 6.05,
  }));
  const { transactionId, payUrl } = await createLandPayment(app, {
    transaksi_id: 'TWENTY/1',
    jumlah_bayaran: '121.00',
    maklumat_bayaran: items,
  });
  const handOver = await choose(payUrl, { method: 'fpx', bank_fpx: 'MB2U0227' });
  t.is(handOver.status, 200);
  const { CHECKSUM = '', ...fields } = hiddenFields(await handOver.text());
  t.is(verifyFields({ ...fields, CHECKSUM }, gatewaySecret), 'valid');
  t.like(fields, {
    MERCHANT_CODE: 'state-land',
    TRANS_ID: transactionId,
    MERCHANT_ORDER_NO: `${transactionId}-1`,
    AMOUNT: '121.00',
    BUYER_NAME: 'Aminah binti Ismail',
    RESPONSE_URL: `${app.url}/landreg/response`,
    TRANSAKSI_ID: 'TWENTY/1',
  });

  const redirect = await reportLandResult(app, transactionId, { AMOUNT: '121.00' });
  t.is(redirect.status, 303);
  const receiptUrl = redirect.headers.get('location') ?? '';
  t.regex(receiptUrl, new RegExp(`^${app.url}/landreg/receipt/${transactionId}\\?sig=`));
  const html = await (await fetch(receiptUrl)).text();
  for (const part of ['Official receipt', 'State Land Office', 'FPX number', 'P-1', 'R-1', 'TWENTY/1'])
    t.true(html.includes(part), part);
  for (const [index, { urusan, id_hakmilik }] of items.entries()) {
    const receiptNo = `R-1-${String(index + 1).padStart(2, '0')}`;
    t.true(
      html.includes(`${urusan}<small dir="auto">${id_hakmilik && `${id_hakmilik} · `}${receiptNo}</small>`),
    );
  }
  const malay = await (await fetch(linkTo(html, 'receipt'))).text();
  t.regex(malay, /<html lang="ms">/);
  const pdf = await fetch(linkTo(html, 'download'));
  t.is(pdf.headers.get('content-type'), 'application/pdf');
  t.is(pdf.headers.get('content-disposition'), 'inline; filename="Official-receipt-R-1.pdf"');
  t.is(
    Buffer.from(await pdf.arrayBuffer())
      .subarray(0, 5)
      .toString(),
    '%PDF-',
  );
  const back = new URL(attribute(/href="(https:\/\/land\.example[^"]*)"/.exec(html)?.[1] ?? ''));
  t.deepEqual(Object.fromEntries(back.searchParams), {
    session: '1',
    trans_id: 'TWENTY/1',
    transaction_id: transactionId,
    status: '1',
  });

  const [asked, chosen, paid, ...more] = await app.events(transactionId);
  t.deepEqual(
    [asked?.type, chosen?.type, paid?.type, more],
    ['PaymentRequested', 'PaymentMethodChosen', 'PaymentSucceeded', []],
  );
});

test('a failed payment is tried again from its statement', async (t) => {
  const { transactionId, payUrl } = await createLandPayment(app);
  await choose(payUrl, { method: 'cc' });
  const failed = await reportLandResult(app, transactionId, { STATUS: '0', PAYMENT_MODE: 'cc' });
  const statement = await (await fetch(failed.headers.get('location') ?? '')).text();
  t.regex(statement, /The payment did not go through/);
  const again = await choose(linkTo(statement, 'pay'), { method: 'cc' });
  t.is(hiddenFields(await again.text()).MERCHANT_ORDER_NO, `${transactionId}-2`);
});

test('a wrong amount locks the signed link; sending the receipt again and cancelling take the link and the token', async (t) => {
  const { transactionId, payUrl } = await createLandPayment(app);
  const cancelled = (url: string, token: string) =>
    fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token, cancel: '1' }) });
  const token = tokenOf(await (await fetch(payUrl)).text());
  t.is((await cancelled(payUrl.split('?')[0] ?? '', token)).status, 401);
  t.is((await cancelled(payUrl, 'x')).status, 401);
  t.is((await cancelled(payUrl, token)).status, 303);
  await choose(payUrl, { method: 'cc' });
  const wrong = await reportLandResult(app, transactionId, { PAYMENT_MODE: 'cc', AMOUNT: '1.00' });
  const receiptUrl = wrong.headers.get('location') ?? '';
  t.regex(await (await fetch(receiptUrl)).text(), /We received RM\u00a01\.00 instead of RM\u00a0120\.50/);
  t.regex(
    (await fetch(payUrl, { redirect: 'manual' })).headers.get('location') ?? '',
    /\/landreg\/receipt\//,
  );
  const send = (url: string) => fetch(url, { method: 'POST', body: new URLSearchParams({ token }) });
  t.is((await send(receiptUrl)).status, 401, 'a token of another page');
  t.is((await send(receiptUrl.split('?')[0] ?? '')).status, 401, 'no signature');
});

test('a page that has expired leads to a fresh one, and a settled payment to its receipt', async (t) => {
  let now = new Date();
  const timed = await startApp({ clock: () => now }, app);
  t.teardown(() => timed.close());
  const { transactionId, payUrl } = await createLandPayment(timed);
  const html = await (await fetch(payUrl)).text();
  now = new Date(now.getTime() + 3_600_000);
  const body = new URLSearchParams({ token: tokenOf(html), method: 'cc' });
  const expired = await fetch(linkTo(html, 'pay'), { method: 'POST', body });
  t.is(expired.status, 401);
  const fresh = linkTo(await expired.text(), 'pay');
  t.is((await fetch(fresh)).status, 200);
  await reportLandResult(timed, transactionId);
  const settled = await fetch(fresh, { redirect: 'manual' });
  t.is(settled.status, 303);
  t.regex(await (await fetch(settled.headers.get('location') ?? '')).text(), /Resit rasmi/);
});

for (const [status, type] of [
  ['0', 'PaymentFailed'],
  ['1', 'PaymentSucceeded'],
  ['2', 'PaymentCancelled'],
  ['3', 'PaymentPending'],
] as const)
  test(`STATUS ${status} is ${type}, and a repeated result appends nothing`, async (t) => {
    const { transactionId } = await createLandPayment(app);
    for (const _ of [1, 2])
      t.is((await reportLandResult(app, transactionId, { STATUS: status })).status, 303);
    const types = (await app.events(transactionId)).map((event) => event.type);
    t.deepEqual(types, ['PaymentRequested', type]);
  });

test('the gateway authenticates by its checksum; a key or a link does not replace it', async (t) => {
  const { transactionId, payUrl } = await createLandPayment(app);
  const fields = landResult(transactionId);
  for (const body of [fields, { ...signed(fields), AMOUNT: '1.00' }, signed(fields, 'another secret')]) {
    const response = await fetch(`${app.url}/landreg/response${new URL(payUrl).search}`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-key-of-the-land-registry' },
      body: new URLSearchParams(body as Record<string, string>),
    });
    t.is(response.status, 401);
    t.deepEqual(await response.json(), { status: false, message: 'CHECKSUM is missing or wrong' });
  }
  t.is((await app.events(transactionId)).length, 1);
});

test.serial(
  'an agency that has left the configuration is 404, and what the gateway said is kept',
  async (t) => {
    const { transactionId } = await createLandPayment(app);
    const without = await startApp({ config: { merchants: new Map() } }, app);
    t.teardown(() => without.close());
    const response = await reportLandResult(without, transactionId);
    t.is(response.status, 404);
    t.deepEqual(await response.json(), { status: false, message: 'Agency not found' });
    const page = await fetch(`${without.url}/landreg/response`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      body: new URLSearchParams(signed(landResult(transactionId))),
    });
    t.is(page.status, 404);
    t.true((await page.text()).includes('Do not pay again; contact the agency.'));
    t.is((await app.events(transactionId)).length, 1);
    t.like(await app.lastUnmatched(), {
      channel: 'landreg',
      reason: 'unknown_agency',
      verified: true,
      raw: signed(landResult(transactionId)),
    });
    t.is((await reportLandResult(app, transactionId)).status, 303, 'back again, the gateway may repeat it');
  },
);

test.serial(
  'a result for an unknown transaction, or for another agency’s, is 404 and quarantined',
  async (t) => {
    const { transactionId } = await createLandPayment(app);
    for (const over of [{ TRANS_ID: '0'.repeat(26) }, { MERCHANT_CODE: 'district-land' }]) {
      const response = await reportLandResult(app, transactionId, over);
      t.deepEqual(
        [response.status, await response.json()],
        [404, { status: false, message: 'Transaction not found' }],
      );
      t.like(await app.lastUnmatched(), { channel: 'landreg', reason: 'unknown_transaction' });
    }
    t.is((await app.events(transactionId)).length, 1);
  },
);
