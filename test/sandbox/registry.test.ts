// The sandbox's registry, queried as the service queries it, and a result that only it has.
import test from 'ava';
import { pino } from 'pino';
import { createTransactionRegistry } from '../../src/clients/transaction-registry/registry.ts';
import { apiKey, startApp } from '../support/app.ts';
import { testRuntime } from '../support/runtime.ts';
import { browserForm, order, post, registryToken, secret, startGateway } from './helpers.ts';

const log = pino({ level: 'silent' });
const transId = '0123456789ABCDEFGHJKMNPQRS';

for (const [decisions, epsStatus, message, registryKnows] of [
  [[], '0', 'Attempted', 'attempted'],
  [['never-answer'], '0', 'Attempted', 'attempted'],
  [['approve'], '1', 'Successful', 'succeeded'],
  [['decline'], '2', 'Failed', 'failed'],
  [['cancel'], '2', 'Cancelled by the payer', 'failed'],
  [['leave-pending'], '3', 'Pending authorisation', 'pending'],
  [['leave-pending', 'approve'], '1', 'Successful', 'succeeded'],
  [['approve-other-amount'], '1', 'Successful', 'succeeded'],
] as const) {
  test(`an order after ${decisions.join(', ') || 'nothing'} is ${epsStatus} in the registry`, async (t) => {
    const { url } = await startGateway(t);
    const { headers } = await post(url, order({}));
    for (const outcome of decisions)
      await post(`${url}${headers.get('location')}`, { outcome, delivery: 'none' });
    const authorization = `Bearer ${registryToken}`;
    const list = await fetch(`${url}/registry/transactions?merchant_trans_id=${transId}`, {
      headers: { authorization },
    });
    const records = (await list.json()) as Record<string, string>[];
    t.is(records.length, 1);
    t.like(records[0], {
      merchant_trans_id: transId,
      eps_status: epsStatus,
      status_message: message,
      payment_mode: 'fpx',
      amount: decisions[0] === 'approve-other-amount' ? '1235.50' : '1234.50',
    });
    const one = await fetch(`${url}/registry/transactions/${records[0]?.id}`, { headers: { authorization } });
    t.deepEqual(await one.json(), records[0]);
    const client = createTransactionRegistry({
      runtime: testRuntime(),
      config: { url: `${url}/registry`, token: registryToken },
      log,
    });
    t.is((await client.ask(transId)).status, registryKnows);
  });
}

test('a double charge has two records, a second attempt another one, and other transactions have none', async (t) => {
  const { url } = await startGateway(t);
  const { headers } = await post(url, order({}));
  await post(`${url}${headers.get('location')}`, { outcome: 'approve-twice', delivery: 'none' });
  await post(url, order({ MERCHANT_ORDER_NO: `${transId}-2` }));
  await post(url, order({ MERCHANT_ORDER_NO: 'OTHER-1', TRANS_ID: 'OTHER' }));
  const client = createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: `${url}/registry`, token: registryToken },
    log,
  });
  const answer = await client.ask(transId);
  t.is(answer.results.length, 2);
  t.is(new Set(answer.results.map(({ gatewayTransactionId }) => gatewayTransactionId)).size, 2);
  t.is((await client.ask('OTHER')).status, 'attempted');
  t.is((await client.ask('NOBODY')).status, 'not_found');
});

test('the transaction name of the land registry leads to its records', async (t) => {
  const { url } = await startGateway(t);
  const TRANSAKSI_ID = 'T/1 é';
  const { headers } = await post(url, order({ TRANSAKSI_ID }));
  await post(url, order({ TRANSAKSI_ID, MERCHANT_ORDER_NO: `${transId}-2` }));
  await post(url, order({ MERCHANT_ORDER_NO: 'OTHER-1', TRANS_ID: 'OTHER', TRANSAKSI_ID: 'T/2' }));
  await post(`${url}${headers.get('location')}`, { outcome: 'approve', delivery: 'none' });
  const client = createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: `${url}/registry`, token: registryToken },
    log,
  });
  const ask = (reference: string) => client.askByTransaksiId({ transactionId: transId, reference });
  t.is((await ask(TRANSAKSI_ID)).status, 'succeeded');
  t.is((await ask('T/2')).status, 'not_found');
  t.is((await ask('T/3')).status, 'not_found');
  const extras = await fetch(`${url}/registry/transaction-extras?key=transaksi_id&value=T%2F2`, {
    headers: { authorization: `Bearer ${registryToken}` },
  });
  t.deepEqual(await extras.json(), []);
});

test('requests without the token are refused, and unknown records are 404', async (t) => {
  const { url } = await startGateway(t);
  const statusOf = async (path: string, headers: Record<string, string>) =>
    (await fetch(`${url}/registry/${path}`, { headers })).status;
  const known = { authorization: `Bearer ${registryToken}` };
  for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: `Bearer ${secret}` }] as const) {
    t.is(await statusOf(`transactions?merchant_trans_id=${transId}`, { ...headers }), 401);
    t.is(await statusOf('transactions/1', { ...headers }), 401);
    t.is(await statusOf('transaction-extras?key=transaksi%20id&value=T', { ...headers }), 401);
  }
  t.is(await statusOf('transactions/1', known), 404);
  t.is(await statusOf('transactions', known), 400);
  t.is(await statusOf('transaction-extras', known), 400);
  t.is(await statusOf('transactions?merchant_trans_id=A&merchant_trans_id=B', known), 400);
});

test('a requery finds a payment whose result was lost', async (t) => {
  const { url } = await startGateway(t);
  const registry = createTransactionRegistry({
    runtime: testRuntime(),
    config: { url: `${url}/registry`, token: registryToken },
    log,
  });
  const gateway = { url, secret, otherSecrets: [], labelledFrom: null, acceptUnsigned: false };
  const app = await startApp({ registry, config: { gateway } });
  t.teardown(() => app.close());
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'x-merchant-code': 'council',
    'content-type': 'application/json',
    accept: 'application/json',
  };
  const body = JSON.stringify({
    trans_id: 'LOST-1',
    amount: '120.50',
    service: 'Assessment tax',
    description: 'Second half of 2026',
    callback_url: 'https://council.example/callback',
    redirect_url: 'https://council.example/paid',
  });
  const asked = await fetch(`${app.url}/generic/request`, { method: 'POST', headers, body });
  const { data } = (await asked.json()) as { data: { transaction_id: string; payment_url: string } };
  const page = await (await fetch(data.payment_url)).text();
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const handOver = await (
    await post(data.payment_url, { token, method: 'fpx', bank_fpx: 'MB2U0227', bank_fpx1: '' })
  ).text();
  const { headers: taken } = await post(url, browserForm(handOver).fields);
  const bankPage = `${url}${taken.get('location')}`;

  const requery = async () => {
    const response = await fetch(`${app.url}/generic/requery/LOST-1`, { headers });
    return (await response.json()) as { message: string; data: Record<string, string> };
  };
  t.like(await requery(), { data: { status: '3' } });
  const decided = await post(bankPage, { outcome: 'approve', delivery: 'none' });
  t.is(decided.headers.get('location'), new URL(bankPage).pathname, 'the payer is not sent back');
  t.regex(await (await fetch(bankPage)).text(), /Lost on the way/);

  const found = await requery();
  t.is(found.message, 'The registry says successful: status updated to Successful');
  t.like(found.data, { status: '1', amount: '120.50', transaction_id: data.transaction_id });
  const receipt = await (await fetch(`${app.url}/generic/receipt/${data.transaction_id}`)).text();
  t.true(receipt.includes(found.data.receipt_no ?? 'missing'));
  t.is((await app.events(data.transaction_id)).at(-1)?.type, 'PaymentSucceeded');
});
