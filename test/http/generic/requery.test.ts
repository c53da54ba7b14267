// GET /generic/requery: the merchant's answer and the payment's history for everything that the registry may say.
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test, { type ExecutionContext } from 'ava';
import { transactionIdOf } from '../../../src/commands/transaction-id.ts';
import { evolve, noPayment, paymentStream } from '../../../src/events/payment.ts';
import type { PaymentRow } from '../../../src/projections/payments/queries.ts';
import { until } from '../../embedded/helpers.ts';
import { startApp, type TestApp, transactionIdKey } from '../../support/app.ts';
import { countLoads } from '../../support/count-loads.ts';
import { resolving, sen } from '../../support/payments.ts';
import {
  askedThrough,
  listOf,
  type Registry,
  registryRecord,
  startRegistry,
} from '../../support/registry.ts';
import {
  carryOut,
  chooseMethod,
  createPayment,
  merchantHeaders,
  postRequest,
  postResult,
  requestBody,
  resultFields,
  signed,
} from './helpers.ts';

let store: TestApp;
test.before(async () => {
  store = await startApp();
});
test.after.always(() => store.close());

type Parts = { app: TestApp; registry: Registry; requery: (reference: string) => Promise<Answer> };
type Answer = { status: number; body: Record<string, unknown> };

async function start(t: ExecutionContext, timeoutMs?: number): Promise<Parts> {
  const registry = await startRegistry(t);
  const app = await startApp({ registry: askedThrough(registry, timeoutMs) }, store);
  t.teardown(() => app.close());
  return { app, registry, requery: (reference) => requeryAs(app, reference, merchantHeaders) };
}

async function requeryAs(
  app: TestApp,
  reference: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<Answer> {
  const url = `${app.url}/generic/requery/${encodeURIComponent(reference)}`;
  const response = await fetch(url, { method, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** A payment whose payer went to the bank. */
async function paymentAtTheBank(app: TestApp, reference: string): Promise<string> {
  const id = await createPayment(app, { trans_id: reference });
  await chooseMethod(app, id, { method: 'fpx', bank_fpx: 'MB2U0227', bank_fpx1: '' });
  return id;
}

const typesOf = async (app: TestApp, id: string) => (await app.events(id)).map(({ type }) => type);

const answers = [
  ['1', 200, 'PaymentSucceeded', '1', 'The registry says successful: status updated to Successful'],
  ['2', 200, 'PaymentFailed', '0', 'The registry says failed: status updated to Failed'],
  ['3', 200, 'PaymentPending', '3', 'The registry says pending: status updated to Pending'],
  [
    '0',
    200,
    'RequeryAnswered',
    '3',
    'The registry says attempted, without a result yet: status remains Pending',
  ],
  ['99', 404, 'RequeryAnswered', null, 'The transaction registry has no record of this transaction'],
] as const;

for (const [epsStatus, status, event, wire, message] of answers) {
  test(`the registry's ${epsStatus} is answered with ${status} and recorded as ${event}`, async (t) => {
    const { app, registry, requery } = await start(t);
    const reference = `STATUS-${epsStatus}`;
    const id = await paymentAtTheBank(app, reference);
    registry.answer(listOf(registryRecord(id, { eps_status: epsStatus })));
    const { status: answered, body } = await requery(reference);
    t.is(answered, status);
    t.is(body.message, message);
    t.is(body.success, status === 200);
    if (wire !== null) t.like(body.data, { transaction_id: id, trans_id: reference, status: wire });
    const last = (await app.events(id)).at(-1);
    t.is(last?.type, event);
    if (epsStatus === '1') t.like(last?.data, { source: 'requery', verified: true, receiptNo: 'R-9' });
    const [stored] = (await app.eventStore.load(`payment-${id}`)).slice(-1);
    t.like(stored?.metadata, { actor: 'registry' });
  });
}

test('a lost success is found: the answer has every documented field, and a repeated requery changes nothing', async (t) => {
  const { app, registry, requery } = await start(t);
  const id = await paymentAtTheBank(app, 'LOST-1');
  registry.answer(listOf(registryRecord(id)));
  const { body } = await requery('LOST-1');
  t.deepEqual(body.data, {
    transaction_id: id,
    trans_id: 'LOST-1',
    status: '1',
    payment_status: 'Successful',
    receipt_no: 'R-9',
    payment_datetime: '2026-11-20 09:04:30',
    buyer_name: 'AMINAH BINTI ISMAIL',
    amount: '120.50',
    payment_mode: 'FPX Online Banking (Individual)',
    fpx_charge: '0.00',
    buyer_bank: 'Maybank2U',
    fpx_transaction_no: 'P1',
    gateway_transaction_no: 'P1',
    seller_order_no: `${id}-1`,
    merchant_code: 'council',
    description: 'Second half of 2026',
    service: 'Assessment tax',
    amount_received: '',
    status_detail: '',
  });
  const again = await requery('LOST-1');
  t.deepEqual(again.body.data, body.data);
  t.is(again.body.message, 'The registry says successful: status remains Successful');
  t.deepEqual(await typesOf(app, id), ['PaymentRequested', 'PaymentMethodChosen', 'PaymentSucceeded']);
});

test("the gateway's own result, arriving later, only names the order", async (t) => {
  const { app, registry, requery } = await start(t);
  const id = await paymentAtTheBank(app, 'LATE-1');
  registry.answer(listOf(registryRecord(id, { gateway_id1: 'P-1' })));
  await requery('LATE-1');
  const response = await postResult(app, signed(resultFields(id)));
  t.is(response.status, 303);
  t.deepEqual(await typesOf(app, id), [
    'PaymentRequested',
    'PaymentMethodChosen',
    'PaymentSucceeded',
    'GatewayResultIdentified',
  ]);
});

test('another amount is not a payment: it is kept for staff, reported, and the payment stays open', async (t) => {
  const { app, registry, requery } = await start(t);
  const id = await paymentAtTheBank(app, 'AMOUNT-1');
  for (const amount of ['120.51', '120.51', 'RM 120.50']) {
    registry.answer(listOf(registryRecord(id, { amount, gateway_id1: amount })));
    const { status, body } = await requery('AMOUNT-1');
    t.is(status, 200);
    t.like(body.data, { status: '3', receipt_no: '' });
    t.regex(String(body.message), /status remains Pending$/);
  }
  t.deepEqual((await typesOf(app, id)).slice(2), ['AmountMismatchDetected', 'AmountMismatchDetected']);
});

test('two successes are one payment and one duplicate for staff', async (t) => {
  const { app, registry, requery } = await start(t);
  const id = await paymentAtTheBank(app, 'TWICE-1');
  const second = { gateway_id1: 'P2', payment_datetime: '2026-11-20 09:06:00' };
  registry.answer(listOf(registryRecord(id, second), registryRecord(id)));
  const { body } = await requery('TWICE-1');
  t.like(body.data, { fpx_transaction_no: 'P1', status: '1' });
  t.regex(String(body.message), /paid a second time.*status updated to Successful$/);
  t.deepEqual((await typesOf(app, id)).slice(2), ['PaymentSucceeded', 'DuplicatePaymentDetected']);
});

test('what the registry supersedes is said to come from it', async (t) => {
  const { app, registry, requery } = await start(t);
  const id = await paymentAtTheBank(app, 'SUPERSEDED-1');
  await postResult(app, signed(resultFields(id, { AMOUNT: '121.50', PAYMENT_TRANS_ID: 'P1' })));
  registry.answer(listOf(registryRecord(id)));
  t.regex(String((await requery('SUPERSEDED-1')).body.message), /status updated to Successful$/);
  const answer = await fetch(`${app.url}/generic/payments/${id}`, { headers: merchantHeaders });
  const { data } = (await answer.json()) as { data: { history: { event: string; source: string }[] } };
  t.deepEqual(
    data.history.slice(-2).map(({ event, source }) => [event, source]),
    [
      ['resolved', 'requery'],
      ['succeeded', 'requery'],
    ],
  );
});

test("other people's transactions change nothing here", async (t) => {
  const { app, registry, requery } = await start(t);
  const id = await paymentAtTheBank(app, 'FOREIGN-1');
  const other = await paymentAtTheBank(app, 'FOREIGN-2');
  registry.answer(listOf(registryRecord(other)));
  t.is((await requery('FOREIGN-1')).status, 404);
  t.is((await typesOf(app, id)).at(-1), 'RequeryAnswered');
  t.is((await typesOf(app, other)).at(-1), 'PaymentMethodChosen');
});

test('a registry that is behind, or calls a cancellation a failure, contradicts nothing', async (t) => {
  const { app, registry, requery } = await start(t);
  for (const [reference, gatewayStatus, epsStatus, wire] of [
    ['BEHIND-1', '1', '3', '1'],
    ['BEHIND-2', '1', '0', '1'],
    ['BEHIND-3', '2', '2', '2'],
  ] as const) {
    const id = await paymentAtTheBank(app, reference);
    await postResult(app, signed(resultFields(id, { STATUS: gatewayStatus })));
    registry.answer(listOf(registryRecord(id, { eps_status: epsStatus, gateway_id1: 'P-1' })));
    const { body } = await requery(reference);
    t.like(body.data, { status: wire });
    t.is((await typesOf(app, id)).at(-1), 'RequeryAnswered');
  }
});

test('when the registry says failed about a paid payment, staff see a contradiction and it stays paid', async (t) => {
  const { app, registry, requery } = await start(t);
  const id = await paymentAtTheBank(app, 'CONTRADICTED-1');
  await postResult(app, signed(resultFields(id)));
  registry.answer(listOf(registryRecord(id, { eps_status: '2', gateway_id1: 'P-1' })));
  const { body } = await requery('CONTRADICTED-1');
  t.like(body.data, { status: '1' });
  t.is((await typesOf(app, id)).at(-1), 'GatewayResultContradicted');
});

for (const epsStatus of ['0', '1'] as const) {
  test(`fifty simultaneous requeries answered with ${epsStatus} append one event`, async (t) => {
    const { app, registry, requery } = await start(t);
    const reference = `FIFTY-${epsStatus}`;
    const id = await paymentAtTheBank(app, reference);
    registry.answer(listOf(registryRecord(id, { eps_status: epsStatus })));
    const all = await Promise.all(Array.from({ length: 50 }, () => requery(reference)));
    t.deepEqual([...new Set(all.map(({ status }) => status))], [200]);
    t.is((await app.events(id)).length, 3);
  });
}

test('one merchant has at most 50 requeries under way, so that the registry’s connections are left for others', async (t) => {
  const { app, registry, requery } = await start(t, 120_000);
  const id = await paymentAtTheBank(app, 'MANY-1');
  const museum = { ...merchantHeaders, authorization: 'Bearer older-key', 'x-merchant-code': 'museum' };
  await postRequest(app, requestBody({ trans_id: 'ONE-1', redirect_url: 'https://museum.example/' }), museum);
  const other = transactionIdOf(transactionIdKey, 'generic', 'museum', 'ONE-1');
  const held: (() => void)[] = [];
  registry.answer((request, response) => {
    const isHeld = request.url?.includes(id);
    const answer = () => listOf(registryRecord(isHeld ? id : other))(request, response);
    if (isHeld) held.push(answer);
    else answer();
  });
  const statuses: number[] = [];
  const ask = async () => statuses.push((await requery('MANY-1')).status);
  const all = Promise.all(Array.from({ length: 120 }, ask));
  await until(() => held.length >= 50 && statuses.length >= 70);
  t.is((await requeryAs(app, 'ONE-1', museum)).status, 200);
  t.is(held.length, 50);
  t.deepEqual(new Set(statuses), new Set([429]));
  for (const answer of held) answer();
  await all;
  t.deepEqual(new Set(statuses.slice(70)), new Set([200]));
  registry.answer(listOf(registryRecord(id)));
  t.is((await requery('MANY-1')).status, 200, 'afterwards it can ask again');
});

test('no such transaction here: 404, and the registry is not asked', async (t) => {
  const { app, registry, requery } = await start(t);
  const answer = { status: 404, body: { success: false, message: 'Transaction not found' } };
  for (const reference of [
    'NEVER-SEEN',
    '%',
    '../check',
    'x'.repeat(5_000),
    "'; drop table payments",
    '缴款',
  ])
    t.deepEqual(await requery(reference), answer, reference.slice(0, 20));
  t.is((await fetch(`${app.url}/generic/requery/%E0%A4%A`, { headers: merchantHeaders })).status, 404);
  await paymentAtTheBank(app, 'MINE-1');
  const museum = { authorization: 'Bearer older-key', 'x-merchant-code': 'museum' };
  t.deepEqual(await requeryAs(app, 'MINE-1', museum), answer);
  t.deepEqual(registry.asked, []);
});

test('a merchant that is told of refunds and reversals finds them in the answer, and no other does', async (t) => {
  const { app, registry } = await start(t);
  const museum = { ...merchantHeaders, authorization: 'Bearer older-key', 'x-merchant-code': 'museum' };
  const body = requestBody({ trans_id: 'REFUNDED-1', redirect_url: 'https://museum.example/' });
  await postRequest(app, body, museum);
  const id = transactionIdOf(transactionIdKey, 'generic', 'museum', 'REFUNDED-1');
  await postResult(app, signed(resultFields(id, { MERCHANT_CODE: 'museum' })));
  const refund = {
    kind: 'refund',
    chargeNo: 1,
    amountSen: sen(2_000),
    gatewayReference: 'RF-1',
    reason: 'x',
  } as const;
  await carryOut(app, id, { ...resolving(1, 'credited'), action: refund });
  registry.answer(listOf(registryRecord(id)));
  const { body: answer } = await requeryAs(app, 'REFUNDED-1', museum);
  t.like(answer.data, { status: '1', amount_refunded: '20.00', reversed_datetime: '' });
});

test('a reference may hold a slash, a space and other letters', async (t) => {
  const { app, registry, requery } = await start(t);
  const reference = 'INV/2026 #1?a=b&c+%41 缴款';
  const id = await paymentAtTheBank(app, reference);
  registry.answer(listOf(registryRecord(id)));
  t.like(await requery(reference), { status: 200, body: { data: { trans_id: reference } } });
});

test('credentials and refusals are those of /generic/check', async (t) => {
  const { app, registry } = await start(t);
  const missing = { status: false, message: 'Missing merchant_code or API key' };
  t.deepEqual(await requeryAs(app, 'X', {}), { status: 401, body: missing });
  const unknown = { ...merchantHeaders, 'x-merchant-code': 'nobody' };
  t.deepEqual(await requeryAs(app, 'X', unknown), {
    status: 401,
    body: { status: false, message: 'Merchant code not registered' },
  });
  const wrong = { ...merchantHeaders, authorization: 'Bearer wrong-key' };
  t.deepEqual(await requeryAs(app, 'X', wrong), {
    status: 401,
    body: { status: false, message: 'Unauthorized - invalid API key for merchant' },
  });
  t.is((await requeryAs(app, 'X', merchantHeaders, 'DELETE')).status, 405);
  t.deepEqual(registry.asked, []);
});

test('a registry that cannot be asked: 502 or 504, and the failure is recorded', async (t) => {
  const { app, registry, requery } = await start(t, 2_000);
  const id = await paymentAtTheBank(app, 'DOWN-1');
  registry.answer((_, response) => response.end('<html>Please log in</html>'));
  t.deepEqual(await requery('DOWN-1'), {
    status: 502,
    body: { success: false, message: 'The transaction registry gave no usable answer; try again later' },
  });
  registry.answer(() => undefined);
  t.deepEqual(await requery('DOWN-1'), {
    status: 504,
    body: { success: false, message: 'The transaction registry did not answer in time; try again later' },
  });
  const failures = (await app.events(id))
    .slice(2)
    .map(({ type, data }) => [type, Reflect.get(data, 'reason')]);
  t.deepEqual(failures, [
    ['RequeryUnanswered', 'no_answer'],
    ['RequeryUnanswered', 'too_late'],
  ]);
  t.true(app.logged.every((line) => !JSON.stringify(line).includes(id)));
  const refused = app.logged.filter(({ msg }) => msg === 'request refused');
  t.is(refused.length, 2);
  // Nothing is wrong here: no error, and no stack.
  t.true(refused.every(({ level, reason, err }) => level === 40 && reason && err === undefined));
});

test('no connection to the registry: 502, even if the failure cannot be recorded', async (t) => {
  const app = await startApp({ registry: askedThrough({ url: 'http://127.0.0.1:1' }) }, store);
  t.teardown(() => app.close());
  await paymentAtTheBank(app, 'UNREACHABLE-1');
  t.deepEqual(await requeryAs(app, 'UNREACHABLE-1', merchantHeaders), {
    status: 502,
    body: { success: false, message: 'The transaction registry cannot be reached; try again later' },
  });
  t.notRegex(JSON.stringify(app.logged), /secret-token/);
  const append = () => Promise.reject(new EventStoreUnavailable('away'));
  const registry = askedThrough({ url: 'http://127.0.0.1:1' });
  const unrecorded = await startApp({ registry, eventStore: { append } }, store);
  t.teardown(() => unrecorded.close());
  await paymentAtTheBank(app, 'UNREACHABLE-2');
  t.is((await requeryAs(unrecorded, 'UNREACHABLE-2', merchantHeaders)).status, 502);
});

test('a requery loads the payment once, to decide: its row has the request', async (t) => {
  const registry = await startRegistry(t);
  const client = askedThrough(registry);
  const { eventStore, loadsOf } = countLoads(store.eventStore);
  const findPayment = async (transactionId: string): Promise<PaymentRow> => {
    const events = await store.events(transactionId);
    const state = events.reduce(evolve, noPayment);
    if (state.status === 'none') throw new Error('no such payment');
    return { revision: events.length - 1, state, updatedAt: new Date() };
  };
  const app = await startApp({ registry: client, eventStore, findPayment }, store);
  t.teardown(() => app.close());
  const id = await paymentAtTheBank(app, 'COUNTED-1');
  registry.answer(listOf(registryRecord(id)));
  const before = loadsOf(paymentStream(id));
  t.is((await requeryAs(app, 'COUNTED-1', merchantHeaders)).status, 200);
  t.is(loadsOf(paymentStream(id)) - before, 1);
  t.is((await typesOf(store, id)).at(-1), 'PaymentSucceeded');
});
