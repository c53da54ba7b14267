// What the land registry is sent of an item, how often within one try, and what its answers mean.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createOutbound, type PostOutbound } from '@ledger/outbound/post.ts';
import test, { type ExecutionContext } from 'ava';
import { callbackFields, createReportItem } from '../../../src/clients/land-registry/callback.ts';
import type { PaymentMode } from '../../../src/common/payment-modes.ts';
import type { PlannedDelivery } from '../../../src/events/deliveries.ts';
import type { OpenPayment } from '../../../src/events/open-payment.ts';
import { evolve, noPayment } from '../../../src/events/payment.ts';
import {
  createLandRegistryCallback,
  paidItemOf,
} from '../../../src/reactors/callbacks/land-registry-callback.ts';
import type { DeliveryOutcome } from '../../../src/reactors/deliveries/delivery-task.ts';
import {
  payer as aminah,
  chosen,
  opened,
  request,
  result,
  succeeded,
  transactionId,
} from '../../support/payments.ts';
import { testRuntime } from '../../support/runtime.ts';
import { type Answer, hang, startReceiver, status } from '../receiver.ts';

type Change = Partial<Parameters<typeof request>[0]>;

/** A payment of two items that succeeded. */
function paid(change: Change = {}, mode: PaymentMode | '' = 'fpx'): OpenPayment {
  const state = [
    { type: 'PaymentRequested', data: request({ channel: 'landreg', ...change }) } as const,
    ...(mode === '' ? [] : [chosen(1, { mode })]),
    succeeded(result(1, 'succeeded', { mode })),
  ].reduce(evolve, noPayment);
  if (state.status === 'none') throw new Error('no payment');
  return opened(state);
}

function itemOf(payment: OpenPayment, key: string) {
  const delivery = payment.deliveries.find((each) => each.key === key);
  if (!delivery) throw new Error(`no ${key}`);
  const planned: PlannedDelivery = { key, kind: 'item', item: Number(key.replace('item-', '')) };
  return { payment, delivery, planned };
}

const fieldsOf = (payment: OpenPayment, key = 'item-01') =>
  callbackFields(paidItemOf(itemOf(payment, key)), 'EPAYMENT');

test('every field, of each item its own', (t) => {
  const payment = paid();
  const first = {
    accountNo: 'A-1',
    idHakmilik: '080102GRN00012345',
    kodCaw: '0801',
    resitNo: '7-20261120-HE7CEVBBN545JZX2-01',
    amaun: '100.00',
    paymentDateTime: '20261120090430',
    paymentType: 'CABAMPAY',
    fpxNo: 'P1',
    transId: transactionId,
    dimasuk: 'EPAYMENT',
  };
  t.deepEqual(fieldsOf(payment), first);
  t.deepEqual(fieldsOf(payment, 'item-02'), {
    ...first,
    idHakmilik: '',
    resitNo: '7-20261120-HE7CEVBBN545JZX2-02',
    amaun: '20.50',
  });
});

test('one item carries the receipt number as it is', (t) => {
  const [item] = request({ channel: 'landreg' }).items;
  t.is(fieldsOf(paid({ items: item ? [item] : [] })).resitNo, '7-20261120-HE7CEVBBN545JZX2');
});

test('the account number, else the IC number, else nothing', (t) => {
  const nobody = { ...aminah, icNo: '' };
  t.is(fieldsOf(paid({ extra: { account_no: 12_345 } })).accountNo, '12345');
  t.is(fieldsOf(paid({ extra: { account_no: '' } })).accountNo, '900101145678');
  t.is(fieldsOf(paid({ extra: {} })).accountNo, '900101145678');
  for (const account_no of ['', null, {}, ['A-1'], true])
    t.is(fieldsOf(paid({ payer: nobody, extra: { account_no } })).accountNo, '');
});

const types: [PaymentMode | '', string, string][] = [
  ['fpx', 'CABAMPAY', 'P1'],
  ['fpx1', 'CABAMPAY', 'P1'],
  ['cc', 'CABAMCC', ''],
  ['dc', 'CABAMDC', ''],
  ['dnqr', 'CABAMQR', ''],
  ['wallet', 'CABAMPAY', ''],
  ['', '', ''],
];
for (const [mode, paymentType, fpxNo] of types)
  test(`paid by ${mode || 'nothing that was named'}: ${paymentType}`, (t) => {
    t.like(fieldsOf(paid({}, mode)), { paymentType, fpxNo });
  });

type Options = {
  url: string;
  attemptsBefore?: number;
  timeoutMs?: number;
  attempts?: number;
  post?: PostOutbound;
  access?: OpenPayment['access'];
};

/** Performs one try of the first item. */
function callback({ url, attemptsBefore = 0, timeoutMs = 10_000, attempts = 3, post, access }: Options) {
  const { delivery, ...task } = itemOf({ ...paid(), ...(access && { access }) }, 'item-01');
  const runtime = testRuntime({ now: () => new Date('2026-11-20T01:05:02.000Z') });
  const reportItem = createReportItem({
    config: {
      callbackUrl: url,
      accessToken: 'the-token',
      dimasuk: 'KAUNTER',
      timeoutMs,
      attempts,
      pauseMs: 5,
    },
    post:
      post ??
      createOutbound({
        runtime: testRuntime(),
        allowHosts: ['127.0.0.1'],
        httpsOnly: false,
        connectTimeoutMs: 100,
      }),
    runtime,
  });
  const perform = createLandRegistryCallback({ reportItem, runtime });
  const signal = AbortSignal.timeout(60_000);
  return perform({
    ...task,
    delivery: { ...delivery, attempts: attemptsBefore },
    correlationId: 'request-1',
    signal,
  });
}

const say =
  (code: number, body: unknown): Answer =>
  (response) =>
    response.writeHead(code).end(typeof body === 'string' ? body : JSON.stringify(body));
const accepted = { statusCode: 'SUCCESS', noresit: 'T-1' };
const resitNo = '7-20261120-HE7CEVBBN545JZX2-01';

test('as JSON, under the token, once', async (t) => {
  const receiver = await startReceiver(t, say(200, accepted));
  t.deepEqual(await callback(receiver), { kind: 'delivered', status: 200, messageId: resitNo });
  const [received, ...more] = receiver.received;
  t.deepEqual(more, []);
  t.like(received?.headers, {
    'access-token': 'the-token',
    'content-type': 'application/json',
    'x-correlation-id': 'request-1',
  });
  t.deepEqual(
    JSON.parse(received?.body ?? ''),
    callbackFields(paidItemOf(itemOf(paid(), 'item-01')), 'KAUNTER'),
  );
});

const failed = (code: number, reason: string): DeliveryOutcome => ({
  kind: 'failed',
  status: code,
  reason,
  isReceiverDown: code >= 500 || code === 429,
  retryAfterMs: 0,
});
const refused = failed(200, 'refused by the land registry');
const duplicate = (code: number): DeliveryOutcome => ({
  kind: 'abandoned',
  status: code,
  reason: 'refused as a duplicate',
});
const unreadable = failed(200, 'answered no readable reply');
const delivered = (code: number): DeliveryOutcome => ({
  kind: 'delivered',
  status: code,
  messageId: resitNo,
});

/** What is answered, what it means the first time, and what on a repeat where that differs. */
const answers: [string, Answer, DeliveryOutcome, DeliveryOutcome?][] = [
  ['accepted', say(201, accepted), delivered(201)],
  ['a number for a receipt', say(200, { statusCode: 0, noresit: 77 }), delivered(200)],
  ['a byte order mark before it', say(200, `\ufeff${JSON.stringify(accepted)}`), delivered(200)],
  ['FAILED', say(200, { statusCode: 'FAILED', noresit: 'T-1' }), refused],
  ['failed', say(200, { statusCode: ' failed', noresit: 'T-1' }), refused],
  ['an empty noresit', say(200, { statusCode: 'SUCCESS', noresit: ' ' }), refused],
  ['a noresit that is null', say(200, { statusCode: 'SUCCESS', noresit: null }), refused],
  ['no noresit', say(200, { statusCode: 'SUCCESS' }), refused],
  ['an empty object', say(200, {}), refused],
  ['a list', say(200, [accepted]), unreadable],
  ['an object for a noresit', say(200, { statusCode: 'SUCCESS', noresit: {} }), unreadable],
  ['no JSON', say(200, '<html>OK</html>'), unreadable],
  ['not JSON, but mentions a duplicate', say(200, '<html>duplicate</html>'), unreadable],
  ['nothing', say(204, ''), failed(204, 'answered no readable reply')],
  ['JSON of a word', say(200, '"SUCCESS"'), unreadable],
  ['100 KiB', say(200, { ...accepted, more: 'x'.repeat(100_000) }), unreadable],
  ['deep nesting', say(200, '['.repeat(60_000)), unreadable],
  [
    'a duplicate',
    say(200, { statusCode: 'FAILED', noresit: '', message: 'Duplicate resitNo and fpxNo' }),
    duplicate(200),
    delivered(200),
  ],
  [
    'a duplicate in Malay',
    say(200, { statusCode: 'FAILED', keterangan: 'Resit telah wujud' }),
    duplicate(200),
    delivered(200),
  ],
  ['409', say(409, ''), duplicate(409), delivered(409)],
  [
    'a duplicate as 400',
    say(400, { statusCode: 'FAILED', message: 'resit already exists' }),
    duplicate(400),
    delivered(400),
  ],
  ['400', say(400, { statusCode: 'FAILED', message: 'amaun' }), failed(400, 'answered 400')],
  ['accepted, but 400', say(400, accepted), failed(400, 'answered 400')],
  [
    'a database error that mentions duplicates',
    say(500, { error: 'Duplicate entry' }),
    failed(500, 'answered 500'),
  ],
  ['a redirect', status(302, { location: '/' }), failed(302, 'answered 302')],
  ['401', status(401), failed(401, 'answered 401')],
  ['gone', status(410), { kind: 'abandoned', status: 410, reason: 'answered 410' }],
];
for (const [name, answer, first, onRepeat = first] of answers)
  test(`answered: ${name}`, async (t) => {
    const receiver = await startReceiver(t, answer);
    t.deepEqual(await callback(receiver), first);
    t.deepEqual(await callback({ ...receiver, attemptsBefore: 1 }), onRepeat);
    t.is(receiver.received.length, 2, 'an answer is never followed by another attempt');
  });

test('a duplicate where the first attempt had to send twice: the first may have arrived', async (t) => {
  const post: PostOutbound = async () => ({ status: 409, retryAfter: '', body: '', isRepeat: true });
  t.deepEqual(await callback({ url: 'http://127.0.0.1:1/', post }), delivered(409));
});

const withoutPayer = [
  [{ kind: 'erased', at: null }, 'abandoned', 'personal data erased'],
  [{ kind: 'unavailable', isLost: true }, 'failed', 'personal data cannot be read any more'],
] as const;
for (const [access, kind, reason] of withoutPayer)
  test(`nothing is reported without an account number: ${reason}`, async (t) => {
    const receiver = await startReceiver(t, say(200, accepted));
    t.like(await callback({ ...receiver, access }), { kind, reason });
    t.is(receiver.received.length, 0);
  });

/** Takes connections and says nothing; to a TLS client that is no connection. */
async function startSilent(t: ExecutionContext) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}/callback`, connections: () => connections };
}
const noConnection: DeliveryOutcome = {
  kind: 'failed',
  status: null,
  reason: 'no connection in time',
  isReceiverDown: true,
  retryAfterMs: 0,
};

test('three attempts to connect in one delivery attempt', async (t) => {
  const silent = await startSilent(t);
  t.deepEqual(await callback(silent), noConnection);
  t.is(silent.connections(), 3);
});

test('fewer when the timeout comes first', async (t) => {
  const silent = await startSilent(t);
  t.deepEqual(await callback({ ...silent, attempts: 10, timeoutMs: 250 }), noConnection);
  t.true(silent.connections() < 10, String(silent.connections()));
});

test('the third attempt can succeed', async (t) => {
  const receiver = await startReceiver(t, say(200, accepted));
  const outbound = createOutbound({ runtime: testRuntime(), allowHosts: ['127.0.0.1'], httpsOnly: false });
  let attempts = 0;
  const post: PostOutbound = (sent) => {
    attempts += 1;
    return outbound(attempts < 3 ? { ...sent, url: 'http://127.0.0.1:1/' } : sent);
  };
  t.like(await callback({ url: receiver.url, post }), { kind: 'delivered' });
  t.is(receiver.received.length, 1);
});

test('once connected, there is no second attempt: the first may have arrived', async (t) => {
  const receiver = await startReceiver(t, (response) => response.destroy());
  t.like(await callback(receiver), { reason: 'connection closed before an answer', isReceiverDown: true });
  t.is(receiver.received.length, 1);
  receiver.answer = hang;
  t.like(await callback({ ...receiver, timeoutMs: 1_000 }), { status: null, reason: 'no answer in time' });
  t.is(receiver.received.length, 2);
});

test('an answer that breaks off is unreadable', async (t) => {
  const receiver = await startReceiver(t, (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"statusCode":"SUCCESS","nores', () => response.destroy());
  });
  t.deepEqual(await callback(receiver), unreadable);
});
