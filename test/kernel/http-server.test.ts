// How an HTTP server begins to listen, and how it ends without breaking off what it has begun.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { createDrain, namingHost } from '../../packages/kernel/http-server.ts';
import { exitCodeOf, failureText } from '../../src/cli/failure-text.ts';
import { testRuntime } from '../support/runtime.ts';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A server that answers when it is told to, and a request to it, or several at once, on a connection that stays open. */
async function serve(sent = request) {
  const responses: ServerResponse[] = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { drain: drainServer, listener } = createDrain((_, response) => {
    responses.push(response);
    return response.req.url === '/long' ? finished : undefined;
  }, testRuntime());
  const server = createServer({ keepAliveTimeout: 75_000 }, listener);
  const drain = (withinMs: number, idleMs?: number) => drainServer(server, withinMs, idleMs);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk) => (answer += chunk));
  const ended = once(socket, 'close').then(() => answer);
  const arrived = async (count: number) => {
    while (responses.length < count) await once(server, 'request');
  };
  socket.write(sent);
  await arrived(1);
  return { arrived, drain, ended, finish, responses, socket, response: responses[0] as ServerResponse };
}

test('a request that is under way is answered, and its connection ends with the answer, which says so', async (t) => {
  const { drain, ended, response } = await serve();
  const drained = drain(60_000);
  response.end('done');
  const answer = await ended;
  t.regex(answer, /^HTTP\/1\.1 200 OK\r\n.*\bConnection: close\r\n.*done$/s);
  await drained;
});

test('a connection whose answer has begun ends soon after it', async (t) => {
  const { drain, ended, response } = await serve();
  response.flushHeaders();
  const drained = drain(60_000);
  response.end('done');
  t.regex(await ended, /Connection: keep-alive.*done/s);
  await drained;
});

test('requests that came without waiting for the answers before them are all answered', async (t) => {
  const { arrived, drain, ended, responses, socket } = await serve(request.repeat(2));
  await arrived(2);
  const drained = drain(60_000);
  socket.write(request);
  await arrived(3);
  for (const [number, response] of responses.entries()) response.end(`answer ${number}`);
  t.regex(await ended, /answer 0.*answer 1.*Connection: close.*answer 2$/s);
  await drained;
});

test('a large answer that its client reads slowly arrives whole', async (t) => {
  const { drain, ended, response, socket } = await serve();
  socket.pause();
  const size = 50_000_000;
  response.end('x'.repeat(size));
  await setTimeout(100);
  const drained = drain(60_000);
  await setTimeout(100);
  socket.resume();
  const answer = await ended;
  t.is(answer.length - (answer.indexOf('\r\n\r\n') + 4), size);
  await drained;
});

test('a request that a proxy was sending on a connection that waited for it is answered', async (t) => {
  const { arrived, drain, ended, responses, response, socket } = await serve();
  response.end('answer 0');
  await once(socket, 'data');
  const drained = drain(60_000, 30_000);
  await setTimeout(100);
  socket.write(request);
  await arrived(2);
  responses[1]?.end('answer 1');
  t.regex(await ended, /Connection: keep-alive.*answer 0.*Connection: close.*answer 1$/s);
  await drained;
});

test('a connection on which no request comes is closed', async (t) => {
  const { drain, ended, response, socket } = await serve();
  response.end('done');
  await once(socket, 'data');
  // Longer than a test may take.
  await drain(300_000, 50);
  t.regex(await ended, /done$/);
});

test('what takes too long is cut off', async (t) => {
  const { drain, ended } = await serve();
  await drain(50);
  t.is(await ended, '');
});

test('what a request has begun is waited for although its client has left, but not for longer than an answer', async (t) => {
  for (const [withinMs, isFinished] of [
    [60_000, true],
    [50, false],
  ] as const) {
    const { drain, ended, finish, socket } = await serve(request.replace('/', '/long'));
    socket.destroy();
    await ended;
    let isDone = false;
    const drained = drain(withinMs);
    const finished = setTimeout(isFinished ? 200 : 1_000).then(() => {
      isDone = true;
      finish();
    });
    await drained;
    t.is(isDone, isFinished);
    await finished;
  }
});

test('an address that this machine does not have is told with its variable, and may be there at the next start', async (t) => {
  for (const [host, code] of [
    ['203.0.113.5', 'EADDRNOTAVAIL'],
    ['nonsense.invalid', /^(ENOTFOUND|EAI_AGAIN)$/],
  ] as const) {
    const error = await once(createServer().listen(0, host), 'listening').catch((reason) => reason);
    const text = failureText(namingHost(error, 'HOST'));
    t.regex(text, /^HOST must be an address of this machine: .*$/);
    t.regex(error.code, new RegExp(code), host);
    t.not(exitCodeOf(error), 78, 'a supervisor may start it again');
  }
  const taken = Object.assign(new Error('taken'), { code: 'EADDRINUSE' });
  t.is(namingHost(taken, 'HOST'), taken);
  t.is(taken.message, 'taken');
});
