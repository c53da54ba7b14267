// What auditors download from the console: a payment's history as JSON, and the payments of a period as a file.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'csv-parse/sync';
import { verifyFile } from '../../../src/audit/verify/export-file.ts';
import { transactionIdOf } from '../../../src/commands/transaction-id.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { sessionFold } from '../../../src/events/session.ts';
import { roles } from '../../../src/events/user.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { stored } from '../../audit/helpers.ts';
import { patienceMs, temporaryFolder } from '../../embedded/helpers.ts';
import { log, reached, run } from '../../projections/helpers.ts';
import { startApp, type TestApp, transactionIdKey } from '../../support/app.ts';
import { type Member, signIn } from '../../support/console.ts';
import { applied, request, result } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { wholeFile } from '../../support/whole-file.ts';

const { url } = await createDatabase();
const db = connectPostgres({ url, log });
const app: TestApp = await startApp({ console: { db } });
const { eventStore } = app;
const ids = Array.from({ length: 40 }, (_, index) =>
  transactionIdOf(transactionIdKey, 'generic', 'council', `INV-${index}`),
);
const [id = ''] = ids;
wholeFile.teardown(async () => {
  await app.close();
  await db.destroy();
});
run(wholeFile, payments, app, { db, url });

test.before(async () => {
  const positions = [];
  for (const [index, transactionId] of ids.entries())
    positions.push(await ask(eventStore, transactionId, index));
  const last = positions.at(-1);
  if (last) await reached(db, 'payments', last);
});

async function ask(store: EventStore, transactionId: string, index: number) {
  // Long, so that the file takes several pieces.
  const description = 'x'.repeat(20_000);
  const data = request({ transactionId, reference: `INV-${index}`, description });
  const events = stored([{ type: 'PaymentRequested', data }, applied(result(1, 'failed'))], transactionId);
  return (await store.append(paymentStream(transactionId), events, 'no_stream')).position;
}

/** The accesses to personal data in the member's session. */
async function accessesOf({ id: userId }: Member): Promise<object[]> {
  const accesses: object[] = [];
  let after = null;
  while (true) {
    const next = await eventStore.firstAfter({
      streamPrefixes: ['session-'],
      after,
      signal: AbortSignal.timeout(patienceMs),
    });
    if (!next) return accesses;
    const { type, data } = sessionFold.read(next);
    if (type === 'PersonalDataViewed' && data.userId === userId) accesses.push(data);
    after = next.position;
  }
}

const november = { from: '2026-11-01', to: '2026-11-30', merchant: '' };

async function verdictOn(t: ExecutionContext, text: string) {
  const path = join(await temporaryFolder(t), 'export.jsonl');
  await writeFile(path, text);
  return verifyFile(path);
}

for (const role of roles)
  test.serial(`${role}: downloads both files, and each is recorded first`, async (t) => {
    const member = await signIn(app, role);
    t.regex(await (await member.get('/console/export')).text(), /<option value="council"/);
    const lines = await member.post('/console/export', { ...november, format: 'jsonl' });
    t.is(lines.headers.get('content-type'), 'application/jsonl; charset=utf-8');
    t.is(
      lines.headers.get('content-disposition'),
      'attachment; filename="payments-2026-11-01-to-2026-11-30.jsonl"',
    );
    t.like(await verdictOn(t, await lines.text()), { violation: null, payments: 40, events: 80 });
    const csv = await member.post('/console/export', { ...november, merchant: 'museum', format: 'csv' });
    t.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    t.deepEqual(parse(await csv.text(), { bom: true, columns: true }), [], 'another merchant has none');
    const span = '2026-10-31T16:00:00.000Z to 2026-11-30T16:00:00.000Z';
    t.like(await accessesOf(member), [
      { what: 'export', transactionId: null, detail: `jsonl of all merchants, ${span}` },
      { what: 'export', transactionId: null, detail: `csv of museum, ${span}` },
    ]);
  });

test.serial('the form says what is wrong with it, and nothing is recorded', async (t) => {
  const member = await signIn(app, 'viewer');
  for (const [fields, fault] of [
    [{ ...november, from: '' }, 'from must be a time'],
    [{ ...november, to: '2026-10-01' }, 'to must be later than the beginning'],
    [{ ...november, format: 'xml' }, 'format must be jsonl or csv'],
    [{ ...november, from: '"><b>' }, 'from must be a time'],
  ] as const) {
    const answer = await member.post('/console/export', fields);
    t.is(answer.status, 400);
    const page = await answer.text();
    t.true(page.includes(fault), fault);
    t.false(page.includes('"><b>'));
  }
  const forged = await member.post('/console/export', { ...november, token: 'x' });
  t.is(forged.status, 403);
  t.deepEqual(await accessesOf(member), []);
});

test.serial(
  'without Postgres a download cannot begin, the page says so, and nothing is recorded',
  async (t) => {
    const away = await startApp({}, app);
    t.teardown(() => away.close());
    const member = await signIn(away, 'viewer');
    const answer = await member.post('/console/export', { ...november, format: 'jsonl' });
    t.is(answer.status, 503);
    const html = await answer.text();
    t.regex(html, /The stores do not answer; try again in a few seconds/);
    t.deepEqual(await accessesOf(member), []);
  },
);

test.serial('the history of a payment, as of now and earlier, is recorded before it is shown', async (t) => {
  const member = await signIn(app, 'viewer');
  const path = `/console/payments/${id}/history.json`;
  const answer = await member.get(path);
  t.regex(answer.headers.get('content-type') ?? '', /^application\/json/);
  t.is(answer.headers.get('cache-control'), 'no-store');
  const { transactionId, entries, verdict } = (await answer.json()) as Record<string, object[]>;
  t.deepEqual([transactionId, verdict], [id, { kind: 'whole' }] as never);
  t.like(entries?.[1], { type: 'PaymentFailed', fits: true, state: { status: 'failed' } });
  const then = (await (await member.get(`${path}?at=2026-11-20T09:04:59%2B08:00`)).json()) as {
    entries: object[];
  };
  t.is(then.entries.length, 1);
  const accesses = await accessesOf(member);
  t.like(accesses[0], { what: 'history', transactionId: id, detail: 'events 0 to 1' });
  t.like(accesses[1], { what: 'history', transactionId: id, detail: 'events 0 to 0' });
  for (const [query, status] of [
    ['?at=noon', 400],
    ['?revision=2', 400],
    ['?revision=0&at=2026-11-20', 400],
    ['?at=2026-11-01', 404],
  ] as const)
    t.is((await member.get(`${path}${query}`)).status, status, query);
  t.is((await member.get(`/console/payments/${id.slice(0, 25)}0/history.json`)).status, 404);
  t.is((await accessesOf(member)).length, 2, 'what was not shown is not recorded');
});

test.serial('a download that fails half-way does not look complete', async (t) => {
  const member = await signIn(app, 'admin');
  await db.raw(
    `update payments.payments set transaction_id = 'ZZ' where transaction_id =
     (select transaction_id from payments.payments order by transaction_id collate "C" desc limit 1)`,
  );
  for (const format of ['jsonl', 'csv']) {
    const answer = await member.post('/console/export', { ...november, format });
    await t.throwsAsync(answer.text(), undefined, format);
  }
});
