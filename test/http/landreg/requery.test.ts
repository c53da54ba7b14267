// GET /landreg/requery/{transaksi_id}: through the registry's extras to its records, and every documented error.
import type { RequestListener } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../embedded/helpers.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { askedThrough, listOf, registryRecord, startRegistry } from '../../support/registry.ts';
import { createLandPayment, keyHeaders, reportLandResult } from './helpers.ts';

let store: TestApp;
test.before(async () => {
  store = await startApp();
});
test.after.always(() => store.close());

async function start(t: ExecutionContext, timeoutMs?: number) {
  const registry = await startRegistry(t);
  const app = await startApp({ registry: askedThrough(registry, timeoutMs) }, store);
  t.teardown(() => app.close());
  return { app, registry };
}

async function requery(app: TestApp, transaksiId: string) {
  const url = `${app.url}/landreg/requery/${encodeURIComponent(transaksiId)}`;
  const response = await fetch(url, { headers: keyHeaders });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const extraOf = (transaksiId: string, transaction_id: string) => ({
  transaction_id,
  key: 'transaksi id',
  value: transaksiId,
});

/** A registry with these extras, and these records by their id. */
function holding(extras: unknown[], records: Record<string, unknown>): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://registry');
    if (pathname === '/transaction-extras') return listOf(...extras)(request, response);
    const record = records[decodeURIComponent(pathname.slice('/transactions/'.length))];
    response.statusCode = record ? 200 : 404;
    response.end(JSON.stringify(record ?? { message: 'There is none' }));
  };
}

test('a lost success is found by the key with the space, and the answer says what became of the status', async (t) => {
  const { app, registry } = await start(t);
  const reference = 'T/1 &é';
  const { transactionId } = await createLandPayment(app, { transaksi_id: reference });
  registry.answer(holding([extraOf(reference, '47/11')], { '47/11': registryRecord(transactionId) }));
  const { status, body } = await requery(app, reference);
  t.is(status, 200);
  t.deepEqual(registry.asked, [
    '/transaction-extras?key=transaksi%20id&value=T%2F1%20%26%C3%A9',
    '/transactions/47%2F11',
  ]);
  t.is(body.success, true);
  t.is(body.message, 'The registry says successful: status updated to Successful');
  t.like(body.data, {
    transaction_id: transactionId,
    trans_id: reference,
    status: '1',
    receipt_no: 'R-9',
    amount: '120.50',
    merchant_code: 'state-land',
  });
  const events = await app.events(transactionId);
  t.deepEqual(
    events.map(({ type }) => type),
    ['PaymentRequested', 'PaymentSucceeded'],
  );
  t.like(events[1]?.data, { source: 'requery', verified: true });
  t.is(
    (await requery(app, reference)).body.message,
    'The registry says successful: status remains Successful',
  );
});

test('the land registry has at most 50 requeries under way, of all its agencies together', async (t) => {
  const { app, registry } = await start(t, 120_000);
  const held: (() => void)[] = [];
  registry.answer((request, response) => void held.push(() => listOf()(request, response)));
  const statuses: number[] = [];
  const branches = ['00', '01'];
  for (const kod_cawangan of branches)
    await createLandPayment(app, { kod_cawangan, transaksi_id: kod_cawangan });
  const ask = async (_: unknown, nth: number) =>
    statuses.push((await requery(app, branches[nth % branches.length] ?? '')).status);
  const all = Promise.all(Array.from({ length: 80 }, ask));
  await until(() => held.length + statuses.length === 80);
  t.deepEqual(statuses, Array(30).fill(429));
  for (const answer of held) answer();
  await all;
  t.deepEqual(statuses.slice(30), Array(50).fill(404));
});

test('of several records a success outranks the rest; one that is gone or belongs to another payment is ignored', async (t) => {
  const { app, registry } = await start(t);
  const { transactionId } = await createLandPayment(app, { transaksi_id: 'SEVERAL' });
  registry.answer(
    holding(
      ['1', '2', '2', '3', '4'].map((id) => extraOf('SEVERAL', id)),
      {
        1: registryRecord(transactionId, { eps_status: '2' }),
        2: registryRecord(transactionId),
        4: registryRecord('SOMEBODY-ELSE', { gateway_id1: 'P2' }),
      },
    ),
  );
  t.like((await requery(app, 'SEVERAL')).body.data, { status: '1', fpx_transaction_no: 'P1' });
  t.is((await app.events(transactionId)).length, 2);
  t.is(registry.asked.length, 5);
});

test('an extra with another key or another value is ignored', async (t) => {
  const { app, registry } = await start(t);
  const { transactionId } = await createLandPayment(app, { transaksi_id: 'MINE' });
  registry.answer(
    holding([{ ...extraOf('MINE', '1'), key: 'transaksi_id' }, extraOf('YOURS', '1')], {
      1: registryRecord(transactionId),
    }),
  );
  t.is((await requery(app, 'MINE')).status, 404);
  t.is(registry.asked.length, 1);
});

test('error: no such transaction here; the registry is not asked', async (t) => {
  const { app, registry } = await start(t);
  for (const transaksiId of ['NEVER', '../check', '%', 'x'.repeat(3000)])
    t.deepEqual(await requery(app, transaksiId), {
      status: 404,
      body: { success: false, message: 'Transaction not found' },
    });
  t.deepEqual(registry.asked, []);
});

test('error: no record in the registry, without an extra or with one that leads to no record', async (t) => {
  const { app, registry } = await start(t);
  const { transactionId } = await createLandPayment(app, { transaksi_id: 'NONE' });
  for (const extras of [[], [extraOf('NONE', '1')]]) {
    registry.answer(holding(extras, {}));
    t.deepEqual(await requery(app, 'NONE'), {
      status: 404,
      body: { success: false, message: 'The transaction registry has no record of this transaction' },
    });
  }
  t.is((await app.events(transactionId)).at(-1)?.type, 'RequeryAnswered');
});

test('error: no response at either step: 504; an unusable answer: 502; the failures are recorded', async (t) => {
  const { app, registry } = await start(t, 300);
  const { transactionId } = await createLandPayment(app, { transaksi_id: 'SILENT' });
  const silentAt: Record<string, RequestListener> = {
    extras: () => undefined,
    records: (request, response) =>
      request.url?.startsWith('/transaction-extras')
        ? listOf(extraOf('SILENT', '1'))(request, response)
        : undefined,
  };
  for (const listener of Object.values(silentAt)) {
    registry.answer(listener);
    t.deepEqual(await requery(app, 'SILENT'), {
      status: 504,
      body: { success: false, message: 'The transaction registry did not answer in time; try again later' },
    });
  }
  const tooMany = Array.from({ length: 101 }, (_, index) => extraOf('SILENT', String(index)));
  for (const listener of [
    listOf('a text'),
    holding(tooMany, {}),
    holding([extraOf('SILENT', '1')], { 1: [] }),
    holding([extraOf('SILENT', '1')], { 1: registryRecord(transactionId, { eps_status: '7' }) }),
  ]) {
    registry.answer(listener);
    t.deepEqual(await requery(app, 'SILENT'), {
      status: 502,
      body: { success: false, message: 'The transaction registry gave no usable answer; try again later' },
    });
  }
  t.deepEqual(
    (await app.events(transactionId)).slice(1).map(({ type }) => type),
    ['RequeryUnanswered', 'RequeryUnanswered'],
  );
});

test('error: no connection to the registry', async (t) => {
  const app = await startApp({ registry: askedThrough({ url: 'http://127.0.0.1:1' }) }, store);
  t.teardown(() => app.close());
  await createLandPayment(app, { transaksi_id: 'UNREACHABLE' });
  t.deepEqual(await requery(app, 'UNREACHABLE'), {
    status: 502,
    body: { success: false, message: 'The transaction registry cannot be reached; try again later' },
  });
});

test('a payment whose agency has left the configuration can still be requeried', async (t) => {
  const { app, registry } = await start(t);
  const { transactionId } = await createLandPayment(app, { transaksi_id: 'LEFT' });
  const client = askedThrough(registry);
  const without = await startApp({ registry: client, config: { merchants: new Map() } }, store);
  t.teardown(() => without.close());
  registry.answer(holding([extraOf('LEFT', '1')], { 1: registryRecord(transactionId) }));
  t.like((await requery(without, 'LEFT')).body.data, { status: '1' });
  t.is((await reportLandResult(app, transactionId, { PAYMENT_TRANS_ID: 'P1' })).status, 303);
});
