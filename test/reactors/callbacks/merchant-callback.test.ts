// What a merchant's server is sent: the documented fields, in the merchant's format, signed as Standard Webhooks says.
import { createHmac } from 'node:crypto';
import { createOutbound } from '@ledger/outbound/post.ts';
import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { signaturesOf } from '../../../src/clients/merchant/callback-message.ts';
import type { CallbackSubject } from '../../../src/events/deliveries.ts';
import type { OpenPayment } from '../../../src/events/open-payment.ts';
import { evolve, noPayment, type PaymentEvent } from '../../../src/events/payment.ts';
import { createMerchantCallback } from '../../../src/reactors/callbacks/merchant-callback.ts';
import {
  chosen,
  opened,
  request,
  requested,
  result,
  sen,
  succeeded,
  transactionId,
} from '../../support/payments.ts';
import { testRuntime } from '../../support/runtime.ts';
import { hang, type Receiver, startReceiver, status } from '../receiver.ts';

const names = [
  'transaction_id',
  'trans_id',
  'status',
  'payment_status',
  'receipt_no',
  'payment_datetime',
  'buyer_name',
  'amount',
  'payment_mode',
  'fpx_charge',
  'buyer_bank',
  'fpx_transaction_no',
  'gateway_transaction_no',
  'seller_order_no',
  'merchant_code',
  'description',
  'service',
  'amount_received',
  'status_detail',
];
const now = new Date('2026-11-20T01:05:02.750Z');
const clock = () => now;

function paymentOf(...events: PaymentEvent[]): OpenPayment {
  const state = events.reduce(evolve, noPayment);
  if (state.status === 'none') throw new Error('no payment');
  return opened(state);
}
const paid = [requested(), chosen(1), succeeded(result(1, 'succeeded'))];

const to = ({ url }: Receiver) => ({ key: 'callback-1', kind: 'callback', url }) as const;

type Settings = { webhookSecrets: string[]; callbackFormat: 'json' | 'form' };

type More = {
  signal?: AbortSignal;
  about?: CallbackSubject;
  adjustments?: PaymentEvent[];
  allowHosts?: string[];
};

function callback(receiver: Receiver, settings?: Settings, more: More = {}) {
  const { signal, about, adjustments = [], allowHosts = ['127.0.0.1'] } = more;
  const perform = createMerchantCallback({
    merchantOf: async () => settings,
    post: createOutbound({ runtime: testRuntime(), allowHosts, httpsOnly: false }),
    runtime: testRuntime({ now: clock }),
  });
  const data = request({ callbackUrl: receiver.url });
  const payment = paymentOf({ type: 'PaymentRequested', data }, ...paid.slice(1), ...adjustments);
  const [delivery] = payment.deliveries;
  if (!delivery) throw new Error('no delivery');
  return perform({
    payment,
    delivery,
    planned: { ...to(receiver), ...(about && { about }) },
    correlationId: 'request-1',
    signal: signal ?? AbortSignal.timeout(60_000),
  });
}

test('json, with id and time, unsigned where there is no secret', async (t) => {
  const receiver = await startReceiver(t);
  t.deepEqual(await callback(receiver), {
    kind: 'delivered',
    status: 200,
    messageId: `${transactionId}-callback-1`,
  });
  const [received] = receiver.received;
  t.like(received?.headers, {
    'content-type': 'application/json',
    'x-correlation-id': 'request-1',
    'webhook-id': `${transactionId}-callback-1`,
    'webhook-timestamp': '1795136702',
    'webhook-signature': undefined,
  });
  t.deepEqual(Object.keys(JSON.parse(received?.body ?? '')), names);
});

test('a form, where the merchant wants one', async (t) => {
  const receiver = await startReceiver(t);
  await callback(receiver, { webhookSecrets: [], callbackFormat: 'form' });
  const [received] = receiver.received;
  t.is(received?.headers['content-type'], 'application/x-www-form-urlencoded');
  const form = new URLSearchParams(received?.body);
  t.deepEqual([...form.keys()], names);
  t.is(form.get('payment_status'), 'Successful');
});

const refunded: PaymentEvent = {
  type: 'PaymentRefunded',
  data: {
    at: '2026-11-22T02:00:00.000Z',
    by: 'staff:A',
    postingRule: 3,
    merchantCode: 'council',
    deliveries: [],
    chargeNo: 1,
    amountSen: sen(2_000),
    feeSen: sen(0),
    mode: 'fpx',
    gatewayReference: 'RF-1',
    reason: 'x',
  },
};

for (const [about, event] of Object.entries({
  partlyPaid: 'partly_paid',
  reversed: 'reversed',
  refunded: 'refunded',
} as const)) {
  test(`a callback about an adjustment has four fields more: ${event}`, async (t) => {
    const receiver = await startReceiver(t);
    await callback(receiver, undefined, { about: about as CallbackSubject, adjustments: [refunded] });
    const fields = JSON.parse(receiver.received[0]?.body ?? '');
    t.deepEqual(Object.keys(fields), [
      ...names,
      'event',
      'event_version',
      'amount_refunded',
      'reversed_datetime',
    ]);
    t.like(fields, {
      status: '1',
      event,
      event_version: '1',
      amount_refunded: '20.00',
      reversed_datetime: '',
    });
  });
}

test('the published verifier accepts each secret while two are in use, and no other', async (t) => {
  const receiver = await startReceiver(t);
  const [older, newer, other] = ['o', 'n', 'x'].map(
    (seed) => `whsec_${Buffer.from(seed.repeat(32)).toString('base64')}`,
  ) as [string, string, string];
  const plain = 'a plain secret, long enough';
  // The verifier compares with its own clock.
  const perform = createMerchantCallback({
    merchantOf: async () => ({ webhookSecrets: [older, newer, plain], callbackFormat: 'json' }),
    post: createOutbound({ runtime: testRuntime(), allowHosts: ['127.0.0.1'], httpsOnly: false }),
    runtime: testRuntime(),
  });
  const data = request({ callbackUrl: receiver.url });
  const payment = paymentOf({ type: 'PaymentRequested', data }, ...paid.slice(1));
  const [delivery] = payment.deliveries;
  if (!delivery) return t.fail();
  await perform({
    payment,
    delivery,
    planned: to(receiver),
    correlationId: '',
    signal: AbortSignal.timeout(60_000),
  });
  const [received] = receiver.received;
  const headers = received?.headers as Record<string, string>;
  const body = received?.body ?? '';
  const verifiers = [new Webhook(older), new Webhook(newer), new Webhook(plain, { format: 'raw' })];
  for (const verifier of verifiers) t.like(verifier.verify(body, headers), { status: '1' });
  t.throws(() => new Webhook(other).verify(body, headers));
  t.throws(() => new Webhook(older).verify(body.replace('120.50', '120.51'), headers));
  t.throws(() => new Webhook(older).verify(body, { ...headers, 'webhook-id': 'another' }));
});

test('a signature as Standard Webhooks gives it, one for each secret', (t) => {
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  const body = '{"test": 2432232314}';
  const published = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'a plain secret — long enough'];
  const ofPlain = createHmac('sha256', secrets[1] ?? '')
    .update(`${id}.1614265330.${body}`)
    .digest('base64');
  const now = new Date(1_614_265_330_999);
  t.is(signaturesOf(secrets, { id, now, body }), `${published} v1,${ofPlain}`);
});

const failures = {
  400: false,
  404: false,
  300: false,
  302: false,
  429: true,
  500: true,
  503: true,
};
for (const [code, isReceiverDown] of Object.entries(failures)) {
  test(`an answer of ${code} is a failure`, async (t) => {
    const receiver = await startReceiver(t, status(Number(code)));
    t.deepEqual(await callback(receiver), {
      kind: 'failed',
      status: Number(code),
      reason: `answered ${code}`,
      isReceiverDown,
      retryAfterMs: 0,
    });
  });
}

test('201 and 204 are deliveries, 410 ends it', async (t) => {
  const receiver = await startReceiver(t, status(201));
  t.like(await callback(receiver), { kind: 'delivered', status: 201 });
  receiver.answer = (response) => response.writeHead(204).end();
  t.like(await callback(receiver), { kind: 'delivered', status: 204 });
  receiver.answer = status(410);
  t.deepEqual(await callback(receiver), { kind: 'abandoned', status: 410, reason: 'answered 410' });
});

for (const [value, retryAfterMs] of [
  ['120', 120_000],
  ['1000000000000', 1e15],
  ['Fri, 20 Nov 2026 01:06:02 GMT', 59_250],
  ['Fri, 20 Nov 2020 01:06:02 GMT', 0],
  ['soon', 0],
  ['-5', 0],
] as const) {
  test(`Retry-After: ${value}`, async (t) => {
    const receiver = await startReceiver(t, status(503, { 'retry-after': value }));
    t.like(await callback(receiver), { kind: 'failed', retryAfterMs });
  });
}

test('no answer says why, and never where', async (t) => {
  const receiver = await startReceiver(t, hang);
  const hanging = await callback(receiver, undefined, { signal: AbortSignal.timeout(1_000) });
  t.deepEqual(hanging, {
    kind: 'failed',
    status: null,
    reason: 'no answer in time',
    isReceiverDown: true,
    retryAfterMs: 0,
  });
});

test('an address that may not be called is a failure, and not one of the receiver', async (t) => {
  const receiver = await startReceiver(t);
  const refused = await callback(receiver, undefined, { allowHosts: [] });
  t.like(refused, { kind: 'failed', status: null, isReceiverDown: false });
  t.notRegex('reason' in refused ? (refused.reason ?? '') : '', /127\.0/);
  t.is(receiver.received.length, 0);
});
