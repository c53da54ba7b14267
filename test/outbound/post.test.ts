// Requests to addresses that others chose: where they may go, and how little of a receiver's misbehaviour they bear.
import { createSocket } from 'node:dgram';
import type { LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import {
  AddressRefused,
  checkUrl,
  createGuardedLookup,
  isPublicAddress,
} from '@ledger/outbound/address-guard.ts';
import { createOutbound, NoAnswer } from '@ledger/outbound/post.ts';
import test, { type ExecutionContext } from 'ava';
import { hang, startReceiver, status } from '../reactors/receiver.ts';
import { testRuntime } from '../support/runtime.ts';

const allowHosts = ['127.0.0.1'];
const request = (url: string, signal = AbortSignal.timeout(60_000)) => ({
  url,
  headers: { 'content-type': 'application/json', 'user-agent': 'test' },
  body: '{"a":"1"}',
  signal,
});
const limits = { runtime: testRuntime(), allowHosts, httpsOnly: false, timeoutMs: 3_600_000 };
const post = createOutbound({ runtime: testRuntime(), allowHosts, httpsOnly: false });
/** Waits for an answer for as long as no test runs. */
const patient = createOutbound(limits);

const notPublic = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.0.1'],
  ...[
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.1.1',
    '198.18.0.1',
  ],
  ...['198.19.255.255', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255', '203.0.113.9'],
  ...['::', '::1', 'fc00::1', 'fd12::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '2001:db8::1'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1', '100::1', '3fff::1', '5f00::1'],
  ...['', 'localhost', '127.1', '1.2.3.4.5'],
];
const isPublic = ['1.1.1.1', '172.32.0.1', '100.128.0.1', '192.0.1.1', '2606:4700::1111', '2a00:1450::1'];

for (const address of notPublic) {
  test(`${address || 'nothing'} is not public`, (t) => t.false(isPublicAddress(address)));
}
for (const address of isPublic)
  test(`${address} is public`, (t) => {
    t.true(isPublicAddress(address));
    const host = address.includes(':') ? `[${address}]` : address;
    t.notThrows(() => checkUrl(new URL(`https://${host}/callback`), new Set(), true));
  });

// Each of these reaches the receiver of the test where nothing stops it.
const disguises = ['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0.0.0.0', 'localhost'];
for (const host of [...disguises, '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '127.0.0.1.']) {
  test(`nothing is sent to http://${host}`, async (t) => {
    const receiver = await startReceiver(t);
    const guarded = createOutbound({ runtime: testRuntime(), allowHosts: [], httpsOnly: false });
    const url = `http://${host}:${new URL(receiver.url).port}/`;
    const refusal = await t.throwsAsync(guarded(request(url)));
    t.true(refusal instanceof AddressRefused || refusal instanceof NoAnswer, String(refusal));
    t.deepEqual(receiver.received, []);
  });
}

test('a name is refused when any of its addresses is not public', async (t) => {
  for (const addresses of [['127.0.0.1'], ['1.1.1.1', '10.0.0.1'], ['2606:4700::1111', '::1'], []]) {
    const guarded = createOutbound({
      runtime: testRuntime(),
      allowHosts: [],
      httpsOnly: false,
      resolve: async () => addresses,
    });
    await t.throwsAsync(guarded(request('http://merchant.example/')), { instanceOf: AddressRefused });
  }
});

test('a name is connected to at its addresses, and an allowed one at whatever the system knows', async (t) => {
  const lookup = createGuardedLookup(new Set(['localhost']), async () => ['1.1.1.1', '2606:4700::1111']);
  const found = (host: string, options: LookupOptions) =>
    new Promise((resolve, reject) => {
      lookup(host, options, (error, address, family) => (error ? reject(error) : resolve([address, family])));
    });
  t.deepEqual(await found('council.example', { all: true }), [
    [
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ],
    undefined,
  ]);
  t.deepEqual(await found('council.example', {}), ['1.1.1.1', 4]);
  t.deepEqual(await found('localhost', { family: 4 }), ['127.0.0.1', 4]);
});

/** A name server that answers every question about a name with these addresses: 4 or 16 bytes each, in hexadecimal. */
async function startNameServer(t: ExecutionContext, addressesOf: Readonly<Record<string, string[]>>) {
  const server = createSocket('udp4', (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5;
    const name = query.toString('latin1', 13, end - 5).replaceAll(/[^a-z]/g, '.');
    const type = query.readUInt16BE(end - 4);
    const found = (addressesOf[name] ?? []).filter((each) => each.length === (type === 1 ? 8 : 32));
    const answers = found.map(
      (each) => `c00c${type === 1 ? '0001' : '001c'}000100000000${type === 1 ? '0004' : '0010'}${each}`,
    );
    const counts = `81800001000${found.length}00000000`;
    const parts = [
      query.subarray(0, 2),
      Buffer.from(counts, 'hex'),
      query.subarray(12, end),
      Buffer.from(answers.join(''), 'hex'),
    ];
    server.send(Buffer.concat(parts), port, address);
  }).bind(0, '127.0.0.1');
  await once(server, 'listening');
  const { resolve4 } = Resolver.prototype;
  Resolver.prototype.resolve4 = function (this: Resolver, ...given: Parameters<typeof resolve4>) {
    this.setServers([`127.0.0.1:${server.address().port}`]);
    return resolve4.apply(this, given);
  } as typeof resolve4;
  t.teardown(() => {
    Resolver.prototype.resolve4 = resolve4;
    server.close();
  });
}

test.serial(
  'name servers are asked for addresses of both kinds: either may be missing, and each is checked',
  async (t) => {
    const [four, six, own] = ['01010101', '26064700000000000000000000001111', `${'0'.repeat(31)}1`];
    await startNameServer(t, {
      'four.example': [four],
      'six.example': [six],
      'both.example': [four, six],
      'own.example': [four, own],
      'ownsix.example': [own],
    });
    const lookup = createGuardedLookup(new Set());
    const found = (host: string) =>
      new Promise((resolve, reject) => {
        lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
      });
    const [v4, v6] = [
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ];
    t.deepEqual(await found('four.example'), [v4]);
    t.deepEqual(await found('six.example'), [v6]);
    t.deepEqual(await found('both.example'), [v4, v6]);
    for (const host of ['own.example', 'ownsix.example'])
      await t.throwsAsync(found(host), { instanceOf: AddressRefused });
    await t.throwsAsync(found('none.example'), { code: 'ENODATA' });
  },
);

test('a name is looked up once per request, and that answer is the one connected to', async (t) => {
  const receiver = await startReceiver(t);
  // Rebinding: public when it is checked, private when somebody looked again.
  const answers = [['10.255.255.1'], ['127.0.0.1']];
  let asked = 0;
  const resolve = async () => answers[asked++] ?? [];
  const guarded = createOutbound({ runtime: testRuntime(), allowHosts: [], httpsOnly: false, resolve });
  const url = `http://merchant.example:${new URL(receiver.url).port}/`;
  await t.throwsAsync(guarded(request(url)), { instanceOf: AddressRefused });
  t.is(asked, 1);
  await t.throwsAsync(guarded(request(url)), { instanceOf: AddressRefused });
  t.is(asked, 2);
  t.deepEqual(receiver.received, []);
});

test('a connection serves several requests, for some seconds', async (t) => {
  const connections: Socket[] = [];
  const server = createHttpServer((incoming, response) => incoming.resume().on('end', () => response.end()));
  server.on('connection', (socket) => connections.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  let nowMs = 0;
  const runtime = { ...testRuntime(), monotonicMs: () => nowMs };
  server.keepAliveTimeout = 0;
  const post = createOutbound({ runtime, allowHosts, httpsOnly: false });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const send = async () => (await post(request(url))).status;
  await send();
  await send();
  t.is(connections.length, 1);
  nowMs += 4_000;
  await send();
  t.is(connections.length, 2);
  const [idle] = connections;
  if (idle?.closed === false) await once(idle, 'close');
  // The receiver closes the connection while the next request is on its way.
  server.once('request', () => connections[1]?.destroy());
  t.like(await post(request(url)), { status: 200, isRepeat: true });
  t.is(connections.length, 3);
  // It has had the request for some seconds, so that the connection was not idle: the attempt has failed.
  await send();
  const before = connections.length;
  server.once('request', () => {
    nowMs += 4_000;
    connections.at(-1)?.destroy();
  });
  await t.throwsAsync(send(), { instanceOf: NoAnswer, message: 'connection closed before an answer' });
  t.is(connections.length, before);
  await send();
  server.once('request', (_, response) => response.socket?.end('SSH-2.0-OpenSSH\r\n'));
  await t.throwsAsync(send(), { instanceOf: NoAnswer });
  t.is(connections.length, before + 1, 'an answer that is not HTTP is no closed connection');
  await send();
  // The receiver ends with the request that it has: it may have arrived, although nobody takes the second connection.
  server.once('request', () => server.close().closeAllConnections());
  const ended = await t.throwsAsync<NoAnswer>(send(), { message: 'connection refused' });
  t.true(ended?.wasConnected);
});

test('allowing a host does not allow another one on the same port', async (t) => {
  const receiver = await startReceiver(t);
  t.is((await post(request(receiver.url))).status, 200);
  const url = receiver.url.replace('127.0.0.1', 'localhost');
  await t.throwsAsync(post(request(url)));
  t.is(receiver.received.length, 1);
});

test('only https where it is required, except to an allowed host', async (t) => {
  const receiver = await startReceiver(t);
  const strict = createOutbound({
    runtime: testRuntime(),
    allowHosts,
    httpsOnly: true,
    resolve: async () => ['1.1.1.1'],
  });
  await t.throwsAsync(strict(request('http://merchant.example/')), { instanceOf: AddressRefused });
  t.is((await strict(request(receiver.url))).status, 200);
});

test('other schemes are refused', async (t) => {
  for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'unix:/var/run/docker.sock:/x'])
    await t.throwsAsync(post(request(url)), { instanceOf: AddressRefused });
});

test('body and headers arrive as given', async (t) => {
  const receiver = await startReceiver(t);
  await post(request(receiver.url));
  const [received] = receiver.received;
  t.is(received?.body, '{"a":"1"}');
  t.like(received?.headers, { 'content-type': 'application/json', 'user-agent': 'test' });
  t.is(received?.headers['content-length'], '9');
  t.is(received?.headers['accept-encoding'], undefined, 'a compressed answer would not be read');
});

test('a redirect is an answer, not followed', async (t) => {
  const inside = await startReceiver(t);
  const receiver = await startReceiver(t, status(302, { location: inside.url }));
  t.is((await post(request(receiver.url))).status, 302);
  t.deepEqual(inside.received, []);
});

test('status and Retry-After are returned whatever the status is', async (t) => {
  const receiver = await startReceiver(t, status(503, { 'retry-after': '120' }));
  t.deepEqual(await post(request(receiver.url)), {
    status: 503,
    retryAfter: '120',
    body: 'no',
    isRepeat: false,
  });
});

test('the body is returned, complete or as far as it arrived', async (t) => {
  const receiver = await startReceiver(t, (response) => response.end('{"noresit":"Ü1"}'));
  t.is((await post(request(receiver.url))).body, '{"noresit":"Ü1"}');
  receiver.answer = (response) => response.end('x'.repeat(100_000));
  t.is((await post(request(receiver.url))).body.length, 64 * 1024);
});

test('an answer of 10 MiB is not read to its end, and its status counts', async (t) => {
  let written = 0;
  const receiver = await startReceiver(t, (response) => {
    const mebibyte = Buffer.alloc(1024 * 1024);
    const more = () => {
      while (written < 10 && !response.destroyed) {
        written += 1;
        if (!response.write(mebibyte)) {
          response.once('drain', more);
          return;
        }
      }
    };
    more();
  });
  t.is((await post(request(receiver.url))).status, 200);
  t.true(written < 10, `${written} MiB were taken`);
});

test('an answer that breaks off counts by its status', async (t) => {
  const receiver = await startReceiver(t, (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  });
  t.is((await post(request(receiver.url))).status, 200);
});

test('an answer that arrives byte by byte is read for a limited time', async (t) => {
  let dripping = true;
  const receiver = await startReceiver(t, (response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('.'), 100);
    response.on('close', () => {
      clearInterval(drip);
      dripping = false;
    });
  });
  t.timeout(20_000);
  t.is((await patient(request(receiver.url))).status, 200);
  while (dripping) await new Promise((resolve) => setTimeout(resolve, 20));
  t.false(dripping);
});

test('a request to a hanging receiver ends when the signal aborts', async (t) => {
  const given = new AbortController();
  const receiver = await startReceiver(t, () => given.abort(new DOMException('It is over', 'TimeoutError')));
  t.timeout(20_000);
  await t.throwsAsync(patient(request(receiver.url, given.signal)), {
    instanceOf: NoAnswer,
    message: 'no answer in time',
  });
});

test('whoever never answers is given up: a name server, a server without TLS, a receiver', async (t) => {
  t.timeout(20_000);
  const receiver = await startReceiver(t, hang);
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const resolve = () => new Promise<never>(() => {});
  const hasty = { ...limits, connectTimeoutMs: 200, resolve };
  for (const [options, url, failure] of [
    [hasty, 'http://merchant.example/', { message: 'no connection in time', wasConnected: false }],
    [hasty, `https://127.0.0.1:${port}/`, { message: 'no connection in time', wasConnected: false }],
    [{ ...limits, timeoutMs: 200 }, receiver.url, { message: 'no answer in time', wasConnected: true }],
  ] as const)
    t.like(await t.throwsAsync(createOutbound(options)(request(url)), { instanceOf: NoAnswer }), failure);
});

test('a connection that is closed without an answer', async (t) => {
  const receiver = await startReceiver(t, (response) => response.destroy());
  await t.throwsAsync(post(request(receiver.url)), {
    instanceOf: NoAnswer,
    message: 'connection closed before an answer',
  });
});

test('NoAnswer says whether there was a connection: only without one can nothing have arrived', async (t) => {
  const receiver = await startReceiver(t, (response) => response.destroy());
  const { port } = new URL(receiver.url);
  const wasConnected = async (url: string) => {
    const error = await t.throwsAsync(post(request(url)), { instanceOf: NoAnswer });
    return error?.wasConnected;
  };
  t.true(await wasConnected(receiver.url));
  t.false(await wasConnected(`https://127.0.0.1:${port}/`), 'no TLS, no request');
  t.false(await wasConnected('http://127.0.0.1:1/'));
});

for (const interim of ['100 Continue', '103 Early Hints']) {
  test(`a receiver that sends only “${interim}” is given up`, async (t) => {
    let sent = 0;
    const server = createServer((socket) => {
      const more = () => {
        if (!socket.writable || sent > 5_000) return;
        sent += 1;
        socket.write(`HTTP/1.1 ${interim}\r\n\r\n`, more);
      };
      socket.on('error', () => {}).once('data', more);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const post = createOutbound({ runtime: testRuntime(), allowHosts, httpsOnly: false, timeoutMs: 10_000 });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const failure = await t.throwsAsync(post(request(url)), { instanceOf: NoAnswer });
    t.like(failure, { message: 'only interim answers', wasConnected: true });
  });
}

test('interim answers before the final one change nothing', async (t) => {
  const server = createHttpServer((_, response) => {
    for (let number = 0; number < 5; number++) response.writeEarlyHints({ link: '</a>; rel=preload' });
    response.end('done');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  t.like(await post(request(url)), { status: 200, body: 'done' });
});

test('an answer that is not HTTP', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-OpenSSH\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await t.throwsAsync(post(request(url)), {
    instanceOf: NoAnswer,
    message: 'an answer that is not HTTP/1.1',
  });
});

test('a receiver that speaks no TLS which this service accepts', async (t) => {
  const receiver = await startReceiver(t, () => status(200));
  const url = receiver.url.replace('http:', 'https:');
  await t.throwsAsync(post(request(url)), {
    instanceOf: NoAnswer,
    message: 'no TLS connection that both sides accept',
  });
});

test('nobody listens', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  server.close();
  await once(server, 'close');
  await t.throwsAsync(post(request(url)), { instanceOf: NoAnswer, message: 'connection refused' });
});

test('a name server that cannot be reached is not taken for a receiver that refuses', async (t) => {
  // As Node reports it.
  const fault = { code: 'ECONNREFUSED', syscall: 'queryA' };
  const post = createOutbound({
    runtime: testRuntime(),
    allowHosts: [],
    httpsOnly: false,
    resolve: () => Promise.reject(Object.assign(new Error('queryA ECONNREFUSED'), fault)),
  });
  await t.throwsAsync(post(request('http://secret.example/')), { message: 'name server did not answer' });
});

test('a host whose name cannot be in the DNS does not exist', async (t) => {
  const post = createOutbound({ runtime: testRuntime(), allowHosts: [], httpsOnly: false });
  await t.throwsAsync(post(request('http://a..b/')), { message: 'no such host' });
});

test('no message names the address', async (t) => {
  const unknown = createOutbound({
    runtime: testRuntime(),
    allowHosts: [],
    httpsOnly: false,
    resolve: () => Promise.reject(Object.assign(new Error('secret.example'), { code: 'ENOTFOUND' })),
  });
  const refusal = await t.throwsAsync(unknown(request('http://secret.example/path')));
  t.is(refusal?.message, 'no such host');
});
