// Guessing credentials, floods of requests, and an invented source address. The library reads the clock itself, so
// pauses are taken as the answers name them.
import { mock } from 'node:test';
import { networkOf } from '@ledger/kernel/network-of.ts';
import test, { type ExecutionContext } from 'ava';
import type { Context } from '../../../src/http/server/context.ts';
import { createRateLimits } from '../../../src/http/server/rate-limits.ts';
import { landregAccessKey, startApp, type TestApp } from '../../support/app.ts';
import {
  chooseMethod,
  createPayment,
  merchantHeaders,
  postResult,
  resultFields,
  signed,
} from '../generic/helpers.ts';

const rateLimits = { failuresPerMinute: 5, callsPerSecond: 2, pagesPerMinute: 40 };
const key = 'an-api-key-of-the-tests';
const app = await startApp({ config: { rateLimits, trustedProxies: 1, apiKeys: [key] } });
test.after.always(() => app.close());

let addresses = 0;
/** Another source for each test. */
function newAddress(): string {
  addresses += 1;
  return `198.51.100.${addresses}`;
}

const ask = (path: string, from: string, init: RequestInit = {}, to: TestApp = app) =>
  fetch(to.url + path, {
    redirect: 'manual',
    ...init,
    headers: { accept: 'application/json', ...init.headers, 'x-forwarded-for': from },
  });

const right = { headers: merchantHeaders };
const museum = { headers: { 'x-merchant-code': 'museum', authorization: 'Bearer older-key' } };
const wrong = { headers: { ...merchantHeaders, authorization: 'Bearer guess' } };

async function guess(path: string, from: string, init: RequestInit = wrong): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < 7; time += 1) statuses.push((await ask(path, from, init)).status);
  return statuses;
}

async function isRefused(t: ExecutionContext, response: Response, body: object, least = 30): Promise<void> {
  t.is(response.status, 429);
  const seconds = Number(response.headers.get('retry-after'));
  t.true(seconds >= least && seconds <= 60, `Retry-After: ${seconds}`);
  t.deepEqual(await response.json(), body);
}

const message = 'Too many requests; try again later';

test('guessing a merchant’s API key pauses the address for it, which then learns nothing, and nobody else', async (t) => {
  const from = newAddress();
  t.deepEqual(await guess('/generic/check', from), [401, 401, 401, 401, 401, 429, 429]);
  await isRefused(t, await ask('/generic/check', from, right), { status: false, message });
  await isRefused(t, await ask('/generic/requery/INV-1', from, right), { success: false, message });
  t.is((await ask('/generic/check', newAddress(), right)).status, 200);
  t.true(app.logged.some((line) => line.status === 429 && line.address === from));
});

test('one agency’s wrong key keeps no other agency, land registry or program of its address out', async (t) => {
  const many = { ...rateLimits, callsPerSecond: 100 };
  const own = await startApp({ config: { rateLimits: many, trustedProxies: 1, apiKeys: [key] } }, app);
  t.teardown(own.close);
  const from = newAddress();
  const statusOf = async (path: string, init: RequestInit) => (await ask(path, from, init, own)).status;
  const guesses = async (path: string, init: RequestInit) => {
    const statuses: number[] = [];
    for (let time = 0; time < 6; time += 1) statuses.push(await statusOf(path, init));
    return statuses;
  };
  t.deepEqual(await guesses('/generic/check', wrong), [401, 401, 401, 401, 401, 429]);
  t.is(await statusOf('/generic/check', right), 429);
  t.is(await statusOf('/generic/check', museum), 200);
  const inBody = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ merchant_code: 'museum', api_key: 'guess' }),
  };
  t.deepEqual(await guesses('/generic/request', inBody), [401, 401, 401, 401, 401, 429]);
  t.is(await statusOf('/generic/check', museum), 429);
  const withKey = (bearer: string) => ({ headers: { authorization: `Bearer ${bearer}` } });
  t.is(await statusOf('/landreg/check', withKey(landregAccessKey)), 200);
  t.is(await statusOf('/api/v1/users', withKey(key)), 200);
});

test('a key that was replaced is no guess: a program that still sends it keeps no other of its agency out', async (t) => {
  const own = await startApp({
    config: { rateLimits: { ...rateLimits, callsPerSecond: 100 }, trustedProxies: 1 },
  });
  t.teardown(own.close);
  const from = newAddress();
  const rotation = await fetch(`${own.url}/generic/credentials/api-key/rotate`, {
    method: 'POST',
    headers: { ...merchantHeaders, 'content-type': 'application/json' },
    body: JSON.stringify({ overlap_hours: 0 }),
  });
  const { data } = (await rotation.json()) as { data: { value: string } };
  const renewed = { headers: { ...merchantHeaders, authorization: `Bearer ${data.value}` } };
  t.is((await ask('/generic/check', from, renewed, own)).status, 200);
  for (let time = 0; time < 7; time += 1) t.is((await ask('/generic/check', from, right, own)).status, 401);
  t.is((await ask('/generic/check', from, renewed, own)).status, 200);
  for (let time = 0; time < 5; time += 1) await ask('/generic/check', from, wrong, own);
  t.is((await ask('/generic/check', from, renewed, own)).status, 429, 'other wrong keys are');
});

test('codes that no merchant has are guesses together, and keep no merchant out', async (t) => {
  const from = newAddress();
  const statuses: number[] = [];
  for (const code of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const headers = { ...wrong.headers, 'x-merchant-code': code };
    statuses.push((await ask('/generic/check', from, { headers })).status);
  }
  t.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
  t.is((await ask('/generic/check', from, right)).status, 200);
});

test('a program with a wrong key keeps neither payers nor results of its address out', async (t) => {
  const from = newAddress();
  const id = await createPayment(app);
  await guess('/generic/check', from);
  t.is((await ask(`/generic/pay/${id}`, from)).status, 200);
  const result = await postResult(app, signed(resultFields(id)), { 'x-forwarded-for': from });
  t.is(result.status, 303);
  const pages = await guess('/landreg/pay/WHATEVER', from);
  t.is(pages.at(-1), 429, 'a wrong key on a page counts as one');
  t.is((await ask(`/generic/receipt/${id}`, from)).status, 200);
  const late = await postResult(app, signed(resultFields(id)), { 'x-forwarded-for': from });
  t.is(late.status, 303);
});

for (const [name, path, init, body] of [
  ['the key of the land registry', '/landreg/check', wrong, { status: false, message }],
  ['a key of /api/v1', '/api/v1/users', wrong, { code: 'rate_limited', message }],
] as const) {
  test(`guessing ${name} pauses the address`, async (t) => {
    const from = newAddress();
    t.is((await guess(path, from, init)).filter((status) => status !== 429).length, 5);
    await isRefused(t, await ask(path, from, init), body);
  });
}

for (const path of [
  '/landreg/receipt/WHATEVER?sig=99999999999.guess',
  '/landreg/pay/WHATEVER?sig=1.guess',
  '/console/sign-in/guess-guess-guess-guess',
])
  test(`whoever opens ${path} keeps nobody of their address from paying or signing in`, async (t) => {
    const from = newAddress();
    const wrongLinks = await guess(path, from, {});
    t.false(wrongLinks.includes(429));
    t.is((await ask(`/generic/pay/${await createPayment(app)}`, from)).status, 200);
    t.is((await ask('/console/sign-in', from)).status, 200);
  });

test('a flood of links to sign in is refused, and payers of its address go on', async (t) => {
  const from = newAddress();
  const statuses: number[] = [];
  for (let time = 0; time < 41; time += 1)
    statuses.push((await ask('/console/sign-in/guess-guess-guess-guess', from)).status);
  t.deepEqual([statuses.at(-2), statuses.at(-1)], [404, 429]);
  t.is((await ask('/generic/pay/UNKNOWN', from)).status, 404);
});

for (const path of ['/generic/check', '/landreg/check', '/landreg/receipt/WHATEVER', '/api/v1/users'])
  test(`a request to ${path} without a credential is no guess, however often it comes`, async (t) => {
    t.deepEqual(await guess(path, newAddress(), {}), Array(7).fill(401));
  });

test('people see a page about it', async (t) => {
  const from = newAddress();
  await guess('/landreg/pay/WHATEVER', from);
  const page = await ask('/landreg/pay/WHATEVER?lang=ms', from, {
    headers: { ...wrong.headers, accept: 'text/html' },
  });
  t.is(page.status, 429);
  t.regex(await page.text(), /Terlalu banyak permintaan/);
});

test('what a caller writes into X-Forwarded-For gives it no other address', async (t) => {
  const from = newAddress();
  const statuses: number[] = [];
  for (let time = 0; time < 7; time += 1)
    statuses.push((await ask('/generic/check', `203.0.113.${time}, ${from}`, wrong)).status);
  t.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);

  const direct = await startApp({ config: { rateLimits } }, app);
  t.teardown(direct.close);
  for (let time = 0; time < 6; time += 1) await ask('/generic/check', newAddress(), wrong, direct);
  t.is((await ask('/generic/check', newAddress(), wrong, direct)).status, 429);
  t.is(direct.logged.at(-1)?.address, '127.0.0.1');
});

test('an address of IPv6 to which a proxy adds the port is that address', async (t) => {
  for (const [from, address] of [
    ['[2001:db8::1]:50000', '2001:db8::1'],
    ['[2001:db8:0:1::1]', '2001:db8:0:1::1'],
    ['198.51.100.250:50000', '198.51.100.250'],
  ] as const) {
    const requestId = (await ask('/generic/pay/UNKNOWN', from)).headers.get('x-request-id');
    t.is(app.logged.find((line) => line.requestId === requestId)?.address, address);
  }
});

for (const [whose, path, init] of [
  ['the land registry', '/landreg/check', { headers: { authorization: `Bearer ${landregAccessKey}` } }],
  ['a merchant', '/generic/check', museum],
  ['a program', '/api/v1/users', { headers: { authorization: `Bearer ${key}` } }],
] as const)
  test(`calls with the right credential of ${whose} are limited together, whatever their address`, async (t) => {
    const limited = await startApp({ config: { rateLimits, trustedProxies: 1, apiKeys: [key] } }, app);
    t.teardown(limited.close);
    // At once: on a slow machine, one after the other would take longer than the ten seconds that are counted together.
    const asked = Array.from({ length: 21 }, () => ask(path, newAddress(), init, limited));
    const [refused, ...answers] = (await Promise.all(asked)).toSorted((a, b) => b.status - a.status);
    t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    t.is(refused?.status, 429);
    t.true(Number(refused?.headers.get('retry-after')) <= 10);
    t.is((await ask('/generic/check', newAddress(), right, limited)).status, 200, 'another credential');
  });

test('lists of payments, each of which may look at 10,000, are limited for each merchant', async (t) => {
  const open = await startApp({}, app);
  t.teardown(open.close);
  const list = async (init: RequestInit) => (await ask('/generic/payments', '', init, open)).status;
  const statuses = await Promise.all(Array.from({ length: 301 }, () => list(museum)));
  t.deepEqual(statuses.toSorted().slice(-2), [200, 429]);
  t.is(await list(right), 200);
});

test('links to sign in, each of which may send an email, are limited for each address', async (t) => {
  const open = await startApp({ config: { trustedProxies: 1 } }, app);
  t.teardown(open.close);
  const statusFrom = async (address: string) =>
    (await ask('/console/sign-in', address, { method: 'POST', body: new URLSearchParams() }, open)).status;
  const from = newAddress();
  const statuses = await Promise.all(Array.from({ length: 301 }, () => statusFrom(from)));
  t.deepEqual(statuses.toSorted().slice(-2), [303, 429]);
  t.is(await statusFrom(newAddress()), 303);
});

test('a flood of pages from one address is refused', async (t) => {
  const from = newAddress();
  const answers: number[] = [];
  for (let time = 0; time < 41; time += 1) answers.push((await ask('/generic/pay/UNKNOWN', from)).status);
  t.deepEqual([answers.at(-2), answers.at(-1)], [404, 429]);
  t.is((await ask('/generic/pay/UNKNOWN', newAddress())).status, 404);
});

test('a flood of searches of the documentation from one address is refused, and payers of it go on', async (t) => {
  const from = newAddress();
  const answers: number[] = [];
  for (let time = 0; time < 301; time += 1) answers.push((await ask('/docs/search?q=x', from)).status);
  t.deepEqual([answers.at(-2), answers.at(-1)], [200, 429]);
  t.is((await ask('/docs', from)).status, 200);
  t.is((await ask('/generic/pay/UNKNOWN', from)).status, 404);
});

test('whoever has the link of a payment cannot use up its attempts from one address', async (t) => {
  const open = await startApp({}, app);
  t.teardown(open.close);
  const id = await createPayment(open);
  const statuses: number[] = [];
  for (let time = 0; time < 22; time += 1)
    statuses.push((await chooseMethod(open, id, { method: 'cc', again: 'yes' })).status);
  t.deepEqual(statuses, [...Array.from({ length: 20 }, () => 200), 429, 429]);
  t.is((await open.events(id)).length, 21);
  const refused = await chooseMethod(open, id, { method: 'cc', again: 'yes' });
  const page = await refused.text();
  t.regex(page, /This payment has been tried too often/, 'not: wait a few minutes');
  t.notRegex(page, /class="button"/, 'no button to try again');
  const other = await startApp({}, app);
  t.teardown(other.close);
  t.is((await chooseMethod(other, id, { method: 'cc', again: 'yes' })).status, 200, 'the payer');
});

test.serial('each pause is twice as long as the one before, up to an hour', async (t) => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const ctx = { path: '/', state: { address: newAddress() } } as unknown as Context;
  await createRateLimits(rateLimits)(ctx, async () => undefined);
  const guessed = () =>
    ctx.state
      .guess('a key', async () => null)
      .then(
        () => 0,
        ({ answer }) => answer.retryAfterSeconds,
      );
  const pauses: number[] = [];
  for (let time = 0; time < 8; time += 1) {
    // The last two are under way when the pause begins.
    t.deepEqual(await Promise.all(Array.from({ length: 7 }, guessed)), Array(7).fill(0));
    const pause = await guessed();
    pauses.push(pause);
    mock.timers.tick(pause * 1_000);
  }
  t.deepEqual(pauses, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
});

for (const [address, network] of [
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
] as const) {
  test(`${address} counts as ${network}`, (t) => t.is(networkOf(address), network));
}

for (const [trustedProxies, forwarded, isTold] of [
  [0, '198.51.100.7', true],
  [1, '', true],
  [2, '198.51.100.7', true],
  [2, '198.51.100.7, 10.0.0.1', false],
  [1, '10.9.9.9, 198.51.100.7', false],
] as const)
  test(`TRUSTED_PROXIES=${trustedProxies} and X-Forwarded-For: ${forwarded}`, async (t) => {
    const other = await startApp({ config: { trustedProxies } });
    t.teardown(() => other.close());
    await ask('/generic/check', forwarded, right, other);
    await ask('/generic/check', forwarded, right, other);
    const lines = other.logged.filter(({ msg }) => /^TRUSTED_PROXIES does not fit/.test(String(msg)));
    t.deepEqual(
      lines.map((line) => line.trustedProxies),
      isTold ? [trustedProxies] : [],
    );
  });
