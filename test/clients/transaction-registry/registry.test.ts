// What the registry may answer, over real connections: every status, several records, and everything that is no answer.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import test from 'ava';
import { pino } from 'pino';
import { RegistryUnavailable } from '../../../src/clients/transaction-registry/answer.ts';
import { createTransactionRegistry } from '../../../src/clients/transaction-registry/registry.ts';
import { transactionId as id } from '../../support/payments.ts';
import { listOf, registryRecord, startRegistry } from '../../support/registry.ts';
import { testRuntime } from '../../support/runtime.ts';

const log = pino({ level: 'silent' });
const record = (over: Record<string, unknown> = {}) => registryRecord(id, over);

test('a success is read in full, and the record is kept as it came', async (t) => {
  const registry = await startRegistry(t);
  const sent = record({ later_field: 7, buyer_name: 'AMINAH\u0000\ud800' });
  const received: Record<string, unknown> = {};
  registry.answer((request, response) => {
    Object.assign(received, {
      method: request.method,
      url: request.url,
      bearer: request.headers.authorization,
    });
    listOf(sent)(request, response);
  });
  const { ask } = createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: registry.url, token: 'a-token' },
    log,
  });
  const answer = await ask(id);
  t.deepEqual(received, {
    method: 'GET',
    url: `/transactions?merchant_trans_id=${id}`,
    bearer: 'Bearer a-token',
  });
  const raw = { ...sent, later_field: '7', buyer_name: 'AMINAH\u0000\ufffd' };
  t.deepEqual(answer as unknown, {
    status: 'succeeded',
    raw,
    others: [],
    results: [
      {
        outcome: 'succeeded',
        mode: 'fpx',
        sellerOrderNo: '',
        gatewayTransactionId: 'P1',
        amountSen: 12_050,
        currency: '',
        paidAt: '2026-11-20T01:04:30.000Z',
        receiptNo: 'R-9',
        buyerBank: 'Maybank2U',
        buyerName: 'AMINAH \ufffd',
        raw,
      },
    ],
  });
});

for (const [number, status, results] of [
  ['0', 'attempted', 0],
  ['1', 'succeeded', 1],
  ['2', 'failed', 1],
  ['3', 'pending', 1],
  ['99', 'not_found', 0],
  [2, 'failed', 1],
] as const) {
  test(`the registry's status ${typeof number} ${number} is ${status}`, async (t) => {
    const registry = await startRegistry(t);
    registry.answer(listOf(record({ eps_status: number })));
    const answer = await createTransactionRegistry({
      runtime: testRuntime(),
      config: { url: registry.url, token: 't' },
      log,
    }).ask(id);
    t.is(answer.status, status);
    t.is(answer.results.length, results);
    t.true(answer.results.every(({ outcome }) => outcome === status));
  });
}

test('a receipt number that is not plain is none; the evidence keeps it', async (t) => {
  const registry = await startRegistry(t);
  const receipt_no = '<b>R\u202e1</b>';
  registry.answer(listOf(record({ receipt_no })));
  const config = { url: registry.url, token: 't' };
  const answer = await createTransactionRegistry({ runtime: testRuntime(), config, log }).ask(id);
  t.like(answer.results, [{ receiptNo: '', raw: { receipt_no } }]);
});

test('a number keeps all its digits: it must be the same money as in the result of the gateway', async (t) => {
  const registry = await startRegistry(t);
  const sent = JSON.stringify([record({ gateway_id1: '{id}', amount: '{amount}' })]);
  const body = sent.replace('"{id}"', '26112009012399991').replace('"{amount}"', '120.50');
  registry.answer((_, response) => response.setHeader('content-type', 'application/json').end(body));
  const answer = await createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: registry.url, token: 't' },
    log,
  }).ask(id);
  t.like(answer.results[0], { gatewayTransactionId: '26112009012399991', amountSen: 12_050 });
  t.is(answer.raw.amount, '120.50');
});

for (const [title, statuses, status, ids] of [
  ['a success outranks a later failure', ['1', '2'], 'succeeded', ['P0']],
  ['every success is told, the oldest first', ['1', '2', '1'], 'succeeded', ['P0', 'P2']],
  ['what may still succeed outranks a failure', ['3', '2'], 'pending', ['P0']],
  ['an attempt under way outranks a failure', ['0', '2'], 'attempted', []],
  ['a success counts beside a record with an unknown status', ['7', '1'], 'succeeded', ['P1']],
  ['of several failures the latest counts', ['2', '2'], 'failed', ['P1']],
  ['no record at all is not found', [], 'not_found', []],
] as const) {
  for (const order of ['as they happened', 'backwards'] as const) {
    test(`${title}, records ${order}`, async (t) => {
      const registry = await startRegistry(t);
      const records = statuses.map((eps_status, index) =>
        record({ eps_status, gateway_id1: `P${index}`, payment_datetime: `2026-11-20 09:0${index}:00` }),
      );
      registry.answer(listOf(...(order === 'backwards' ? records.toReversed() : records)));
      const answer = await createTransactionRegistry({
        runtime: testRuntime(),
        config: { url: registry.url, token: 't' },
        log,
      }).ask(id);
      t.is(answer.status, status);
      t.deepEqual(
        answer.results.map(({ gatewayTransactionId }) => gatewayTransactionId),
        [...ids],
      );
    });
  }
}

test('a number of more digits than a double holds keeps them all', async (t) => {
  const registry = await startRegistry(t);
  const sent = JSON.stringify([record({ gateway_id1: '№', amount: 120.5 })]);
  registry.answer((_, response) => response.end(sent.replace('"№"', '26112009043012345678')));
  const config = { url: registry.url, token: '' };
  const answer = await createTransactionRegistry({ runtime: testRuntime(), config, log }).ask(id);
  t.like(answer.results[0], { gatewayTransactionId: '26112009043012345678', amountSen: 12_050 });
  t.is(answer.raw.gateway_id1, '26112009043012345678');
});

test('a byte order mark before an answer is no part of it', async (t) => {
  const registry = await startRegistry(t);
  registry.answer((_, response) => response.end(`\ufeff${JSON.stringify([record()])}`));
  const config = { url: registry.url, token: '' };
  const answer = await createTransactionRegistry({ runtime: testRuntime(), config, log }).ask(id);
  t.is(answer.status, 'succeeded');
});

test('an answer in Windows-1252 keeps its letters, and one in UTF-8 too', async (t) => {
  const registry = await startRegistry(t);
  const body = JSON.stringify([record({ buyer_name: 'JOSÉ' })]);
  const config = { url: registry.url, token: '' };
  const { ask } = createTransactionRegistry({ runtime: testRuntime(), config, log });
  for (const encoding of ['latin1', 'utf8'] as const) {
    registry.answer((_, response) => response.end(Buffer.from(body, encoding)));
    t.like(await ask(id), { raw: { buyer_name: 'JOSÉ' }, results: [{ buyerName: 'JOSÉ' }] });
  }
});

test("other people's transactions are left out, and the log says only how many", async (t) => {
  const registry = await startRegistry(t);
  const stranger = { merchant_trans_id: 'SOMEBODY', buyer_name: 'STRANGER', eps_status: '42' };
  registry.answer(listOf(record(stranger), record({ eps_status: '3' }), {}));
  const lines: string[] = [];
  const noted = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const { ask } = createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: registry.url, token: 't' },
    log: noted,
  });
  t.is((await ask(id)).status, 'pending');
  t.is(lines.length, 1);
  t.like(JSON.parse(lines[0] ?? ''), { records: 2 });
  t.notRegex(lines.join(), /SOMEBODY|STRANGER/);
});

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

/** Without an end, and as fast as it is read. */
const endless =
  (status: number): RequestListener =>
  (_, response) => {
    response.writeHead(status);
    const more = () => {
      while (response.write('[]'.repeat(32 * 1024)));
    };
    response.on('drain', more);
    more();
  };

const noAnswers: Record<string, [RequestListener, { asked: number }]> = {
  'an HTML page': [answering(200, '<html>Please log in</html>'), { asked: 1 }],
  'half of a JSON text': [answering(200, '[{"id":'), { asked: 1 }],
  'an object instead of a list': [answering(200, JSON.stringify(registryRecord(id))), { asked: 1 }],
  'a list of texts': [answering(200, '["1"]'), { asked: 1 }],
  'a field that is an object': [
    answering(200, JSON.stringify([record({ amount: { rm: 1 } })])),
    { asked: 1 },
  ],
  'a status that nobody knows': [answering(200, JSON.stringify([record({ eps_status: '7' })])), { asked: 1 }],
  'a status named like a method': [
    answering(200, JSON.stringify([record({ eps_status: 'toString' })])),
    { asked: 1 },
  ],
  nothing: [answering(204, ''), { asked: 1 }],
  'a refused token': [answering(401, '[]'), { asked: 1 }],
  'a page that is not there': [answering(404, '[]'), { asked: 1 }],
  'a redirect, which would carry the token away': [
    answering(302, '', { location: 'http://127.0.0.1:9/elsewhere' }),
    { asked: 1 },
  ],
  'a redirect with a list': [answering(302, '[]', { location: '/elsewhere' }), { asked: 1 }],
  'a fault of its own, three times': [answering(503, 'down'), { asked: 3 }],
  'more than it could have to say': [endless(200), { asked: 1 }],
  'an error without an end': [endless(404), { asked: 1 }],
  'an error whose body does not come': [
    (_, response) => {
      response.writeHead(403).flushHeaders();
    },
    { asked: 1 },
  ],
};

for (const [title, [listener, { asked }]] of Object.entries(noAnswers)) {
  test(`no answer: ${title}`, async (t) => {
    const registry = await startRegistry(t);
    registry.answer(listener);
    const { ask } = createTransactionRegistry({
      runtime: testRuntime(),
      config: { url: registry.url, token: 'secret-token' },
      log,
    });
    const error = await t.throwsAsync(ask(id), { instanceOf: RegistryUnavailable });
    t.is(error?.fault, 'no_answer');
    t.is(registry.asked.length, asked);
    t.notRegex(`${error?.message}${error?.stack}`, /secret-token|Please log in|5K3M9/);
  });
}

test('a registry that never answers, or never ends its answer, times out', async (t) => {
  const registry = await startRegistry(t);
  const ask = () =>
    createTransactionRegistry({
      runtime: testRuntime(),
      config: { url: registry.url, token: 't' },
      log,
      timeoutMs: 1_000,
    }).ask(id);
  registry.answer(() => undefined);
  t.is((await t.throwsAsync(ask(), { instanceOf: RegistryUnavailable }))?.fault, 'too_late');
  registry.answer((_, response) => {
    response.write('[');
  });
  t.is((await t.throwsAsync(ask(), { instanceOf: RegistryUnavailable }))?.fault, 'too_late');
  t.is(registry.asked.length, 2);
});

test('a registry that sends only interim answers is given up', async (t) => {
  const server = createSocketServer((socket) => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100);
    socket.on('error', () => {}).once('data', () => socket.write(interim));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const config = { url: `http://127.0.0.1:${port}`, token: 't' };
  const { ask } = createTransactionRegistry({ runtime: testRuntime(), config, log });
  t.is((await t.throwsAsync(ask(id), { instanceOf: RegistryUnavailable }))?.fault, 'unreachable');
});

test('nobody listens: no connection, after a few attempts', async (t) => {
  const closed = createServer();
  closed.listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  const { ask } = createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: `http://127.0.0.1:${port}`, token: 't' },
    log,
  });
  const error = await t.throwsAsync(ask(id), { instanceOf: RegistryUnavailable });
  t.is(error?.fault, 'unreachable');
  // Less than the pause before the second try.
  const brief = createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: `http://127.0.0.1:${port}`, token: 't' },
    log,
    timeoutMs: 150,
  });
  const late = await t.throwsAsync(brief.ask(id), { instanceOf: RegistryUnavailable });
  t.is(late?.fault, 'unreachable', 'also where time runs out between two tries');
});

for (const title of ['before', 'in the middle of'] as const) {
  test(`a connection that breaks ${title} the answer is retried`, async (t) => {
    const registry = await startRegistry(t);
    registry.answer((request, response) => {
      if (registry.asked.length > 1) return listOf(record())(request, response);
      if (title === 'before') return request.destroy();
      response.writeHead(200, { 'content-length': 1_000 }).write('[{');
      setImmediate(() => request.destroy());
    });
    const { ask } = createTransactionRegistry({
      runtime: testRuntime(),
      config: { url: registry.url, token: 't' },
      log,
    });
    t.is((await ask(id)).status, 'succeeded');
    t.is(registry.asked.length, 2);
  });
}
