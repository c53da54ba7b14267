// A payer pays in a real browser: from the merchant's page to the sandbox bank and back to the receipt, with and without
// scripts, on a phone and on a desktop, from our own page and from one that the merchant relays; and 20 items of a land
// registry at once.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { until } from '../../embedded/helpers.ts';
import { gatewayResult, paymentRequest, postResult, requestPayment } from '../ledger.ts';
import { decideAtBank, payByFpx } from './at-the-bank.ts';
import { openBrowser, seriousFaults, skippedWithoutBrowser } from './chromium.ts';
import { baseUrl, gatewayUrl } from './service.ts';

let references = 0;
async function newPayment(more: Record<string, unknown> = {}) {
  references += 1;
  const body = paymentRequest(`BROWSER-${references}`, { redirect_url: `${baseUrl}/?from=bank`, ...more });
  const answer = await requestPayment(baseUrl, body);
  const { data } = (await answer.json()) as { data: { transaction_id: string; payment_url: string } };
  return { ...data, body };
}

async function fitsItsWidth(t: ExecutionContext, page: Page): Promise<void> {
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  t.is(overflow, 0, `${page.url()} scrolls sideways`);
}

test.serial('a payer pays, is declined and tries again, with and without scripts', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  for (const { scripts, width } of [
    { scripts: true, width: 1280 },
    { scripts: false, width: 360 },
  ]) {
    const visitor = await openBrowser(t, { javaScriptEnabled: scripts, viewport: { width, height: 800 } });
    const { page, complaints } = visitor;
    const { payment_url, transaction_id, body } = await newPayment();

    await page.goto(payment_url);
    t.true((await page.getByRole('heading', { level: 1 }).innerText()).includes('120.50'));
    if (scripts) await fitsItsWidth(t, page);
    if (scripts) t.deepEqual(await seriousFaults(page), []);
    await payByFpx(page);
    await decideAtBank(visitor, 'Decline', scripts);
    t.true((await page.locator('main').innerText()).includes('Failed'));

    await page.getByRole('link', { name: /try again/i }).click();
    await page
      .getByText(/did not go through|failed|unsuccessful/i)
      .first()
      .waitFor();
    await payByFpx(page);
    await decideAtBank(visitor, 'Approve', scripts);
    t.is(new URL(page.url()).pathname, `/generic/receipt/${transaction_id}`);
    const receipt = await page.locator('main').innerText();
    for (const figure of [
      'Official receipt',
      'Successful',
      '120.50',
      String(body.trans_id),
      `${transaction_id}-2`,
    ])
      t.true(receipt.includes(figure), `the receipt says ${figure}`);
    if (scripts) await fitsItsWidth(t, page);
    if (scripts) t.deepEqual(await seriousFaults(page), []);

    await page.goto(payment_url);
    t.is(
      new URL(page.url()).pathname,
      `/generic/receipt/${transaction_id}`,
      'what is paid cannot be paid again',
    );
    await page.getByRole('link', { name: /return to/i }).click();
    await page.waitForURL(/from=bank/);
    const back = new URL(page.url()).searchParams;
    t.deepEqual(
      [back.get('trans_id'), back.get('transaction_id'), back.get('status')],
      [body.trans_id, transaction_id, '1'],
    );
    t.deepEqual(complaints, []);
  }
});

test.serial(
  'letters twice as large fit a phone: no amount is cut, and no word has a line for each letter',
  async (t) => {
    if (skippedWithoutBrowser(t)) return;
    // 360 pixels at twice the size.
    const { page } = await openBrowser(t, { viewport: { width: 180, height: 370 } });
    const { payment_url } = await newPayment({ amount: '1000000.00' });
    for (const lang of ['en', 'ms']) {
      await page.goto(`${payment_url}?lang=${lang}`);
      await fitsItsWidth(t, page);
      const broken =
        await page.evaluate(`Array.from(document.querySelectorAll('.masthead p, h2:not(.unseen), label, .method p, button'))
        .flatMap((part) => [...part.childNodes].filter(({ nodeType, data }) => nodeType === 3 && data.trim()))
        .flatMap((node) => Array.from(node.data.matchAll(/[^ \\n]+/g), ({ 0: word, index }) => {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          return range.getClientRects().length > 1 ? word : '';
        }))
        .filter(Boolean)`);
      t.deepEqual(broken, []);
    }
  },
);

test.serial('the receipt email fits a phone, with room between a label and its value', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { transaction_id } = await newPayment({ extra: { lang: 'ms' } });
  await postResult(baseUrl, gatewayResult(transaction_id));
  const url = `${gatewayUrl}/mailbox/${transaction_id}-email/html`;
  await until(async () => (await fetch(url)).ok);
  const { page } = await openBrowser(t, { viewport: { width: 360, height: 740 } });
  await page.goto(url);
  await fitsItsWidth(t, page);
  const gap = await page.evaluate(`(() => {
    const label = document.createRange();
    const cell = [...document.querySelectorAll('th')].find(({ innerText }) => innerText === 'Perkhidmatan');
    label.selectNodeContents(cell);
    const [rect, ...more] = label.getClientRects();
    return more.length > 0 ? 0 : cell.nextElementSibling.firstElementChild.getBoundingClientRect().x - rect.right;
  })()`);
  t.true(Number(gap) >= 8, `${gap} pixels`);
});

test.serial('a payment completes from a page that the merchant relays from its own origin', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  for (const scripts of [true, false]) {
    references += 1;
    const answer = await requestPayment(baseUrl, paymentRequest(`RELAYED-${references}`), 'text/html');
    const html = await answer.text();
    t.true(Buffer.byteLength(html) < 40 * 1024, 'a payment page weighs under 40 KB');
    const merchant = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
    }).listen(0, '127.0.0.1');
    t.teardown(() => void merchant.close());
    await once(merchant, 'listening');

    const visitor = await openBrowser(t, {
      javaScriptEnabled: scripts,
      viewport: { width: 360, height: 740 },
    });
    const { page } = visitor;
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      const { origin, hostname } = new URL(request.url());
      if (!['localhost', '127.0.0.1'].includes(hostname)) elsewhere.push(origin);
    });
    await page.goto(`http://127.0.0.1:${(merchant.address() as AddressInfo).port}/checkout`);
    await payByFpx(page);
    await decideAtBank(visitor, 'Approve', scripts);
    t.true((await page.locator('main').innerText()).includes('Official receipt'));
    t.deepEqual(elsewhere, [], 'nothing comes from another host');
  }
});

const items = Array.from({ length: 20 }, (_, index) => ({
  id_hakmilik: `0101010${String(index + 1).padStart(2, '0')}`,
  urusan: `Cukai tanah ${index + 1}`,
  jumlah_bayaran: 10.05,
}));

async function requestLandPayment(reference: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/landreg/request`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer landreg-key',
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify({
      kod_cawangan: '01',
      transaksi_id: reference,
      jumlah_bayaran: 201,
      return_url: `${baseUrl}/?from=bank`,
      maklumat_bayaran: items,
      extra: { name: 'Aminah binti Ismail', email: 'aminah@example.com', ic_no: '900101145678' },
    }),
  });
  const body = (await answer.json()) as { data: { payment_url: string } };
  return body.data.payment_url;
}

// 20 callbacks, each accepted once; one item that is refused holds up none of the others.
test.serial('20 items are paid at once and reported one by one', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const visitor = await openBrowser(t, { viewport: { width: 1280, height: 900 } });
  const { page, complaints } = visitor;
  const counts = async () => {
    const html = await (await fetch(`${gatewayUrl}/land-registry`)).text();
    const text = html.replace(/<[^>]*>/g, '');
    return (verdict: string) => Number(new RegExp(`${verdict}: (\\d+)`).exec(text)?.[1] ?? 0);
  };

  // One land title is refused at first.
  await page.goto(`${gatewayUrl}/land-registry`);
  await page.getByLabel('Refuse one land title').fill('010101007');
  await page.getByRole('button', { name: 'Save' }).click();

  await page.goto(await requestLandPayment('LAND-20'));
  t.true((await page.getByRole('heading', { level: 1 }).innerText()).includes('201.00'));
  await payByFpx(page);
  await decideAtBank(visitor, 'Approve', true);
  const receipt = await page.locator('main').innerText();
  for (const figure of ['Official receipt', 'RM 201.00', 'RM 10.05', 'Cukai tanah 20', '-20'])
    t.true(receipt.replaceAll('\u00a0', ' ').includes(figure), `the receipt says ${figure}`);
  t.deepEqual(complaints, []);

  await until(async () => (await counts())('✓ Accepted') === 19 && (await counts())('✕ Refused') >= 1);
  await page.goto(`${gatewayUrl}/land-registry`);
  await page.getByLabel('Refuse one land title').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await until(async () => (await counts())('✓ Accepted') === 20);
  t.is((await counts())('✕ Refused as a duplicate'), 0);
});
