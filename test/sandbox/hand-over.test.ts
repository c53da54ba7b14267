/** What the gateway accepts from the service, and what it refuses. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import { startSandboxGateway } from '../../packages/sandbox/gateway.ts';
import { order, post, registryToken, secret, startGateway, temporaryFolder } from './helpers.ts';

test('an order is stored and shown with the amount and the payee first', async (t) => {
  const { url } = await startGateway(t);
  const taken = await post(url, order({}));
  t.is(taken.status, 303);
  t.is(taken.headers.get('location'), '/orders/0123456789ABCDEFGHJKMNPQRS-1');
  const page = await (await fetch(`${url}/orders/0123456789ABCDEFGHJKMNPQRS-1`)).text();
  t.regex(page, /SANDBOX.*RM 1,234\.50.*to demo-app.*Assessment tax \(2026\) &amp; more/s);
  t.regex(await (await fetch(url)).text(), /0123456789ABCDEFGHJKMNPQRS-1.*1,234\.50.*Waiting for the payer/s);
});

test('the same hand-over again is the same order; different content under its number is refused', async (t) => {
  const { url } = await startGateway(t);
  await post(url, order({}));
  t.is((await post(url, order({}))).status, 303);
  t.is((await post(url, order({ AMOUNT: '1.00' }))).status, 409);
  const list = await (await fetch(url)).text();
  t.is(list.match(/<a href="\/orders\//g)?.length, 1);
  t.regex(list, /1,234\.50/);
});

test('with a wrong or missing checksum nothing is stored, and the right one is not revealed', async (t) => {
  const { url } = await startGateway(t);
  const genuine = order({ AMOUNT: '0.01' });
  const overpriced = order({}).CHECKSUM ?? '';
  for (const CHECKSUM of ['', 'zz', overpriced, 'é'.repeat(64)]) {
    const refused = await post(url, { ...genuine, CHECKSUM });
    t.is(refused.status, 403);
    t.notRegex(await refused.text(), new RegExp(genuine.CHECKSUM ?? 'missing'));
  }
  t.regex(await (await fetch(url)).text(), /No orders yet/);
});

for (const [name, value] of [
  ['AMOUNT', '0.00'],
  ['AMOUNT', '1e3'],
  ['AMOUNT', '-1.00'],
  ['AMOUNT', '10.005'],
  ['AMOUNT', '1,000.00'],
  ['AMOUNT', ''],
  ['MERCHANT_ORDER_NO', '..'],
  ['MERCHANT_ORDER_NO', 'A'.repeat(41)],
  ['MERCHANT_CODE', 'two\nlines'],
  ['TRANS_ID', ''],
  ['BUYER_NAME', 'x'.repeat(501)],
  ['RESPONSE_URL', 'javascript:alert(1)'],
  ['RESPONSE_URL', 'file:///etc/passwd'],
  ['RESPONSE_URL', 'http://user:password@localhost/'],
  ['RESPONSE_URL', '/generic/response'],
] as const) {
  test(`${name} ${JSON.stringify(value.slice(0, 45))} is refused by its name`, async (t) => {
    const { url } = await startGateway(t);
    const refused = await post(url, order({ [name]: value }));
    t.is(refused.status, 400);
    t.regex(await refused.text(), new RegExp(`not valid: ${name}\\.`));
  });
}

test('HTML in what a merchant sends stays text, on every page', async (t) => {
  const { url } = await startGateway(t);
  const evil = '"><script>alert(1)</script>sum{{ 7 * 7 }}';
  await post(url, order({ DESCRIPTION: evil, BUYER_NAME: evil, MERCHANT_CODE: evil, BANK_CODE: evil }));
  const orderUrl = `${url}/orders/0123456789ABCDEFGHJKMNPQRS-1`;
  const pages = [await fetch(orderUrl), await fetch(url)];
  pages.push(await post(url, { ...order({}), DESCRIPTION: evil }));
  await post(orderUrl, { outcome: 'approve', delivery: 'browser' });
  pages.push(await fetch(`${orderUrl}/return`));
  for (const page of pages) {
    const html = await page.text();
    t.notRegex(html, /<script>|script>alert/);
    t.notRegex(html, /sum49/);
  }
});

test('bad requests get a 4xx answer, never a 500 or a stack', async (t) => {
  const { url } = await startGateway(t);
  await post(url, order({}));
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const send = (path: string, body: string, headers: Record<string, string> = form) =>
    fetch(url + path, { method: 'POST', body, headers, redirect: 'manual' });
  const orderPath = '/orders/0123456789ABCDEFGHJKMNPQRS-1';
  const answers: [number, Response][] = [
    [415, await send('/', '{}', { 'content-type': 'application/json' })],
    [413, await send('/', `A=${'x'.repeat(1024 * 1024)}`)],
    [400, await send('/', 'A=1&A=2')],
    [400, await send('/', 'not gzip', { ...form, 'content-encoding': 'gzip' })],
    [403, await send('/', '__proto__=1&a[b]=1&%FF=%ZZ')],
    [400, await send(orderPath, 'outcome=steal')],
    [400, await send(orderPath, 'outcome=approve&delivery=pigeon')],
    [400, await send(orderPath, '')],
    [404, await send('/orders/none', 'outcome=approve')],
    [404, await fetch(`${url}/orders/%FF`)],
    [404, await fetch(`${url}/nothing`)],
    [405, await fetch(`${url}/orders/none`, { method: 'DELETE' })],
  ];
  for (const [status, answer] of answers) {
    t.is(answer.status, status, answer.url);
    const page = await answer.text();
    t.regex(page, /SANDBOX/);
    t.notRegex(page, /node_modules|\.ts:/);
  }
});

test('only the host names of this machine are answered, and a port in use is an error', async (t) => {
  const { port } = await startGateway(t);
  const foreign = request({ host: '127.0.0.1', port, headers: { host: 'evil.example' } }).end();
  const status = await new Promise((resolve) =>
    foreign.on('response', (answer) => resolve(answer.resume().statusCode)),
  );
  t.is(status, 421);
  const file = `${await temporaryFolder(t)}/orders.db`;
  const common = {
    registryToken,
    webhookSecrets: [],
    outboxDir: '/nowhere',
    file,
    log: pino({ level: 'silent' }),
  };
  await t.throwsAsync(startSandboxGateway({ ...common, secret, port }), { code: 'EADDRINUSE' });
});

test('a file that is no database is named', async (t) => {
  const file = join(await temporaryFolder(t), 'orders.db');
  writeFileSync(file, 'x'.repeat(10_000));
  await t.throwsAsync(startGateway(t, file), {
    message: `The sandbox cannot use ${file}: file is not a database`,
  });
});
