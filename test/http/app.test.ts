// Every request: ids, logs, headers, and answers where no route matches.
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { apiKey, startApp } from '../support/app.ts';
import {
  chooseMethod,
  createPayment,
  postRequest,
  postResult,
  requestBody,
  resultFields,
  signed,
} from './generic/helpers.ts';

const app = await startApp();
test.after.always(() => app.close());

const html = { accept: 'text/html' };

test('an unknown path is 404: JSON for programs, a page for browsers', async (t) => {
  const json = await fetch(`${app.url}/generic/nothing`);
  t.deepEqual([json.status, await json.json()], [404, { status: false, message: 'Not found' }]);
  const page = await fetch(`${app.url}/nothing`, { headers: html });
  t.is(page.status, 404);
  t.true((await page.text()).includes('This page does not exist'));
});

test('a method that a path does not allow is 405, with the allowed ones', async (t) => {
  for (const [path, allow] of [
    ['/generic/check', 'HEAD, GET'],
    ['/generic/request', 'POST'],
    ['/generic/response', 'POST'],
    ['/generic/receipt/x', 'HEAD, GET, POST'],
  ] as const) {
    const response = await fetch(app.url + path, {
      method: 'DELETE',
      headers: { accept: 'application/json' },
    });
    t.deepEqual([response.status, response.headers.get('allow')], [405, allow], path);
    t.deepEqual(await response.json(), { status: false, message: 'Method not allowed' });
  }
});

test('a payer who opens the address of a form is not told that it does not exist', async (t) => {
  const response = await fetch(`${app.url}/generic/response`, { headers: html });
  t.is(response.status, 405);
  const page = await response.text();
  t.regex(page, /This page cannot be opened in this way/);
  t.notRegex(page, /does not exist/);
});

test('what is sent to a page of the documentation is answered by one of its pages', async (t) => {
  for (const path of ['/docs', '/docs/getting-started', '/reference', '/docs.md']) {
    const response = await fetch(app.url + path, { method: 'POST', headers: html, body: 'x=1' });
    t.deepEqual([response.status, response.headers.get('allow')], [405, 'HEAD, GET'], path);
    const page = await response.text();
    t.regex(page, /<h1>This page can only be read<\/h1>/);
    t.notRegex(page, /payment service/i, 'it is no page of payers');
  }
});

test('a method that no path allows is 405, and 404 at an unknown path', async (t) => {
  for (const method of ['TRACE', 'PROPFIND'])
    for (const [path, status] of [
      ['/generic/request', 405],
      ['/api/v1/health', 405],
      ['/api/v1/nothing', 404],
    ] as const) {
      const sent = httpRequest(app.url + path, { method }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      t.is(response.statusCode, status, `${method} ${path}`);
    }
});

test('a path has one spelling', async (t) => {
  for (const path of ['/generic/check/', '/GENERIC/check', '//generic/check', '/generic/%63heck/..'])
    t.is((await fetch(app.url + path)).status, 404, path);
});

test('HEAD answers as GET does, without a body', async (t) => {
  const response = await fetch(`${app.url}/`, { method: 'HEAD' });
  t.deepEqual([response.status, await response.text()], [200, '']);
});

test('a valid request id goes into the answer, the log and the events; any other is replaced', async (t) => {
  const response = await postRequest(app, requestBody(), {
    'x-request-id': 'order-2026.11_20',
    accept: 'application/json',
  });
  t.is(response.headers.get('x-request-id'), 'order-2026.11_20');
  const { data } = (await response.json()) as { data: { transaction_id: string } };
  const [event] = await app.eventStore.load(`payment-${data.transaction_id}`);
  t.like(event?.metadata, {
    $correlationId: 'order-2026.11_20',
    $causationId: 'order-2026.11_20',
    actor: 'merchant:council',
  });
  t.true(app.logged.some(({ requestId }) => requestId === 'order-2026.11_20'));
  for (const id of ['short', 'a b c d e f g h', `a${'b'.repeat(64)}`, '<script>alert(1)</script>']) {
    const replaced = await fetch(`${app.url}/`, { headers: { 'x-request-id': id } });
    t.regex(replaced.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  }
});

test('the log says what happened, without personal data or secrets', async (t) => {
  const body = requestBody();
  const id = await createPayment(app, body);
  await chooseMethod(app, id, { method: 'fpx', bank_fpx: 'MB2U0227' });
  await postResult(app, signed(resultFields(id)));
  await fetch(`${app.url}/generic/receipt/${id}?lang=ms&secret=query`);
  await fetch(`${app.url}/generic/receipt/${id}/more`);
  await postRequest(app, { ...body, email: 'not an address' });
  await postRequest(app, '{"broken": "leaked"');
  const lines = app.logged.map((line) => JSON.stringify(line));
  t.true(lines.some((line) => line.includes('/generic/receipt/:id') && line.includes(id.slice(0, 6))));
  const secrets = [
    id,
    apiKey,
    'Aminah',
    'aminah@',
    '900101',
    '120.50',
    'secret=query',
    'not an address',
    'leaked',
  ];
  for (const secret of secrets)
    t.deepEqual(
      lines.filter((line) => line.includes(secret)),
      [],
    );
});

test('when a request breaks off in a malformed chunk, none of its bytes reach the log', async (t) => {
  const broken = await startApp({}, app);
  try {
    const socket = connect(Number(new URL(broken.url).port), '127.0.0.1');
    const head = `POST /generic/request HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    socket.end(`${head}5\r\n{"nam\r\nnot a size: Aminah\r\n`).resume();
    await once(socket, 'close');
    while (broken.logged.length === 0) await setTimeout(10);
    t.like(broken.logged[0], { msg: 'request', route: '/generic/request', status: 400 });
    const logged = JSON.stringify(broken.logged);
    const rawBytes = JSON.stringify([...Buffer.from(apiKey)]).slice(1, -1);
    for (const leak of [apiKey, 'Aminah', rawBytes, 'rawPacket']) t.false(logged.includes(leak), leak);
  } finally {
    await broken.close();
  }
});

test('an unexpected error is a 500 with a fixed text, and its cause is logged', async (t) => {
  const faulty = await startApp(
    {
      eventStore: {
        append: () => Promise.reject(new Error('inner workings')),
        load: () => Promise.reject(new Error('inner workings')),
      },
    },
    app,
  );
  try {
    const json = await postRequest(faulty, requestBody());
    t.deepEqual([json.status, await json.json()], [500, { status: false, message: 'Internal error' }]);
    const page = await fetch(`${faulty.url}/generic/receipt/${'0'.repeat(26)}`);
    const text = await page.text();
    t.is(page.status, 500);
    t.true(text.includes('Something went wrong on our side'));
    t.true(text.includes(page.headers.get('x-request-id') ?? 'no id'));
    t.notRegex(text, /inner workings|\.ts:/);
    t.is(faulty.logged.filter((line) => JSON.stringify(line).includes('inner workings')).length, 2);
  } finally {
    await faulty.close();
  }
});

test('while the event store is down, requests are 503 with Retry-After', async (t) => {
  const unavailable = () => Promise.reject(new EventStoreUnavailable('down'));
  const down = await startApp({ eventStore: { append: unavailable, load: unavailable } }, app);
  try {
    const json = await postRequest(down, requestBody());
    t.is(json.status, 503);
    t.is(json.headers.get('retry-after'), '5');
    const page = await fetch(`${down.url}/generic/receipt/${'0'.repeat(26)}`);
    t.is(page.status, 503);
    t.true((await page.text()).includes('The service is not available at the moment'));
  } finally {
    await down.close();
  }
});

test('the front page shows a first payment where the sandbox runs, and only there', async (t) => {
  t.notRegex(await (await fetch(app.url)).text(), /curl/);
  const sandbox = await startApp({ config: { sandbox: { enabled: true } } }, app);
  try {
    const page = await (await fetch(sandbox.url)).text();
    t.true(page.includes(`curl ${sandbox.url}/generic/request`));
    t.true(page.includes('https://gateway.example/pay'));
  } finally {
    await sandbox.close();
  }
});
