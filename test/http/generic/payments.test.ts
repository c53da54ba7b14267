// A merchant reads its own payments and nobody else's, has callbacks sent again, and tests its receiver.
import test, { type ExecutionContext } from 'ava';
import { Webhook } from 'standardwebhooks';
import { decideDelivery } from '../../../src/commands/deliveries.ts';
import {
  evolve,
  noPayment,
  type PaymentEvent,
  paymentStream,
  readPaymentEvent,
} from '../../../src/events/payment.ts';
import { presentDeliveries } from '../../../src/http/generic/payments/show.ts';
import { paymentFields } from '../../../src/receipts/payment-fields.ts';
import { hang, startReceiver, status } from '../../reactors/receiver.ts';
import { byCode, merchants, startApp, type TestApp } from '../../support/app.ts';
import { described } from '../../support/described.ts';
import {
  applied,
  chosen,
  mismatched,
  opened,
  requested,
  result,
  sen,
  succeeded,
} from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { abandoned, type Populated, paidTwice, startPopulated } from '../console/populated.ts';
import {
  chooseMethod,
  createPayment,
  merchantHeaders,
  postRequest,
  postResult,
  requestBody,
  resultFields,
  signed,
  tokenOf,
} from './helpers.ts';

const postgres = await createDatabase();
const museum = { code: 'museum', id: 8, name: 'Museum' };
const museumHeaders = { authorization: 'Bearer older-key', 'x-merchant-code': 'museum' };
const paid = [chosen(1), succeeded(result(1, 'succeeded'))];

function foldPayment(events: readonly PaymentEvent[]) {
  const state = events.reduce(evolve, noPayment);
  if (state.status === 'none') throw new Error('no payment');
  return state;
}

type Shown = Record<string, unknown> & {
  transaction_id: string;
  history: { event: string; source: string; status: string; at: string; evidence: Record<string, string> }[];
  deliveries: { id: string; state: string; can_send_again: boolean; attempts: Record<string, unknown>[] }[];
};
type Answer<Data> = { status: boolean; message: string; data: Data };

const get = (app: TestApp, path: string, headers: Record<string, string> = merchantHeaders) =>
  fetch(path.startsWith('http') ? path : `${app.url}/generic${path}`, { headers });
const listed = async (response: Response) =>
  ((await response.json()) as Answer<Shown[]>).data.map(({ transaction_id }) => transaction_id);
const nextOf = (response: Response) =>
  /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];

const post = (
  app: TestApp,
  path: string,
  body?: unknown,
  headers: Record<string, string> = merchantHeaders,
) =>
  fetch(`${app.url}/generic${path}`, {
    method: 'POST',
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test.serial('the list holds a merchant’s own payments, by filter and page by page', async (t) => {
  const { app, payment, caughtUp } = await startPopulated(t, postgres);
  const done = await payment(paid, { reference: 'A-1' });
  const failed = await payment([chosen(1), applied(result(1, 'failed'))], { reference: 'A-2' });
  const wrong = await payment([chosen(1), mismatched(result(1, 'succeeded', { amountSen: sen(1) }))]);
  const open = await payment([], { at: '2026-11-21T01:00:00.000Z', amountSen: sen(100) });
  const theirs = await payment(paid, { reference: 'A-1', merchant: museum });
  await payment([], { channel: 'landreg' });
  await caughtUp();
  const found = async (query: string) => listed(await get(app, `/payments${query}`));
  t.deepEqual(await found(''), [open, wrong, failed, done], 'the latest first');
  t.deepEqual(await listed(await get(app, '/payments', museumHeaders)), [theirs]);
  t.deepEqual(await found('?trans_id=A-1'), [done]);
  t.deepEqual(await found('?status=1'), [done]);
  t.deepEqual(await found('?status=3'), [open, wrong], 'awaiting payment, and a wrong amount');
  t.deepEqual(await found('?amount=1'), [open]);
  t.deepEqual(await found('?amount=120.50&status=0'), [failed]);
  t.deepEqual(await found('?from=2026-11-21'), [open]);
  t.deepEqual(await found('?to=2026-11-20'), [wrong, failed, done]);
  t.deepEqual(await found('?from=2026-11-21T01:00:00Z&to=2026-11-21T01:00:01Z'), [open]);
  t.deepEqual(await found('?from=2026-11-21&to=2026-11-20'), []);
  t.deepEqual(await found('?from=1900-01-01&to=2099-12-31'), [open, wrong, failed, done]);
  t.deepEqual(await found(`?trans_id=${encodeURIComponent("A-1' or '1'='1\0")}`), []);

  t.deepEqual(await found('?limit=1'), [open]);
  for (const [filter, expected] of [
    ['to=2026-11-20', [wrong, failed, done]],
    ['from=2026-11-20T00:00:00Z&status=3', [open, wrong]],
  ] as const) {
    const seen: string[] = [];
    for (let url: string | undefined = `/payments?limit=1&${filter}`; url; ) {
      const response: Response = await get(app, url);
      seen.push(...(await listed(response)));
      url = nextOf(response);
    }
    t.deepEqual(seen, [...expected], filter);
  }
  t.deepEqual(await found(`?starting_after=${open}&limit=1&status=0`), [failed]);
  const body = await described(t, await get(app, '/payments?status=1'), '/generic/payments');
  const { data } = JSON.parse(body) as Answer<Shown[]>;
  t.like(data[0], {
    trans_id: 'A-1',
    status: '1',
    amount: '120.50',
    requested_at: '2026-11-20T09:00:00+08:00',
  });
  t.is(data[0]?.buyer_name, '', 'nothing about the payer');

  const odd = [
    'status=4',
    'status=',
    'status=succeeded',
    'status=1&status=0',
    'amount=1.001',
    'amount=-1',
    'amount=1e2',
    'from=yesterday',
    'from=2026-02-30',
    'to=',
    'limit=0',
    'limit=101',
    'limit=1.5',
    'merchant_code=museum',
    'Status=1',
    '__proto__=1',
    'starting_after=',
    'starting_after=x',
    `starting_after=${open.toLowerCase()}1`,
    `starting_after=${theirs}`,
    'starting_after=00000000000000000000000000',
    'starting_after=%00',
    'starting_after=%F0%9F%98%80',
    "starting_after=' or 1=1",
  ];
  const refusals = new Map<string, string>();
  for (const query of odd) {
    const response = await get(app, `/payments?${query}`);
    const { status: ok, message } = (await response.json()) as Answer<never>;
    t.deepEqual([response.status, ok], [400, false], query);
    refusals.set(query, message);
  }
  t.is(
    refusals.get(`starting_after=${theirs}`),
    refusals.get('starting_after=00000000000000000000000000'),
    'nobody learns that another merchant has a payment',
  );
  t.is(refusals.get('limit=0'), 'limit is not valid');
  t.regex(refusals.get('Status=1') ?? '', /^The query may only have status, trans_id, amount,/);
});

test.serial('a filter looks at 10,000 payments at a time, and the pages still lead to all', async (t) => {
  const { app, db, payment, caughtUp } = await startPopulated(t, postgres);
  const id = await payment(paid);
  await caughtUp();
  await db.raw(`
    insert into payments.payments (transaction_id, revision, state, channel, merchant_code, reference, status, mode,
      amount_sen, requested_at, updated_at, holds_personal_data, was_erased, mac, keys)
    select '7' || lpad(number::text, 25, '0'), 0, '{}', 'generic', 'council', 'R', 'requested', '', 100,
      '2026-11-21'::timestamptz + number * interval '1 second', now(), false, false, '', '{}'
    from generate_series(1, 10000) number`);
  const first = await get(app, '/payments?status=1');
  t.deepEqual(await listed(first), []);
  const second = await get(app, nextOf(first) ?? '');
  t.deepEqual(await listed(second), [id]);
  t.is(nextOf(second), undefined);
});

test.serial('a row that somebody has changed is not listed, but what its stream says', async (t) => {
  const { app, db, payment, caughtUp } = await startPopulated(t, postgres);
  const id = await payment([chosen(1), applied(result(1, 'failed'))]);
  await caughtUp();
  await db('payments.payments').update({
    state: db.raw(`replace(state::text, '"failed"', '"succeeded"')::json`),
  });
  const { data } = (await (await get(app, '/payments')).json()) as Answer<Shown[]>;
  t.like(data, [{ transaction_id: id, status: '0' }]);
  const [row] = await db('payments.payments');
  const made = { ...row, transaction_id: '7'.repeat(26), state: JSON.stringify(row.state) };
  await db('payments.payments').insert(made);
  t.deepEqual(await listed(await get(app, '/payments')), [id], 'a row without a stream is none');
  const theirs = await payment(paid, { merchant: museum });
  await caughtUp();
  await db('payments.payments').where({ transaction_id: theirs }).update({ merchant_code: 'council' });
  t.deepEqual(await listed(await get(app, '/payments')), [id], 'whose payment it is, its state says');
});

test.serial('without PostgreSQL the list is 503, and one payment is shown', async (t) => {
  const app = await startApp({ findOfMerchant: () => Promise.reject(new Error('no database')) });
  t.teardown(() => app.close());
  t.is((await get(app, '/payments')).status, 503);
  const id = await createPayment(app);
  t.is((await get(app, `/payments/${id}`)).status, 200);
});

test.serial('a payment is shown with its history, its deliveries and their attempts', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const id = await payment([...paidTwice, abandoned]);
  const response = await get(app, `/payments/${id}`);
  const text = await described(t, response, '/generic/payments/{id}');
  const { data } = JSON.parse(text) as Answer<Shown>;
  t.like(data, {
    transaction_id: id,
    status: '1',
    buyer_name: 'AMINAH BINTI ISMAIL',
    amount_refunded: '0.00',
    requested_at: '2026-11-20T09:00:00+08:00',
  });
  t.deepEqual(
    data.history.map(({ event, source, status: code }) => [event, source, code]),
    [
      ['requested', 'gateway', '3'],
      ['method_chosen', 'gateway', '3'],
      ['succeeded', 'gateway', '1'],
      ['paid_twice', 'gateway', '1'],
    ],
  );
  t.like(data.history[2], {
    at: '2026-11-20T09:05:00+08:00',
    evidence: {
      verified: 'true',
      amount: '120.50',
      payment_mode: 'FPX Online Banking (Individual)',
      gateway_transaction_no: 'P1',
      payment_datetime: '2026-11-20 09:04:30',
    },
  });
  t.like(data.deliveries[0], {
    id: 'callback-1',
    state: 'abandoned',
    can_send_again: true,
    attempts: [{ no: 1, answer_status: 500, reason: 'answered 500', duration_ms: 5 }],
  });
  for (const hidden of ['aminah@example.my', '900101145678', 'Jalan', '0123456789', 'account_no', 'staff:'])
    t.false(text.includes(hidden), hidden);
});

test.serial('another merchant’s payment is as unknown as one that does not exist', async (t) => {
  const { app, payment } = await startPopulated(t, postgres);
  const id = await payment([...paid, abandoned]);
  const land = await payment([], { channel: 'landreg' });
  const bodies = new Set<string>();
  const tries = [
    [id, museumHeaders],
    ['0000000000000000000000000Z', museumHeaders],
    [land, merchantHeaders],
    ['..%2F..', merchantHeaders],
    [`${id}0`, merchantHeaders],
  ] as const;
  for (const [asked, headers] of tries)
    for (const response of [
      await get(app, `/payments/${asked}`, headers),
      await post(app, `/payments/${asked}/deliveries/callback-1/send-again`, undefined, headers),
    ]) {
      t.is(response.status, 404);
      bodies.add(await response.text());
    }
  t.is(bodies.size, 1, [...bodies].join());
  for (const headers of [{}, { ...merchantHeaders, authorization: 'Bearer older-key' }])
    for (const path of ['/payments', `/payments/${id}`]) t.is((await get(app, path, headers)).status, 401);
  t.is((await app.events(id)).length, 4, 'nothing was recorded');
});

async function requestsFor({ app }: Populated, id: string): Promise<unknown[]> {
  const stored = await app.eventStore.load(paymentStream(id));
  return stored
    .filter((event) => readPaymentEvent(event).type === 'CallbackRequested')
    .map(({ metadata }) => Reflect.get(metadata as object, 'actor'));
}

test.serial(
  'a callback is sent again, recorded as the merchant’s wish; an email and a superseded one are not',
  async (t) => {
    const populated = await startPopulated(t, postgres);
    const { app, payment } = populated;
    const id = await payment([...paid, abandoned]);
    const path = (delivery: string) => `/payments/${id}/deliveries/${delivery}/send-again`;
    t.is((await post(app, path('callback-1'))).status, 202);
    t.is((await post(app, path('callback-1'))).status, 202, 'it is due already');
    t.deepEqual(await requestsFor(populated, id), ['merchant:council']);
    for (const odd of ['email', 'callback-2', 'CALLBACK-1', '__proto__', '%00'])
      t.is((await post(app, path(odd))).status, 404, odd);
    const older = await payment([
      chosen(1),
      applied(result(1, 'pending')),
      succeeded(result(1, 'succeeded')),
    ]);
    const superseded = await post(app, `/payments/${older}/deliveries/callback-1/send-again`);
    t.is(superseded.status, 409);
  },
);

test('after 50 attempts only staff can have it sent again', (t) => {
  const state = foldPayment([requested(), ...paid, abandoned]);
  const [delivery] = state.deliveries;
  if (!delivery) return t.fail();
  const at = '2026-11-20T03:00:00.000Z';
  const tried = (attempts: number) => ({ ...state, deliveries: [{ ...delivery, attempts }] });
  const command = { type: 'RequestDelivery', at, delivery: 'callback-1' } as const;
  t.like(decideDelivery({ ...command, maxAttempts: 50 }, tried(49)), { length: 1 });
  t.like(decideDelivery({ ...command, maxAttempts: 50 }, tried(50)), { code: 'too_many_deliveries' });
  t.like(decideDelivery(command, tried(50)), { length: 1 });
  const canSend = (attempts: number) =>
    presentDeliveries(tried(attempts), [], new Date(at))[0]?.can_send_again;
  t.deepEqual([canSend(49), canSend(50)], [true, false]);
  const waiting = {
    ...state,
    deliveries: [{ ...delivery, state: 'due' as const, dueAt: '2026-11-20T13:00:00.000Z' }],
  };
  const canSendAt = (time: string) => presentDeliveries(waiting, [], new Date(time))[0]?.can_send_again;
  t.deepEqual([canSendAt(at), canSendAt('2026-11-20T12:59:30.000Z')], [true, false]);
});

const secret = `whsec_${Buffer.from('a key of the tests, 32 bytes long').toString('base64')}`;

async function startSigning(t: ExecutionContext): Promise<TestApp> {
  const signing = merchants.map((each) => ({ ...each, webhookSecrets: [secret] }));
  const app = await startApp({ config: { merchants: byCode(signing) } });
  t.teardown(() => app.close());
  return app;
}

test.serial(
  'a test callback has every field of a real one, is signed, and says what the receiver answered',
  async (t) => {
    const app = await startSigning(t);
    const receiver = await startReceiver(t);
    const response = await post(app, '/test-callback', { callback_url: receiver.url, status: '1' });
    t.like(JSON.parse(await described(t, response, '/generic/test-callback', 'post')), {
      status: true,
      data: {
        delivered: true,
        answer_status: 200,
        sent: { headers: { 'webhook-id': receiver.received[0]?.headers['webhook-id'] } },
      },
    });
    const [received] = receiver.received;
    if (!received) return t.fail();
    const fields = new Webhook(secret).verify(
      received.body,
      received.headers as Record<string, string>,
    ) as object;
    t.deepEqual(
      Object.keys(fields).sort(),
      Object.keys(paymentFields(opened(foldPayment([requested()])))).sort(),
    );
    t.like(fields, {
      status: '1',
      payment_status: 'Successful',
      trans_id: 'TEST-CALLBACK',
      merchant_code: 'council',
    });

    receiver.answer = status(410);
    const gone = await post(app, '/test-callback', { callback_url: receiver.url });
    t.like(await gone.json(), { data: { delivered: false, answer_status: 410, reason: 'answered 410' } });
    t.is(JSON.parse(receiver.received[1]?.body ?? '').status, '3', 'nothing to book unless it is asked for');
    receiver.answer = hang;
    const hung = await post(app, '/test-callback', { callback_url: receiver.url });
    t.like(await hung.json(), {
      data: { delivered: false, answer_status: null, reason: 'no answer in time' },
    });

    for (const private_ of [
      'http://10.0.0.1/',
      'http://169.254.169.254/latest',
      'http://[::1]/',
      'http://localhost/',
    ])
      t.like(await (await post(app, '/test-callback', { callback_url: private_ })).json(), {
        data: { delivered: false, answer_status: null },
      });
    for (const body of [{}, { callback_url: 'ftp://x' }, { callback_url: receiver.url, status: '4' }, []])
      t.is((await post(app, '/test-callback', body)).status, 400);
    const limited = await Promise.all(
      Array.from({ length: 8 }, () => post(app, '/test-callback', { callback_url: 'http://10.0.0.1/' })),
    );
    t.true(limited.some((each) => each.status === 429 && each.headers.has('retry-after')));
    t.is(receiver.received.length, 3);
  },
);

test.serial('a merchant cancels a request that nobody paid, and an expired one cannot be paid', async (t) => {
  let now = new Date('2026-11-20T01:30:00.000Z');
  const app = await startApp({ clock: () => now });
  t.teardown(() => app.close());
  const expires_at = '2026-11-20T10:00:00+08:00';
  const cancelled = await createPayment(app, { callback_url: 'https://council.example/callback' });
  const body = await described(
    t,
    await post(app, `/payments/${cancelled}/cancel`),
    '/generic/payments/{id}/cancel',
    'post',
  );
  t.like(JSON.parse(body), { status: true });
  t.is((await post(app, `/payments/${cancelled}/cancel`)).status, 202, 'a repeat adds nothing');
  const [, ended, ...more] = await app.events(cancelled);
  t.like(ended, { type: 'PaymentCancelled', data: { source: 'merchant' } });
  t.like(ended?.data, { deliveries: [{ key: 'callback-1' }] }, 'it is told');
  t.deepEqual(more, []);
  t.is((await post(app, `/payments/${cancelled}/cancel`, undefined, museumHeaders)).status, 404);
  const page = (id: string, init?: RequestInit) =>
    fetch(`${app.url}/generic/pay/${id}`, { redirect: 'manual', ...init });
  t.is((await page(cancelled)).status, 303, 'its page leads to the statement');
  const statement = await (await fetch(`${app.url}/generic/receipt/${cancelled}`)).text();
  t.true(statement.includes('Cancelled by the agency'));
  t.false(statement.includes(`/generic/pay/${cancelled}`));

  const paid = await createPayment(app, { trans_id: 'EXPIRES', expires_at });
  const tried = await createPayment(app, { expires_at });
  const choice = { method: 'fpx', bank_fpx: 'MB2U0227' };
  t.is((await chooseMethod(app, paid, choice)).status, 200);
  t.is((await post(app, `/payments/${paid}/cancel`)).status, 409, 'the bank may have charged the payer');
  const token = tokenOf(await (await page(tried)).text());
  now = new Date(expires_at);
  t.is((await page(tried)).status, 303);
  const late = await chooseMethod(app, tried, { ...choice, token });
  t.is(late.headers.get('location'), `${app.url}/generic/receipt/${tried}?lang=en`);
  t.is((await app.events(tried)).length, 1);
  const closed = await (await fetch(`${app.url}/generic/receipt/${tried}`)).text();
  t.regex(closed, /this request can no longer be paid/);
  t.notRegex(closed, /If you have just paid/, 'nobody can have paid without an attempt');
  const awaited = await (await fetch(`${app.url}/generic/receipt/${paid}`)).text();
  t.regex(awaited, /If you have just paid.*Check the status again/s, 'the bank may still report a charge');
  await postResult(app, signed(resultFields(paid)));
  t.is((await app.events(paid)).at(-1)?.type, 'PaymentSucceeded', 'what comes is taken');

  now = new Date('2026-11-20T01:40:00.000Z');
  for (let round = 0; round < 5; round += 1) {
    const id = await createPayment(app);
    const form = { ...choice, token: tokenOf(await (await page(id)).text()) };
    const [{ status: answered }] = await Promise.all([
      post(app, `/payments/${id}/cancel`),
      chooseMethod(app, id, form),
    ]);
    const [, { type } = { type: '' }, ...none] = await app.events(id);
    t.deepEqual(
      [type, none],
      [answered === 202 ? 'PaymentCancelled' : 'PaymentMethodChosen', []],
      'one of them',
    );
  }

  now = new Date(expires_at);
  for (const odd of [
    { expires_at: 'tomorrow' },
    { expires_at: '2026-02-30T00:00:00Z' },
    { expires_at: 1 },
    { expires_at: [] },
    { expires_at: '2026-11-20T09:59:59+08:00' },
  ])
    t.is((await postRequest(app, requestBody(odd))).status, 400, JSON.stringify(odd));
  for (const none of [{ expires_at: '' }, { expires_at: null }])
    t.is((await postRequest(app, requestBody(none))).status, 200);
});
