// The sandbox's land registry is as strict as the real one, and fails on demand.
import { join } from 'node:path';
import test from 'ava';
import { registryToken, startGateway, temporaryFolder } from './helpers.ts';

const callback = {
  accountNo: '900101145678',
  idHakmilik: '080102GRN00012345',
  kodCaw: '00',
  resitNo: '10-20261120-BJ6HYDFE-01',
  amaun: '100.00',
  paymentDateTime: '20261120090430',
  paymentType: 'CABAMPAY',
  fpxNo: '2611200904300001',
  transId: '5K3M9QW2Z7TCV8XN4RBJ6HYDFE',
  dimasuk: 'EPAYMENT',
};

function send(
  url: string,
  body: unknown,
  { token = registryToken, signal = AbortSignal.timeout(60_000) } = {},
) {
  return fetch(`${url}/land-registry/callback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'access-token': token },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  });
}

/** What it answers, in the order of the interface. */
async function reply(url: string, body: unknown, token?: string) {
  const answer = await send(url, body, token === undefined ? {} : { token });
  const { statusCode, noresit } = (await answer.json()) as Record<string, string>;
  return [answer.status, statusCode, noresit];
}

function behave(url: string, mode: string, failingTitleId = ''): Promise<Response> {
  const body = new URLSearchParams({ mode, failingTitleId });
  return fetch(`${url}/land-registry`, { method: 'POST', body, redirect: 'manual' });
}

const page = async (url: string) => (await fetch(`${url}/land-registry`)).text();

test('a callback is accepted once for its receipt and FPX number, also after a restart', async (t) => {
  const file = join(await temporaryFolder(t), 'sandbox.db');
  const first = await startGateway(t, file);
  t.regex(await page(first.url), /No callbacks yet/);
  t.deepEqual(await reply(first.url, callback), [200, 'SUCCESS', callback.resitNo]);
  t.deepEqual(await reply(first.url, { ...callback, fpxNo: '2' }), [200, 'SUCCESS', callback.resitNo]);
  await first.close();
  const { url } = await startGateway(t, file);
  t.deepEqual(await reply(url, { ...callback, amaun: '1.00' }), [200, 'FAILED', '']);
  const shown = await page(url);
  t.regex(shown, /Accepted<\/span>: 2/);
  t.regex(shown, /Refused as a duplicate<\/span>: 1/);
});

test('a field that is not documented is ignored', async (t) => {
  const { url } = await startGateway(t);
  t.deepEqual(await reply(url, { ...callback, catatan: 'x' }), [200, 'SUCCESS', callback.resitNo]);
});

test('callbacks without the token are refused', async (t) => {
  const { url } = await startGateway(t);
  for (const token of ['', 'another']) t.deepEqual(await reply(url, callback, token), [401, 'FAILED', '']);
  t.regex(await page(url), /No callbacks yet/);
});

const faults: [string, unknown][] = [
  ...Object.keys(callback).map((name): [string, unknown] => [
    `no ${name}`,
    { ...callback, [name]: undefined },
  ]),
  ...Object.keys(callback).map((name): [string, unknown] => [
    `${name} is a number`,
    { ...callback, [name]: 1 },
  ]),
  ['one decimal', { ...callback, amaun: '100.0' }],
  ['separators', { ...callback, amaun: '1,000.00' }],
  ['a time with separators', { ...callback, paymentDateTime: '2026-11-20 09:04:30' }],
  ['a time of 13 digits', { ...callback, paymentDateTime: '2026112009043' }],
  ['no such hour', { ...callback, paymentDateTime: '20261120250430' }],
  ['a mode for a type', { ...callback, paymentType: 'fpx' }],
  ['no receipt number', { ...callback, resitNo: '' }],
  ['a list', [callback]],
  ['no JSON', '{"accountNo"'],
  ['nothing', ''],
  ['100 KiB', { ...callback, more: 'x'.repeat(100_000) }],
];
for (const [name, body] of faults) {
  test(`refused: ${name}`, async (t) => {
    const { url } = await startGateway(t);
    t.deepEqual(await reply(url, body), [400, 'FAILED', '']);
    t.regex(await page(url), /No callbacks yet/);
  });
}

test('it refuses all callbacks, or those for one land title, and accepts them afterwards', async (t) => {
  const { url } = await startGateway(t);
  t.is((await behave(url, 'refuse')).status, 303);
  t.deepEqual(await reply(url, callback), [200, 'FAILED', '']);
  await behave(url, 'accept', ` ${callback.idHakmilik} `);
  t.deepEqual(await reply(url, callback), [200, 'FAILED', '']);
  t.deepEqual(await reply(url, { ...callback, resitNo: 'R-2', idHakmilik: '' }), [200, 'SUCCESS', 'R-2']);
  await behave(url, 'accept');
  t.deepEqual(await reply(url, callback), [200, 'SUCCESS', callback.resitNo]);
});

test('it accepts a callback but loses the answer: the repeat is a duplicate', async (t) => {
  const { url } = await startGateway(t);
  await behave(url, 'lose-answer');
  await t.throwsAsync(send(url, callback));
  t.deepEqual(await reply(url, callback), [200, 'FAILED', '']);
});

test('it hangs, remembers its settings, and does not delay the stop', async (t) => {
  const file = join(await temporaryFolder(t), 'sandbox.db');
  const first = await startGateway(t, file);
  await behave(first.url, 'hang');
  const hanging = t.throwsAsync(send(first.url, callback));
  while (!(await page(first.url)).includes('Never answered</span>: 1'));
  await first.close();
  await hanging;
  const { url } = await startGateway(t, file);
  t.regex(await page(url), /value="hang" selected/);
  await behave(url, 'accept');
  t.deepEqual(await reply(url, callback), [200, 'SUCCESS', callback.resitNo]);
});

test('an unknown behaviour is refused', async (t) => {
  const { url } = await startGateway(t);
  for (const body of [
    'mode=explode&failingTitleId=',
    'mode=hang',
    '',
    'mode=hang&mode=accept&failingTitleId=',
  ])
    t.is(
      (await fetch(`${url}/land-registry`, { method: 'POST', body: new URLSearchParams(body) })).status,
      400,
      body,
    );
  t.regex(await page(url), /value="accept" selected/);
});

test('callbacks are shown as text', async (t) => {
  const { url } = await startGateway(t);
  await send(url, { ...callback, idHakmilik: '<script>alert(1)</script>', resitNo: '"><b>' });
  t.notRegex(await page(url), /<script|<b>/);
});
