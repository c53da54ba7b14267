// How an HTTP server begins to listen, and how it ends without breaking off what it has begun.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test from 'ava';
import { asHostFault, createDrain } from '../../packages/kernel/http-server.ts';
import { testRuntime } from '../support/runtime.ts';

/** A server that answers when it is told to, and one request to it on a connection that stays open. */
async function serve() {
  const requested = Promise.withResolvers<ServerResponse>();
  const server = createServer({ keepAliveTimeout: 75_000 }, (_, response) => requested.resolve(response));
  const drain = createDrain(server, testRuntime());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk) => (answer += chunk));
  const ended = once(socket, 'close').then(() => answer);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  return { drain, ended, response: await requested.promise };
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

test('what takes too long is cut off', async (t) => {
  const { drain, ended } = await serve();
  await drain(50);
  t.is(await ended, '');
});

test('an address that this machine does not have is a fault of its variable, and no other failure is', async (t) => {
  for (const host of ['203.0.113.5', 'nonsense.invalid']) {
    const error = await once(createServer().listen(0, host), 'listening').catch((reason) => reason);
    const fault = asHostFault(error, 'HOST');
    t.true(fault instanceof ConfigError, host);
    t.regex(String(fault), /HOST must be an address of this machine: /);
  }
  const taken = Object.assign(new Error('taken'), { code: 'EADDRINUSE' });
  t.is(asHostFault(taken, 'HOST'), taken);
});
