// GET /verify/{receipt_no}?c=<check>: what a receipt says is confirmed, and nothing else is said to anyone.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { forAll, sealKeyOf } from '@ledger/transparency-log/key.ts';
import { cosignatureLine } from '@ledger/transparency-log/note.ts';
import test from 'ava';
import type { Knex } from 'knex';
import { createLines } from '../../../src/audit/export/lines.ts';
import { keptCheckpoints } from '../../../src/audit/seals/kept-checkpoints.ts';
import { startSealer } from '../../../src/audit/seals/sealer.ts';
import { sealingRefused } from '../../../src/audit/seals/sealing-status.ts';
import { verifyFile } from '../../../src/audit/verify/export-file.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { leafOf } from '../../../src/events/seals.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { createPaymentQueries } from '../../../src/projections/payments/queries.ts';
import { verificationCheck, verificationKeys } from '../../../src/receipts/check-code.ts';
import { until } from '../../embedded/helpers.ts';
import { log, run } from '../../projections/helpers.ts';
import { linkKeys, startApp } from '../../support/app.ts';
import { electionOn } from '../../support/leader-election.ts';
import { resolving } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { carryOut, createPayment, postResult, resultFields, signed } from '../generic/helpers.ts';

/** The payments whose rows were found to be changed. */
const forged: string[] = [];
const { url: databaseUrl } = await createDatabase();
const db = connectPostgres({ url: databaseUrl, log });
const queries = createPaymentQueries(db, personalData, async (id) => void forged.push(id));
const app = await startApp({
  ...queries,
  content: { db, sealingRefused: () => sealingRefused(db) },
});
wholeFile.teardown(async () => {
  await app.close();
  await db.destroy();
});
const project = () => run(wholeFile, payments, app, { db, url: databaseUrl });
let projection = project();
await until(() =>
  queries.findPayment('').then(
    () => true,
    () => false,
  ),
); // the table is there

// That of the app under test.
const key = verificationKeys(linkKeys);

/** A payment that succeeded with this receipt number, and is in Postgres. */
async function paid(receiptNo: string, over: Record<string, unknown> = {}): Promise<string> {
  const id = await createPayment(app, over);
  await postResult(app, signed(resultFields(id, { RECEIPT_NO: receiptNo })));
  await until(async () => (await queries.findPayment(id))?.state.status === 'succeeded');
  return id;
}

const verifyUrl = (receiptNo: string, transactionId: string) =>
  `${app.url}/verify/${encodeURIComponent(receiptNo)}?c=${verificationCheck(key, { receiptNo, transactionId })}`;

const textOf = (html: string) =>
  html
    .replace(/<(style|script|title)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

async function open(url: string, headers = {}): Promise<{ status: number; html: string; text: string }> {
  const response = await fetch(url, { headers });
  const html = await response.text();
  return { status: response.status, html, text: textOf(html) };
}

test.serial('while a receipt is not in Postgres yet, the answer is 503, not 404', async (t) => {
  await projection.stop();
  const id = await createPayment(app);
  await postResult(app, signed(resultFields(id, { RECEIPT_NO: 'V-0' })));
  const url = verifyUrl('V-0', id);
  t.is((await open(url)).status, 503);
  projection = project();
  await until(async () => (await open(url)).status === 200);
  t.is((await open(`${url}0`)).status, 404);
});

test.serial('it waits for a projection that is briefly behind', async (t) => {
  await paid('V-8');
  let looks = 0;
  const neverRun = { timeout: async () => ({ rows: [] }) };
  const raw = (sql: string) => (looks++ === 0 ? neverRun : db.raw(sql));
  const apart = await startApp({ ...queries, content: { db: { raw } as unknown as Knex } }, app);
  try {
    t.is((await fetch(`${apart.url}/verify/V-8?c=0123456789ABCDEF`)).status, 404);
    t.is(looks, 2);
  } finally {
    await apart.close();
  }
});

test.serial(
  'row edited: a payment that is not paid, or another amount, is never called genuine',
  async (t) => {
    const id = await paid('V-20');
    const genuine = async () =>
      (await db('payments.payments').where('transaction_id', id).first('state')).state as Record<
        string,
        unknown
      >;
    const [before] = [await genuine()];
    const row = () => db('payments.payments').where('transaction_id', id);
    const text = JSON.stringify(before);
    t.true(text.includes('"amountSen":12050'));
    await row().update({ state: text.replaceAll('"amountSen":12050', '"amountSen":9999900') });
    const changed = await open(verifyUrl('V-20', id));
    t.true(changed.text.includes('RM 120.50') && !changed.text.includes('99,999'), changed.text);
    t.true(forged.includes(id));
    const unpaid = await createPayment(app, { trans_id: 'NEVER-PAID' });
    await until(async () => (await queries.findPayment(unpaid)) !== null);
    forged.length = 0;
    const receipt = { receipt_no: 'V-21', status: 'succeeded', state: text.replaceAll('V-20', 'V-21') };
    await db('payments.payments').where('transaction_id', unpaid).update(receipt);
    t.is((await open(verifyUrl('V-21', unpaid))).status, 404);
    const page = await open(`${app.url}/generic/receipt/${unpaid}`);
    t.false(/official receipt/i.test(page.text), page.text);
    t.true(forged.length > 0);
    await row().update({ state: text });
    forged.length = 0;
    t.is((await open(verifyUrl('V-20', id))).status, 200);
    t.deepEqual(forged, []);
  },
);

test('it confirms number, amount, date, status and agency, in two languages', async (t) => {
  const id = await paid('V-1');
  const { status, text, html } = await open(verifyUrl('V-1', id));
  t.is(status, 200);
  for (const part of [
    'Successful',
    'This receipt is genuine',
    'RM 120.50',
    'Example City Council',
    'Receipt number V-1',
    'Date and time 20 November 2026 at 09:04:30',
  ])
    t.true(text.includes(part), part);
  const malay = /<a href="([^"]+)" lang="ms"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  t.regex((await open(malay)).text, /Bahasa Melayu|Resit ini sahih/);
  t.regex((await open(verifyUrl('V-1', id), { 'accept-language': 'ms' })).text, /Resit ini sahih/);
});

test('it says nothing about who paid, and discloses no id that opens the receipt', async (t) => {
  const id = await paid('V-2');
  const { html } = await open(verifyUrl('V-2', id));
  for (const secret of [id, 'Aminah', 'AMINAH', '145678', 'aminah@example.my', 'INV-', 'Second half'])
    t.false(html.includes(secret), secret);
});

test.serial(
  'the proof: not sealed yet, then sealed, to check elsewhere, and nothing about the payment',
  async (t) => {
    const id = await paid('V-30');
    const at = (page: string, check = verificationCheck(key, { receiptNo: 'V-30', transactionId: id })) =>
      `${app.url}/verify/V-30${page}?c=${check}`;
    const before = await open(at('/proof'));
    t.is(before.status, 200);
    t.regex(before.text, /Not sealed yet This payment is not sealed yet.*within ten minutes/);
    t.notRegex(before.text, /Entry|Download/);
    t.is((await open(at('/proof.jsonl'))).status, 404);
    t.regex((await open(at(''))).html, /href="[^"]*\/verify\/V-30\/proof\?c=\w+&amp;lang=en"/);

    const folder = await mkdtemp(join(tmpdir(), 'ledger-proof-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const sealKey = sealKeyOf('5ea1'.repeat(16));
    const witnessKey = sealKeyOf('717e'.repeat(16));
    const sealer = startSealer({
      ...{ eventStore: app.eventStore, election: electionOn(databaseUrl), origin: 'ledger.example/log', log },
      keys: () => ({ current: sealKey, previous: null }),
      kept: keptCheckpoints(db, join(folder, 'last-checkpoint')),
      offer: async (note) =>
        cosignatureLine(`${note.split('\n\n')[0]}\n`, 'witness.example/1', witnessKey, new Date()),
      runtime: systemRuntime,
      pace: { everyEvents: 3, everyMs: 100 },
    });
    t.teardown(() => sealer.stop());
    await until(async () => (await open(at('/proof'))).text.includes('in the sealed log'));
    const { text, html } = await open(at('/proof'));
    const [, entry = ''] = /Place in the log Entry (\d+)/.exec(text) ?? [];
    t.regex(
      text,
      /This payment is in the sealed log.*Receipt number V-30.*The seal covers the first \d+ entries of ledger\.example\/log/,
    );
    t.regex(text, /Also signed by witness\.example\/1/);
    const malay = /<a href="([^"]+)" lang="ms"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    t.regex((await open(malay)).text, /Bayaran ini ada dalam log yang dimeterai.*Catatan \d+/);

    const answer = await fetch(at('/proof.jsonl'));
    t.is(answer.headers.get('content-disposition'), `attachment; filename="proof-of-entry-${entry}.jsonl"`);
    const proof = await answer.text();
    const verified = async (content: string, by = sealKey) => {
      await writeFile(join(folder, 'proof.jsonl'), content);
      return await verifyFile(join(folder, 'proof.jsonl'), [forAll(by.publicKey)]);
    };
    t.like(await verified(proof), { violation: null, events: 0, unproven: 0, alone: [Number(entry)] });
    t.regex((await verified(proof, witnessKey)).violation?.reason ?? '', /not signed with a trusted key/);
    const stored = await app.eventStore.load(paymentStream(id));
    const digests = stored.filter(({ type }) => type === 'PaymentSucceeded').map((event) => leafOf(event)[2]);
    t.is(digests.filter((digest) => proof.includes(digest)).length, 1, 'of the event that paid');
    const forged = createLines();
    const parsed = JSON.parse(proof.split('\n')[1] ?? '');
    const [tag, label] = parsed.leaf;
    const lines = [JSON.parse(proof.split('\n')[0] ?? '').export].map((range) => forged.head(range));
    lines.push(forged.leaf([tag, label, '0'.repeat(64)], parsed.proof), forged.end());
    t.regex((await verified(lines.join(''))).violation?.reason ?? '', /is not the one in the log/);
    for (const secret of [id, 'Aminah', 'AMINAH', '5678', 'aminah@example.my', 'INV-', 'Second half', 'V-30'])
      t.false(proof.includes(secret), secret);
    t.false(html.includes(id));
    for (const page of ['/proof', '/proof.jsonl']) t.is((await open(at(page, '0'.repeat(16)))).status, 404);

    // Seals that the sealer refuses to go on from may be anybody's.
    await sealer.stop();
    await db.raw(`update log_checkpoint set refused = 'The log does not agree with seal 1'`);
    t.is((await fetch(at('/proof'))).status, 503);
    await db.raw('update log_checkpoint set refused = null');
    t.is((await fetch(at('/proof'))).status, 200);

    // A stream that somebody has changed, or cut off before its success, and a store that is away.
    for (const load of [
      async (...args: Parameters<typeof app.eventStore.load>) =>
        (await app.eventStore.load(...args)).slice(0, args[0].startsWith('payment-') ? 1 : undefined),
      async (...args: Parameters<typeof app.eventStore.load>) =>
        (await app.eventStore.load(...args)).map((event) => ({
          ...event,
          data: { ...Object(event.data), at },
        })),
      () => Promise.reject(new EventStoreUnavailable('It does not answer')),
    ]) {
      const apart = await startApp({ ...queries, eventStore: { load } }, app);
      const other = at('/proof').replace(app.url, apart.url);
      t.is((await fetch(other)).status, 503);
      await apart.close();
    }
  },
);

test('a receipt of a wrong amount that was credited has a proof, too', async (t) => {
  const id = await createPayment(app);
  await postResult(app, signed(resultFields(id, { RECEIPT_NO: 'V-40', AMOUNT: '120.00' })));
  await carryOut(app, id, resolving(1, 'credited'));
  await until(async () => (await queries.findPayment(id))?.state.status === 'succeeded');
  const url = verifyUrl('V-40', id).replace('?', '/proof?');
  t.is((await open(url)).status, 200);
  // Each may read 10,000 events.
  const apart = await startApp(queries, app);
  t.teardown(apart.close);
  const statuses: number[] = [];
  for (let time = 0; time < 21; time += 1)
    statuses.push((await fetch(url.replace(app.url, apart.url))).status);
  t.deepEqual(statuses, [...Array(20).fill(200), 429]);
});

test('the address in the PDF is the one that confirms it', async (t) => {
  const id = await paid('V/3 #?%&');
  const pdf = Buffer.from(await (await fetch(`${app.url}/generic/download/${id}`)).arrayBuffer());
  const printed = /\/URI \((http[^)]+)\)/.exec(pdf.toString('latin1'))?.[1] ?? '';
  t.is(printed, verifyUrl('V/3 #?%&', id));
  t.regex((await open(printed)).text, /This receipt is genuine/);
});

test('every forgery gets the same answer as a number that does not exist', async (t) => {
  const id = await paid('V-4');
  const other = await paid('V-5');
  const right = verificationCheck(key, { receiptNo: 'V-4', transactionId: id });
  const unknown = await open(`${app.url}/verify/NONE?c=${right}`);
  t.is(unknown.status, 404);
  t.regex(unknown.text, /We cannot confirm this receipt/);
  const withoutRequestId = (text: string) => text.replace(/[\da-f]{8}-[\da-f-]{27}/, '');
  for (const forged of [
    'V-4',
    'V-4?c=',
    `V-4?c=${right.slice(1)}`,
    `V-4?c=${right}0`,
    `V-4?c=${right.startsWith('7') ? '8' : '7'}${right.slice(1)}`,
    `V-4?c=${right}&c=${right}`,
    `V-4?c[]=${right}`,
    `V-4%20?c=${right}`,
    `v-4?c=${right}`,
    `V-4%00?c=${right}`,
    `V-5?c=${right}`,
    `V-4?c=${verificationCheck(key, { receiptNo: 'V-4', transactionId: other })}`,
    `V-4?c=${verificationCheck(verificationKeys({ ...linkKeys, current: 'another key' }), { receiptNo: 'V-4', transactionId: id })}`,
    `${'V'.repeat(2_000)}?c=${right}`,
    `%ff?c=${right}`,
  ]) {
    const answer = await open(`${app.url}/verify/${forged}`);
    t.is(answer.status, 404, forged);
    t.is(withoutRequestId(answer.text), withoutRequestId(unknown.text), forged);
  }
});

test('a receipt that an earlier release printed, with a check under TRANSACTION_ID_KEY, is confirmed', async (t) => {
  const id = await paid('V-OLD');
  const printed = verificationKeys({ ...linkKeys, current: linkKeys.original });
  const check = verificationCheck(printed, { receiptNo: 'V-OLD', transactionId: id });
  t.is((await open(`${app.url}/verify/V-OLD?c=${check}`)).status, 200);
});

test('two payments with one receipt number are told apart by the check', async (t) => {
  const first = await paid('SAME', { service: 'First' });
  const second = await createPayment(app, { amount: '7.00' });
  await postResult(app, signed(resultFields(second, { RECEIPT_NO: 'SAME', AMOUNT: '7.00' })));
  await until(async () => (await queries.findPayment(second))?.state.status === 'succeeded');
  t.regex((await open(verifyUrl('SAME', first))).text, /RM 120\.50/);
  t.regex((await open(verifyUrl('SAME', second))).text, /RM 7\.00/);
});

test('a payment that has not succeeded has nothing to confirm', async (t) => {
  const id = await createPayment(app);
  await postResult(app, signed(resultFields(id, { STATUS: '0', RECEIPT_NO: 'V-6' })));
  await until(async () => (await queries.findPayment(id))?.state.status === 'failed');
  // 503 as long as rows of other tests' payments are missing.
  const answer = async () => {
    const { status } = await open(verifyUrl('V-6', id));
    return status !== 503 && status;
  };
  t.is(await until(answer), 404);
});

test('without Postgres the answer is 503, not 404', async (t) => {
  const down = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const apart = await startApp({ findByReceiptNo: down }, app);
  try {
    const response = await fetch(`${apart.url}/verify/V-7?c=0123456789ABCDEF`);
    t.is(response.status, 503);
    t.is(response.headers.get('retry-after'), '5');
    t.true((await response.text()).includes('The service is not available at the moment'));
  } finally {
    await apart.close();
  }
});

test.serial(
  'guessing the check code of a receipt pauses the address, and keeps nobody from paying',
  async (t) => {
    const rateLimits = { failuresPerMinute: 3, callsPerSecond: 10, pagesPerMinute: 100 };
    const apart = await startApp({ ...queries, content: { db }, config: { rateLimits } }, app);
    t.teardown(apart.close);
    const statuses: number[] = [];
    for (let time = 0; time < 4; time += 1)
      statuses.push((await fetch(`${apart.url}/verify/V-9?c=0123456789ABCDE${time}`)).status);
    t.deepEqual(statuses, [404, 404, 404, 429]);
    t.is((await fetch(`${apart.url}/generic/pay/${await createPayment(app)}`)).status, 200);
  },
);
