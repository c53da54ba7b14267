// Who has access under /landreg: the land registry by its key, a payer by a signed link, and nobody else.
import { hash } from 'node:crypto';
import test from 'ava';
import { landregAccessKey, startApp } from '../../support/app.ts';
import { createPayment, merchantHeaders, postResult, resultFields, signed } from '../generic/helpers.ts';
import { createLandPayment, keyHeaders, landResult, reportLandResult, requestBody } from './helpers.ts';

let now = new Date('2026-11-20T01:02:03.000Z');
const app = await startApp({ clock: () => now });
test.after.always(() => app.close());

const unauthorized = {
  status: 401,
  body: { status: false, message: 'Unauthorized - missing or invalid access key' },
};

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(app.url + path, {
    method,
    headers: { accept: 'application/json', ...headers },
    redirect: 'manual',
    ...(method === 'POST' && { body: JSON.stringify(requestBody()) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

test('check names the service, the time and the environment', async (t) => {
  t.deepEqual(await ask('/landreg/check', keyHeaders), {
    status: 200,
    body: {
      status: true,
      message: 'Connection successful',
      data: {
        service: 'Land registry payments',
        timestamp: '2026-11-20T09:02:03+08:00',
        environment: 'test',
      },
    },
  });
});

const wrongKeys: Record<string, Record<string, string>> = {
  'no key': {},
  'an empty key': { authorization: 'Bearer ' },
  'a wrong key': { authorization: 'Bearer wrong' },
  'a key with more behind it': { authorization: `${keyHeaders.authorization}x` },
  'another scheme': { authorization: keyHeaders.authorization.replace('Bearer', 'Basic') },
  'the key of a merchant': merchantHeaders,
};

for (const [title, headers] of Object.entries(wrongKeys))
  test(`the land registry's own calls, with ${title}: 401`, async (t) => {
    t.deepEqual(await ask('/landreg/check', headers), unauthorized);
    t.deepEqual(await ask('/landreg/requery/T-1', headers), unauthorized);
    t.deepEqual(await ask('/landreg/request', headers, 'POST'), unauthorized);
  });

test('the key may be configured by its SHA-256, which opens nothing itself', async (t) => {
  const digest = hash('sha256', landregAccessKey);
  const hashed = await startApp({ config: { landregAccessKeys: [`sha256:${digest}`] } }, app);
  t.teardown(() => hashed.close());
  const check = (headers: Record<string, string>) => fetch(`${hashed.url}/landreg/check`, { headers });
  t.is((await check(keyHeaders)).status, 200);
  t.is((await check({ authorization: `Bearer sha256:${digest}` })).status, 401);
});

test('where no key is configured, none is accepted', async (t) => {
  const without = await startApp({ config: { landregAccessKeys: [] } }, app);
  t.teardown(() => without.close());
  for (const authorization of ['', 'Bearer ', 'Bearer x'])
    t.is((await fetch(`${without.url}/landreg/check`, { headers: { authorization } })).status, 401);
});

test('the key is never read from the query, and a link opens no call of the land registry', async (t) => {
  const { payUrl } = await createLandPayment(app);
  const key = keyHeaders.authorization.slice('Bearer '.length);
  t.is((await ask(`/landreg/check?access_key=${key}&authorization=Bearer%20${key}`)).status, 401);
  t.is((await ask(`/landreg/check${new URL(payUrl).search}`)).status, 401);
});

test('the key is checked before anything is read or looked up', async (t) => {
  const response = await fetch(`${app.url}/landreg/request`, { method: 'POST', body: '{' });
  t.is(response.status, 401);
  t.is(response.headers.get('www-authenticate'), 'Bearer');
  for (const page of ['pay', 'receipt', 'download'])
    t.is((await ask(`/landreg/${page}/${'0'.repeat(26)}`)).status, 401);
});

for (const page of ['pay', 'receipt', 'download'] as const) {
  test(`${page}: opens with the key, or with its own link and no other`, async (t) => {
    const { transactionId, payUrl } = await createLandPayment(app);
    const other = await createLandPayment(app);
    const path = `/landreg/${page}/${transactionId}`;
    t.is((await fetch(`${app.url}${path}`, { headers: keyHeaders })).status, 200);
    const links = { pay: payUrl, receipt: '', download: '' };
    links.receipt =
      (await reportLandResult(app, transactionId, { STATUS: '0' })).headers.get('location') ?? '';
    const html = await (await fetch(links.receipt)).text();
    links.download = (/href="([^"]*\/download\/[^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');
    t.is((await fetch(links[page])).status, 200);

    const signature = new URL(links[page]).searchParams.get('sig') ?? '';
    const forged = [
      '',
      'x',
      `${signature}A`,
      signature.slice(0, -1),
      signature.replace(/^./, (digit) => String((Number(digit) + 1) % 10)),
      new URL(other.payUrl).searchParams.get('sig') ?? '',
      new URL(links[page === 'pay' ? 'receipt' : 'pay']).searchParams.get('sig') ?? '',
    ];
    for (const sig of forged)
      t.deepEqual(await ask(`${path}?sig=${sig}`), {
        status: 401,
        body: { status: false, message: 'An access key or a signed link is needed' },
      });
    t.is((await ask(path)).status, 401);
    t.is((await ask(`${path}?sig=${signature}&sig=${signature}`)).status, 401);
  });
}

test.serial('a link to pay works for a day; after that a page says that it has expired', async (t) => {
  const { payUrl } = await createLandPayment(app);
  const before = now;
  t.teardown(() => {
    now = before;
  });
  now = new Date(before.getTime() + 24 * 3_600_000);
  t.deepEqual(await ask(payUrl.slice(app.url.length)), {
    status: 401,
    body: { status: false, message: 'This link has expired' },
  });
  const page = await fetch(payUrl, { headers: { accept: 'text/html' } });
  t.is(page.status, 401);
  const text = await page.text();
  t.true(text.includes('This link has expired'));
  t.regex(text, /If you have paid, look at your receipt before you pay again/);
  t.is((await fetch(payUrl, { method: 'POST', body: new URLSearchParams() })).status, 401);
});

const endOf = (url: string) => new URL(url).searchParams.get('sig')?.split('.')[0];
const linksTo = (html: string, page: string) =>
  Array.from(html.matchAll(new RegExp(`(?:href|action)="([^"]*/${page}/[^"]*)"`, 'g')), ([, url = '']) =>
    url.replaceAll('&amp;', '&'),
  );

test.serial('whoever opens a link again is given no later one', async (t) => {
  const { transactionId, payUrl } = await createLandPayment(app);
  const before = now;
  t.teardown(() => {
    now = before;
  });
  now = new Date(before.getTime() + 12 * 3_600_000);
  const page = await (await fetch(payUrl)).text();
  const payLinks = linksTo(page, 'pay');
  t.is(payLinks.length, 2, 'the form, and the other language');
  for (const link of payLinks) t.is(endOf(link), endOf(payUrl));
  const expired = await fetch(payLinks[0] ?? '', { method: 'POST', body: new URLSearchParams() });
  for (const link of linksTo(await expired.text(), 'pay')) t.is(endOf(link), endOf(payUrl));

  const result = await reportLandResult(app, transactionId, { STATUS: '0' });
  const receiptUrl = result.headers.get('location') ?? '';
  now = new Date(before.getTime() + 13 * 3_600_000);
  const receipt = await (await fetch(receiptUrl)).text();
  for (const name of ['receipt', 'download'])
    for (const link of linksTo(receipt, name)) t.is(endOf(link), endOf(receiptUrl), name);
  t.deepEqual(linksTo(receipt, 'pay').map(endOf), [endOf(payUrl)], 'a day after the request');
  now = new Date(before.getTime() + 25 * 3_600_000);
  const later = await (await fetch(receiptUrl)).text();
  t.deepEqual(linksTo(later, 'pay'), [], 'the registry makes a new link');
  for (const [html, says] of [
    [receipt, false],
    [later, true],
  ] as const)
    t.is(html.includes('To pay, start again from the agency’s website.'), says);
});

test('a transaction is known under its own channel only', async (t) => {
  const land = await createLandPayment(app);
  const generic = await createPayment(app);
  const notFound = { status: 404, body: { status: false, message: 'Transaction not found' } };
  for (const page of ['pay', 'receipt', 'download']) {
    t.deepEqual(await ask(`/landreg/${page}/${generic}`, keyHeaders), notFound);
    t.deepEqual(await ask(`/generic/${page}/${land.transactionId}`), notFound);
  }
  t.is((await reportLandResult(app, generic)).status, 404);
  t.is((await postResult(app, signed(landResult(land.transactionId)))).status, 404);
  t.is((await postResult(app, signed(resultFields(land.transactionId)))).status, 404);
  for (const id of [land.transactionId, generic]) t.is((await app.events(id)).length, 1);
});

test('a page never shows the key, and no link is in the log', async (t) => {
  const { transactionId, payUrl } = await createLandPayment(app);
  const html = await (await fetch(payUrl)).text();
  t.false(html.includes(keyHeaders.authorization.slice('Bearer '.length)));
  const lines = JSON.stringify(app.logged);
  t.false(lines.includes(transactionId));
  t.false(lines.includes(new URL(payUrl).searchParams.get('sig') ?? ''));
});
