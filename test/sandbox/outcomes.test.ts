/** What the gateway reports for each choice on the bank's page, by server and by browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { until } from '../embedded/helpers.ts';
import {
  browserForm,
  type Fields,
  order,
  post,
  sign,
  startGateway,
  startReceiver,
  temporaryFolder,
} from './helpers.ts';

const orderNo = '0123456789ABCDEFGHJKMNPQRS-1';

async function open(t: ExecutionContext, answers: number[] = []) {
  const receiver = await startReceiver(t, { answers });
  const { url } = await startGateway(t);
  await post(url, order({ RESPONSE_URL: receiver.url }));
  const orderUrl = `${url}/orders/${orderNo}`;
  const page = async () => (await fetch(orderUrl)).text();
  /** The order's page after the server has sent everything. */
  async function settledPage(): Promise<string> {
    for (;;) {
      const html = await page();
      if (!html.includes('Being sent by the server')) return html;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return { receiver, orderUrl, page, settledPage };
}

function assertSigned(t: ExecutionContext, { CHECKSUM, ...fields }: Fields): void {
  t.is(CHECKSUM, sign(fields));
}

test('approve: browser and server bring the same signed result', async (t) => {
  const { receiver, orderUrl, settledPage } = await open(t);
  const beganMs = Date.now();
  const decided = await post(orderUrl, { outcome: 'approve' });
  t.is(decided.status, 303);
  t.is(decided.headers.get('location'), `/orders/${orderNo}/return`);
  const result = await receiver.next();
  assertSigned(t, result);
  const { CHECKSUM, PAYMENT_TRANS_ID, PAYMENT_DATETIME, RECEIPT_NO, ...rest } = result;
  t.deepEqual(rest, {
    DIRECTION: 'result',
    STATUS: '1',
    PAYMENT_MODE: 'fpx',
    MERCHANT_CODE: 'demo-app',
    TRANS_ID: '0123456789ABCDEFGHJKMNPQRS',
    AMOUNT: '1234.50',
    BUYER_BANK: 'Bank Contoh',
    BUYER_NAME: "Siti 'Ana' binti Ali*~!",
    MERCHANT_ORDER_NO: orderNo,
  });
  t.regex(PAYMENT_TRANS_ID ?? '', /^\d{16}$/);
  t.regex(RECEIPT_NO ?? '', /^SBX\d+$/);
  const paidMs = Date.parse(`${PAYMENT_DATETIME?.replace(' ', 'T')}+08:00`);
  t.true(paidMs > beganMs - 1_000 && paidMs <= Date.now(), PAYMENT_DATETIME);

  const brought = browserForm(await (await fetch(`${orderUrl}/return`)).text());
  t.is(brought.action, receiver.url);
  t.deepEqual(brought.fields, result);
  t.regex(await settledPage(), /Accepted by the service.*HTTP 303/s);
});

for (const [outcome, status] of [
  ['decline', '0'],
  ['cancel', '2'],
  ['leave-pending', '3'],
] as const) {
  test(`${outcome} is STATUS ${status}, without a receipt number`, async (t) => {
    const { receiver, orderUrl } = await open(t);
    await post(orderUrl, { outcome });
    const result = await receiver.next();
    assertSigned(t, result);
    t.is(result.STATUS, status);
    t.false('RECEIPT_NO' in result);
  });
}

test('approve twice: two successes with different numbers; the payer brings the first', async (t) => {
  const { receiver, orderUrl, settledPage } = await open(t);
  await post(orderUrl, { outcome: 'approve-twice' });
  const [first, second] = [await receiver.next(), await receiver.next()];
  for (const result of [first, second]) {
    assertSigned(t, result);
    t.is(result.STATUS, '1');
  }
  t.not(first.PAYMENT_TRANS_ID, second.PAYMENT_TRANS_ID);
  t.not(first.RECEIPT_NO, second.RECEIPT_NO);
  t.deepEqual(browserForm(await (await fetch(`${orderUrl}/return`)).text()).fields, first);
  await settledPage();
});

test('approve with another amount charges RM 1.00 more', async (t) => {
  const { receiver, orderUrl } = await open(t);
  await post(orderUrl, { outcome: 'approve-other-amount' });
  const result = await receiver.next();
  assertSigned(t, result);
  t.like(result, { STATUS: '1', AMOUNT: '1235.50' });
});

test('never answer sends nothing, and the page can be opened again', async (t) => {
  const { receiver, orderUrl, page } = await open(t);
  const decided = await post(orderUrl, { outcome: 'never-answer' });
  t.is(decided.headers.get('location'), `/orders/${orderNo}`);
  t.regex(await page(), /Window closed/);
  await post(orderUrl, { outcome: 'approve' });
  // Whatever "never answer" had sent would have come first.
  t.is((await receiver.next()).STATUS, '1');
  t.deepEqual(receiver.received, []);
});

test('pending, then approved at the bank: the server brings it, under the same transaction number', async (t) => {
  const { receiver, orderUrl, page } = await open(t);
  await post(orderUrl, { outcome: 'leave-pending' });
  const pending = await receiver.next();
  t.regex(await page(), /Authorise this payment/);
  t.is((await post(orderUrl, { outcome: 'cancel' })).status, 303);
  t.regex(await page(), /Authorise this payment/);
  const decided = await post(orderUrl, { outcome: 'approve', delivery: 'browser' });
  t.is(decided.headers.get('location'), `/orders/${orderNo}`);
  const approved = await receiver.next();
  assertSigned(t, approved);
  t.is(approved.STATUS, '1');
  t.is(approved.PAYMENT_TRANS_ID, pending.PAYMENT_TRANS_ID);
  const stale = await fetch(`${orderUrl}/return`, { redirect: 'manual' });
  t.is(stale.status, 303);
});

test('only one of many concurrent decisions counts', async (t) => {
  const { receiver, orderUrl, settledPage } = await open(t);
  const outcomes = Array.from({ length: 20 }, (_, index) => (index % 2 ? 'approve' : 'decline'));
  const answers = await Promise.all(outcomes.map((outcome) => post(orderUrl, { outcome })));
  for (const answer of answers) t.is(answer.headers.get('location'), `/orders/${orderNo}/return`);
  const page = await settledPage();
  t.is(page.match(/Result \d/g)?.length, 1);
  t.is(receiver.received.length, 1);
});

test('browser only: the server posts nothing', async (t) => {
  const { receiver, orderUrl, page } = await open(t);
  await post(orderUrl, { outcome: 'approve', delivery: 'browser' });
  t.regex(await page(), /Left to the payer’s browser/);
  const { action, fields } = browserForm(await (await fetch(`${orderUrl}/return`)).text());
  await post(action, fields);
  t.is((await receiver.next()).CHECKSUM, fields.CHECKSUM);
  t.deepEqual(receiver.received, []);
});

test('server only, while the service is down and then up again', async (t) => {
  const receiver = await startReceiver(t, { isDown: true, answers: [503] });
  const { url } = await startGateway(t);
  await post(url, order({ RESPONSE_URL: receiver.url }));
  const orderUrl = `${url}/orders/${orderNo}`;
  const decided = await post(orderUrl, { outcome: 'approve', delivery: 'server' });
  t.is(decided.headers.get('location'), `/orders/${orderNo}`);
  await until(async () => /UND_ERR_SOCKET|ECONNRESET/.test(await (await fetch(orderUrl)).text()));
  receiver.comeUp();
  const results = [await receiver.next(), await receiver.next()];
  t.deepEqual(results[0], results[1]);
  t.is(results[0]?.STATUS, '1');
});

test('a delayed server post does not delay other orders or the stop', async (t) => {
  const receiver = await startReceiver(t);
  const gateway = await startGateway(t);
  for (const [number, delaySeconds] of [
    ['late-1', '30'],
    ['prompt-1', '0'],
  ] as const) {
    await post(gateway.url, order({ RESPONSE_URL: receiver.url, MERCHANT_ORDER_NO: number }));
    await post(`${gateway.url}/orders/${number}`, { outcome: 'approve', delaySeconds });
  }
  t.is((await receiver.next()).MERCHANT_ORDER_NO, 'prompt-1');
  t.regex(await (await fetch(`${gateway.url}/orders/late-1`)).text(), /Being sent by the server/);
});

test('a result that the service refuses is not sent again', async (t) => {
  const { receiver, orderUrl, settledPage } = await open(t, [401]);
  await post(orderUrl, { outcome: 'approve' });
  t.regex(await settledPage(), /Refused by the service.*HTTP 401/s);
  t.is(receiver.received.length, 1);
});

test('kill -9 loses neither the order nor the result still to be sent', async (t) => {
  const receiver = await startReceiver(t, { isDown: true });
  const file = join(await temporaryFolder(t), 'books', 'orders.db');
  const script = fileURLToPath(new URL('gateway-process.ts', import.meta.url));
  const gateway = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => gateway.kill('SIGKILL'));
  const [line] = await once(gateway.stdout, 'data');
  const url = String(line).trim();
  await post(url, order({ RESPONSE_URL: receiver.url }));
  await post(url, order({ RESPONSE_URL: receiver.url, MERCHANT_ORDER_NO: 'untouched-1' }));
  await post(`${url}/orders/${orderNo}`, { outcome: 'approve', delivery: 'server' });
  gateway.kill('SIGKILL');
  await once(gateway, 'exit');

  receiver.comeUp();
  const again = await startGateway(t, file);
  const result = await receiver.next();
  assertSigned(t, result);
  t.like(result, { STATUS: '1', MERCHANT_ORDER_NO: orderNo });
  t.regex(await (await fetch(`${again.url}/orders/untouched-1`)).text(), /Confirm your payment/);
});
