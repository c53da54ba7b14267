// Requests that cost much before anybody knows who sent them: long queries, encoded bodies, bodies that never end, and
// connections without number.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { createDrain } from '@ledger/kernel/http-server.ts';
import test from 'ava';
import { createLimitedServer } from '../../../src/http/server/connection-limits.ts';
import { landregAccessKey, startApp } from '../../support/app.ts';
import { testRuntime } from '../../support/runtime.ts';
import {
  createPayment,
  postRequest,
  postResult,
  requestBody,
  resultFields,
  signed,
} from '../generic/helpers.ts';

const app = await startApp({ config: { sandbox: { enabled: true } } });
test.after.always(() => app.close());
const port = Number(new URL(app.url).port);

/** Opens a connection and sends text. */
async function send(text: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  // A connection that the server closes may break.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** All that the server sends until it closes the connection. */
async function answerTo(text: string): Promise<string> {
  const socket = await send(text);
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk) => (answer += chunk));
  await once(socket, 'close');
  return answer;
}

/** Opens so many connections, few at a time: those that overflow the system's queue would only look open. */
async function sendMany(count: number, text: string, localAddress?: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => send(text, localAddress)))));
    // An answer shows that the server has accepted those before it.
    await fetch(app.url, { method: 'HEAD' });
  }
  return sockets;
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.map(async (socket) => {
      if (socket.destroyed) return;
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    }),
  );
}

const longQueries = {
  '8,000 parameters': 'a&'.repeat(8_000),
  'as many as the headers allow': 'a&'.repeat(3_900),
  '51 parameters': 'a&'.repeat(50),
  '2,049 bytes': 'a'.repeat(2_049),
  '2,049 bytes of a known parameter': `lang=${'m'.repeat(2_044)}`,
};
const paths = [
  '/',
  '/verify/R-1',
  `/generic/receipt/${'0'.repeat(26)}`,
  '/generic/debug',
  '/generic/nothing',
  `/landreg/pay/${'0'.repeat(26)}`,
  '/api/v1/users',
  '/docs/search',
  '/console/payments',
];

for (const [title, query] of Object.entries(longQueries))
  test(`a query of ${title} is refused at every path`, async (t) => {
    await Promise.all(
      paths.map(async (path) => {
        const response = await fetch(`${app.url}${path}?${query}`, { redirect: 'manual' });
        t.is(response.status, query.length > 8_000 ? 431 : 400, path);
      }),
    );
  });

test('the refusal has the form of each interface', async (t) => {
  const query = 'lang=ms&'.repeat(51);
  const message =
    'The address is too long: after the question mark it may have at most 2048 bytes and 50 parameters';
  const api = await fetch(`${app.url}/api/v1/users?${query}`);
  t.deepEqual(await api.json(), { code: 'invalid_parameter', message });
  const check = await fetch(`${app.url}/generic/check?${query}`);
  t.deepEqual(await check.json(), { status: false, message });
  const page = await fetch(`${app.url}/generic/receipt/x?${query}`, { headers: { accept: 'text/html' } });
  // `lang` is not read from a query that is too long: the language is that of the browser.
  t.regex(await page.text(), /We could not read this request/);
  const headers = { accept: 'text/html', 'accept-language': 'ms' };
  const malay = await fetch(`${app.url}/generic/receipt/x?${query}`, { headers });
  t.regex(
    await malay.text(),
    /Alamat ini terlalu panjang: selepas tanda soal, paling banyak 2048 bait dan 50 parameter dibenarkan/,
  );
});

test('a long query is cut off before anything parses the address', async (t) => {
  const seen: (string | undefined)[] = [];
  const server = createLimitedServer((incoming, response) => {
    seen.push(incoming.url);
    response.end();
  });
  t.teardown(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const url of [
    `/a?${'b&'.repeat(3_900)}`,
    `/a?${'&'.repeat(50)}`,
    `/?${'?'.repeat(2_049)}`,
    '/a?b=c&d',
  ])
    await (await fetch(`${base}${url}`)).text();
  t.deepEqual(seen, ['/a', '/a', '/', '/a?b=c&d']);
});

test('a request line that names a whole URL means its path, also where no URL can be parsed', async (t) => {
  const targets = {
    'http://ledger.example/api/v1/health': /^HTTP\/1\.1 200 /,
    'HTTP://ledger.example:99999/nothing?a=b': /^HTTP\/1\.1 404 /,
    'http://[/nothing': /^HTTP\/1\.1 404 /,
    'http://?lang=ms': /^HTTP\/1\.1 200 /,
    'http://[': /^HTTP\/1\.1 200 /,
  };
  for (const [target, expected] of Object.entries(targets)) {
    const answer = await answerTo(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    t.regex(answer, expected, target);
    t.regex(answer, /\r\nX-Request-Id: /i, target);
  }
});

test('50 parameters and 2,048 bytes are answered', async (t) => {
  const id = await createPayment(app);
  for (const query of ['a&'.repeat(49), `lang=${'m'.repeat(2_043)}`])
    t.is((await fetch(`${app.url}/generic/receipt/${id}?${query}`)).status, 200);
});

test.serial('300 long queries take less than three seconds of CPU', async (t) => {
  const query = 'a&'.repeat(3_900);
  await fetch(`${app.url}/?${query}`);
  const before = process.cpuUsage();
  // Connections that are kept would count in the test of how many there may be.
  const headers = { connection: 'close' };
  const ask = async () => await (await fetch(`${app.url}/generic/receipt/x?${query}`, { headers })).text();
  await Promise.all(Array.from({ length: 300 }, ask));
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1_000_000;
  t.log(`${seconds.toFixed(2)} s`);
  t.true(seconds < 3);
});

const takesBody: [method: string, path: string, headers?: string][] = [
  ['GET', '/generic/check'],
  ['POST', '/generic/request'],
  ['POST', '/generic/response'],
  ['POST', `/generic/pay/${'0'.repeat(26)}`],
  ['POST', '/generic/simulate'],
  ['POST', '/landreg/request', `Authorization: Bearer ${landregAccessKey}\r\n`],
  ['POST', '/landreg/response'],
  ['POST', '/api/v1/users'],
  ['POST', '/console/sign-in'],
  ['POST', '/console/reconciliation'],
];

test('a result of thousands of lists within lists is malformed', async (t) => {
  for (const depth of [5_000, 30_000]) {
    const body = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const answer = await postResult(app, body, { 'content-type': 'application/json' });
    t.is(answer.status, 400);
  }
});

test('an encoded body is refused before any of it arrives', async (t) => {
  const encodings = ['br', 'gzip', 'deflate', 'zstd', 'identity, br', 'IDENTITY', 'x'];
  const cases = takesBody.flatMap((endpoint) => encodings.map((encoding) => ({ endpoint, encoding })));
  await Promise.all(
    cases.map(async ({ endpoint: [method, path, more = ''], encoding }) => {
      const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${more}`;
      const answer = await answerTo(
        `${head}Content-Type: application/json\r\nContent-Encoding: ${encoding}\r\nContent-Length: 14\r\n\r\n`,
      );
      t.regex(answer, /^HTTP\/1\.1 415 /, `${path} ${encoding}`);
    }),
  );
  const plain = await postRequest(app, requestBody(), { 'content-encoding': 'identity' });
  t.is(plain.status, 200);
});

const request = (body: string) =>
  `POST /api/v1/users HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n${body}`;

test.serial('1,900 bodies that never end keep nobody out', async (t) => {
  t.timeout(60_000);
  const id = await createPayment(app);
  const slow = await sendMany(1_900, request('{'));
  try {
    t.is((await postRequest(app, requestBody())).status, 200);
    const form = new FormData();
    form.set('STATUS', '1');
    const multipart = await fetch(`${app.url}/generic/response`, { method: 'POST', body: form });
    t.is(multipart.status, 401);
    t.is((await fetch(`${app.url}/generic/receipt/${id}`)).status, 200);
    t.true(slow.every((socket) => !socket.destroyed));
  } finally {
    await closeAll(slow);
  }
});

test.serial(
  'when bodies would hold more than 64 MiB, the address that holds the most loses its largest',
  async (t) => {
    t.timeout(60_000);
    app.logged.length = 0;
    const small = await send(request('{'));
    const body = `{"a":"${'x'.repeat(65_000)}`;
    const almostAll = `POST /api/v1/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n${body}`;
    const large = await sendMany(1_100, almostAll, '127.0.0.2');
    try {
      t.is((await postRequest(app, requestBody())).status, 200);
      let ended: Socket[] = [];
      while (ended.length < 70) {
        await setTimeout(50);
        ended = large.filter(({ bytesRead }) => bytesRead > 0);
      }
      t.true(ended.length < 120, String(ended.length));
      const answers = await Promise.all(ended.map(text));
      for (const answer of answers) {
        t.true(answer.startsWith('HTTP/1.1 503 '));
        t.regex(answer, /\r\nConnection: close\r\nRetry-After: 5\r\n.*"code":"unavailable"/s);
      }
      t.is(small.bytesRead, 0);
    } finally {
      await closeAll([small, ...large]);
    }
    const warnings = app.logged.filter(({ msg }) => msg === 'request refused');
    t.true(warnings.length >= 70 && warnings.every(({ level, err }) => level === 40 && err === undefined));
    t.deepEqual(
      app.logged.filter(({ level }) => Number(level) > 40),
      [],
    );
  },
);

test.serial(
  'callers who leave in the middle of a body, or send one that is no HTTP, leave no error in the log',
  async (t) => {
    app.logged.length = 0;
    const head = 'POST /generic/response HTTP/1.1\r\nHost: a\r\nContent-Type: ';
    const form = `${head}application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nSTATUS=`;
    const multipart = `${head}multipart/form-data; boundary=b\r\nContent-Length: 100\r\n\r\n--b`;
    const chunked = `${head}multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n`;
    for (const start of [form, multipart, chunked]) {
      (await send(start)).end();
      const reset = await send(start);
      await fetch(app.url, { method: 'HEAD' });
      reset.resetAndDestroy();
    }
    await answerTo(`${chunked}no length\r\n`);
    const count = () => app.logged.filter(({ route }) => route === '/generic/response').length;
    while (count() < 7) await setTimeout(10);
    const serious = app.logged.filter(({ level }) => Number(level) >= 40);
    t.deepEqual(serious, []);
  },
);

test.serial('two thousand connections: the next one is closed, until others are', async (t) => {
  t.timeout(60_000);
  const get = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  // The connection that checks each group counts too.
  const idle = await sendMany(1_950, '');
  for (let more = 0; more < 50; more += 1) idle.push(await send(''));
  let answer = await answerTo(get);
  t.is(answer, '');
  await closeAll(idle);
  while (answer === '') answer = await answerTo(get);
  t.regex(answer, /^HTTP\/1\.1 200 /);
});

test.serial('a connection waits longer for its next request than a proxy would keep it', async (t) => {
  const answer = await answerTo(
    'GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  t.regex(answer, /\r\nKeep-Alive: timeout=75\r\n.*\r\nConnection: close\r\n/s);
});

test('a request has half a minute to arrive', (t) => {
  t.is(createLimitedServer(() => {}).requestTimeout, 30_000);
});

test('a reader that takes no more of its answer is cut', async (t) => {
  const aborted = Promise.withResolvers<void>();
  const server = createLimitedServer((_, response) => {
    response.on('close', aborted.resolve);
    // More than the system buffers for one connection.
    response.end(Buffer.alloc(32 * 1024 * 1024));
  }, 200);
  t.teardown(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: ownPort } = server.address() as AddressInfo;
  const reader = connect(ownPort, '127.0.0.1').pause();
  reader.on('error', () => undefined);
  reader.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await aborted.promise;
  reader.destroy();
  t.pass();
});

test('a result of 1,000 fields is refused, whatever its format, and one of 999 is read', async (t) => {
  const id = await createPayment(app);
  const fieldsOf = (count: number) => {
    const fields = resultFields(id);
    const missing = count - 1 - Object.keys(fields).length;
    return signed({
      ...fields,
      ...Object.fromEntries(Array.from({ length: missing }, (_, n) => [`F${n}`, 'x'])),
    });
  };
  for (const count of [1_000, 1_500]) {
    t.is((await postResult(app, fieldsOf(count))).status, 400);
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify(fieldsOf(count));
    t.is((await fetch(`${app.url}/generic/response`, { ...json, body })).status, 400);
  }
  t.is((await app.events(id)).length, 1);
  t.is((await postResult(app, fieldsOf(999))).status, 303);
});

test('an expectation that nobody knows is ignored, and the answer has its request id', async (t) => {
  const answer = await answerTo(
    'GET /generic/check HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n',
  );
  t.regex(answer, /^HTTP\/1\.1 401 /);
  t.regex(answer, /\r\nX-Request-Id: \S+\r\n/);
});

test('a request with such an expectation ends its connection when the server stops, like any other', async (t) => {
  const requested = Promise.withResolvers<ServerResponse>();
  const { drain, listener } = createDrain((_, response) => requested.resolve(response), testRuntime());
  const server = createLimitedServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n');
  const response = await requested.promise;
  const drained = drain(server, 60_000);
  response.end('done');
  t.regex(await text(socket), /\r\nConnection: close\r\n/);
  await drained;
});
