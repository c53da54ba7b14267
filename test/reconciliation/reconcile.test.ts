// Imports into real stores: every class, imports that are repeated or simultaneous, and what is cleared.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { chain, hashIn } from '../../src/events/envelope.ts';
import { type PaymentEvent, paymentStream } from '../../src/events/payment.ts';
import type { ReportedResult } from '../../src/events/payment-result.ts';
import { reconciliationStream } from '../../src/events/reconciliation.ts';
import {
  findCharged,
  openDiscrepancies,
  type PaidKey,
} from '../../src/projections/reconciliation/queries.ts';
import { UnreadableExport } from '../../src/reconciliation/export-format.ts';
import { ImportImpossible } from '../../src/reconciliation/reconcile.ts';
import { isAllMatched, summaryText } from '../../src/reconciliation/summary.ts';
import { until } from '../embedded/helpers.ts';
import { append, reached } from '../projections/helpers.ts';
import { checkChain } from '../support/chain.ts';
import { applied, duplicated, mismatched, result, sen, succeeded } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';
import { type GatewayRow, gatewayCsv, idOf, type Ledger, startLedger } from './helpers.ts';

const postgres = await createDatabase();

const paid = (gatewayTransactionId: string, over: Partial<ReportedResult> = {}): PaymentEvent =>
  succeeded(result(1, 'succeeded', { gatewayTransactionId, sellerOrderNo: '', ...over }));
const row = (number: number, gatewayTransactionId: string, over: GatewayRow = {}): GatewayRow => ({
  TRANS_ID: idOf(number),
  PAYMENT_TRANS_ID: gatewayTransactionId,
  ...over,
});
const open = ({ database }: Ledger) => openDiscrepancies(database.db, null, { limit: 100, after: null });

test.serial('every class with its sums; a repeated import finds nothing new', async (t) => {
  const ledger = await startLedger(t, postgres);
  await ledger.pay(idOf(1), [paid('P1')]);
  await ledger.pay(idOf(2), [paid('P2')]);
  await ledger.pay(idOf(3), [applied(result(1, 'failed', { gatewayTransactionId: 'P3' }))]);
  await ledger.pay(idOf(4), [paid('P4')]);
  await ledger.pay(idOf(5), [paid('P5', { paidAt: '2026-11-19T01:00:00.000Z' })]);
  await ledger.pay(idOf(6), [paid('P6')], 'museum');
  await ledger.pay(idOf(7), [
    mismatched(result(1, 'succeeded', { gatewayTransactionId: 'P7', amountSen: sen(1) })),
  ]);
  await ledger.pay(idOf(8), [
    paid('P8'),
    duplicated(result(2, 'succeeded', { gatewayTransactionId: 'P8b' }), 'P8'),
  ]);
  const csv = gatewayCsv([
    row(1, 'P1'),
    row(2, 'P2', { AMOUNT: '12.05' }),
    row(3, 'P3'),
    row(8, 'P8'),
    row(8, 'P8b'),
    row(8, 'P8b'),
    row(9, 'P9'),
    { PAYMENT_TRANS_ID: 'P10' },
  ]);
  const dry = await ledger.compare(csv, { dryRun: true });
  const first = await ledger.compare(csv);
  t.deepEqual(dry.summary, { ...first.summary, opened: 0 });
  t.like(first.summary, {
    source: 'gateway',
    rows: 8,
    badRows: 0,
    opened: 6,
    cleared: 0,
    merchantCodes: ['council'],
    period: { start: '2026-11-20T01:04:30.000Z', end: '2026-11-20T01:04:31.000Z' },
    classes: {
      matched: { count: 3, oursSen: 36_150, theirsSen: 36_150 },
      amountDiffers: { count: 1, oursSen: 12_050, theirsSen: 1_205 },
      statusDiffers: { count: 1, oursSen: 0, theirsSen: 12_050 },
      missingHere: { count: 2, oursSen: 0, theirsSen: 24_100 },
      missingThere: { count: 2, oursSen: 12_051, theirsSen: 0 },
      repeated: { count: 1 },
    },
  });
  t.deepEqual(
    first.found.map(({ kind, transactionId, file: { line } }) => [kind, transactionId, line]).toSorted(),
    [
      ['amountDiffers', idOf(2), 3],
      ['missingHere', '', 9],
      ['missingHere', idOf(9), 8],
      ['missingThere', idOf(4), null],
      ['missingThere', idOf(7), null],
      ['statusDiffers', idOf(3), 4],
    ].toSorted(),
  );
  const again = await ledger.compare(csv);
  t.deepEqual(again.summary, { ...first.summary, opened: 0 });
  for (const { id } of first.found) {
    const events = await ledger.store.eventStore.load(reconciliationStream(id));
    t.is(events.length, 1);
    checkChain(t, events);
  }
  const ids = (discrepancies: readonly { id: string }[]) => discrepancies.map(({ id }) => id).toSorted();
  t.deepEqual(ids(await open(ledger)), ids(first.found));
  // Most of them were paid at the same time.
  const span = { start: '2026-11-19T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z' };
  for (const [by, count] of [
    ['paid', 6],
    ['inSuspense', 2],
  ] as const) {
    const page = (limit: number, after: PaidKey | null) =>
      findCharged(ledger.database.db, by, span, null, { limit, after });
    const all = await page(100, null);
    t.is(all.length, count);
    const single: PaidKey[] = [];
    for (const _ of all) single.push(...(await page(1, single.at(-1) ?? null)));
    t.deepEqual(single, all, 'page by page');
  }
});

test.serial(
  'a discrepancy that a later import does not find is cleared; found again, it is open again',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    await ledger.pay(idOf(1), [paid('P1')]);
    const without = gatewayCsv([row(2, 'P2')]);
    const withIt = gatewayCsv([row(1, 'P1'), row(2, 'P2')]);
    const opened = await ledger.compare(without);
    t.deepEqual(
      opened.found.map(({ kind }) => kind),
      ['missingHere', 'missingThere'],
    );
    t.like((await ledger.compare(withIt, { dryRun: true })).summary, { cleared: 0 });
    const settled = await ledger.compare(withIt);
    t.like(settled.summary, { opened: 0, cleared: 1 });
    const id = opened.found.find(({ kind }) => kind === 'missingThere')?.id ?? '';
    const stream = await ledger.store.eventStore.load(reconciliationStream(id));
    t.like(stream.at(-1), {
      type: 'ReconciliationDifferenceResolved',
      data: { resolution: 'vanished', note: '' },
      metadata: { actor: 'staff:test' },
    });
    await ledger.pay(idOf(2), [paid('P2')]);
    const last = await ledger.compare(withIt);
    t.like(last.summary, { opened: 0, cleared: 1 });
    t.true(isAllMatched(last.summary));
    t.deepEqual(
      await ledger.compare(withIt).then(({ summary }) => [summary.opened, summary.cleared]),
      [0, 0],
    );
    t.deepEqual(
      await ledger.compare(without).then(({ summary }) => [summary.opened, summary.cleared]),
      [1, 0],
    );
    const events = await ledger.store.eventStore.load(reconciliationStream(id));
    t.is(events.length, 3);
    await reached(
      ledger.database.db,
      'reconciliation',
      events.at(-1)?.position ?? { commit: 0n, prepare: 0n },
    );
    t.deepEqual(
      (await open(ledger)).map((each) => each.id),
      [id],
    );
  },
);

test.serial('rows of a payment that cannot be read are named, and the others are compared', async (t) => {
  const ledger = await startLedger(t, postgres);
  for (const number of [1, 2, 3]) await ledger.pay(idOf(number), [paid(`P${number}`)]);
  const teleported = { type: 'PaymentTeleported', data: {} };
  for (const number of [1, 3]) await append(ledger.store.eventStore, idOf(number), [teleported], 1);
  const csv = gatewayCsv([row(1, 'P1'), row(1, 'P9'), row(2, 'P2', { AMOUNT: '12.05' })]);
  const { badRows, found, summary } = await ledger.compare(csv);
  const fault = 'is of a payment whose events cannot be read';
  const unseen = `begins a file without a readable row of ${idOf(3)}, whose events cannot be read`;
  t.deepEqual(badRows, [
    { line: 2, fault },
    { line: 3, fault },
    { line: 1, fault: unseen },
  ]);
  t.deepEqual(
    found.map(({ kind, transactionId }) => [kind, transactionId]),
    [['amountDiffers', idOf(2)]],
  );
  t.is(summary.badRows, 3);
  t.false(isAllMatched(summary));
});

test.serial(
  'a payment of an unreadable row is not missing there; without a readable row nothing is',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    for (const number of [1, 2, 3]) await ledger.pay(idOf(number), [paid(`P${number}`)]);
    const day = { from: '2026-11-19T16:00:00.000Z', to: '2026-11-20T16:00:00.000Z' };
    const large = row(1, 'P1', { TRANS_ID: ` ${idOf(1)} `, AMOUNT: '"1,120.50"' });
    const some = await ledger.compare(gatewayCsv([large, row(2, 'P2')]), day);
    t.is(some.summary.badRows, 1);
    t.deepEqual(some.badRows, [{ line: 2, fault: 'AMOUNT must be an amount such as 120.50' }]);
    t.deepEqual(
      some.found.map(({ kind, transactionId }) => [kind, transactionId]),
      [['missingThere', idOf(3)]],
      'the file says something about the first, if nobody knows what',
    );
    const stray = row(3, 'P3', { RECEIPT_NO: '"Kedai "Ali' });
    const quoted = await ledger.compare(gatewayCsv([large, row(2, 'P2'), stray]), { ...day, dryRun: true });
    t.deepEqual([quoted.summary.badRows, quoted.found], [2, []], 'nor of a row whose quotes do not match');
    const empty = await ledger.compare(gatewayCsv([]), { ...day, dryRun: true });
    t.is(empty.found.length, 3, 'a file without rows is one that lacks all');
    for (const period of [{}, { from: day.from }])
      await t.throwsAsync(ledger.compare(gatewayCsv([]), period), {
        instanceOf: UnreadableExport,
        message: 'No row can be read: nothing was compared',
      });
    const none = gatewayCsv([large, row(2, 'P2', { PAYMENT_DATETIME: '20/11/2026' })]);
    await t.throwsAsync(ledger.compare(none, day), {
      instanceOf: UnreadableExport,
      message: 'No row can be read: nothing was compared',
    });
  },
);

test.serial(
  'of one transaction 1,000 rows are compared, and each further one is a row with a fault',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    await ledger.pay(idOf(1), [paid('P1')]);
    const { badRows, summary } = await ledger.compare(gatewayCsv(Array(1_002).fill(row(1, 'P1'))));
    const fault = 'is one of more than 1000 of its transaction';
    t.deepEqual(
      badRows,
      [1_002, 1_003].map((line) => ({ line, fault })),
    );
    t.like(summary, { rows: 1_002, badRows: 2 });
  },
);

test.serial('sums are of ringgit alone', async (t) => {
  const ledger = await startLedger(t, postgres);
  const dollars = mismatched(result(1, 'succeeded', { gatewayTransactionId: 'P1', currency: 'USD' }));
  await ledger.pay(idOf(1), [dollars]);
  const { summary } = await ledger.compare(gatewayCsv([row(1, 'P1', { CURRENCY: 'USD' })]));
  t.deepEqual(summary.classes.matched, { count: 1, oursSen: 0, theirsSen: 0 });
});

test.serial('the period and the merchants decide what the file should hold', async (t) => {
  const ledger = await startLedger(t, postgres);
  await ledger.pay(idOf(1), [paid('P1', { paidAt: '2026-11-19T01:00:00.000Z' })]);
  await ledger.pay(idOf(2), [paid('P2')], 'museum');
  const missing = async (csv: string, from?: string, to?: string) => {
    const { found } = await ledger.compare(csv, { ...(from && { from }), ...(to && { to }), dryRun: true });
    return found.filter(({ kind }) => kind === 'missingThere').map(({ transactionId }) => transactionId);
  };
  const other = row(9, 'P9');
  t.deepEqual(await missing(gatewayCsv([other])), []);
  t.deepEqual(await missing(gatewayCsv([other]), '2026-11-19T00:00:00.000Z'), [idOf(1)]);
  const byId = gatewayCsv([{ ...other, MERCHANT_CODE: '7' }]);
  t.deepEqual(await missing(byId, '2026-11-19T00:00:00.000Z'), [idOf(1)], 'the id of the agency');
  t.deepEqual(await missing(gatewayCsv([{ ...other, MERCHANT_CODE: '' }])), [idOf(2)]);
  t.deepEqual(await missing(gatewayCsv([{ ...other, PAYMENT_DATETIME: '' }])), []);
  const far = gatewayCsv([other, row(8, 'P8', { PAYMENT_DATETIME: '2021-01-01 00:00:00' })]);
  await t.throwsAsync(missing(far), { instanceOf: UnreadableExport, message: /366 days/ });
  t.deepEqual(await missing(far, '2026-11-19T00:00:00.000Z', '2026-11-21T00:00:00.000Z'), [idOf(1)]);
});

test.serial('two imports of one file at once leave one set of events', async (t) => {
  const ledger = await startLedger(t, postgres);
  const csv = gatewayCsv(Array.from({ length: 120 }, (_, index) => row(index, `P${index}`)));
  const both = await Promise.all([ledger.compare(csv), ledger.compare(csv)]);
  t.is(both[0].summary.opened + both[1].summary.opened, 120);
  for (const { id } of both[0].found)
    t.is((await ledger.store.eventStore.load(reconciliationStream(id))).length, 1);
});

test.serial('a read model that is behind is refused', async (t) => {
  const ledger = await startLedger(t, postgres);
  await reached(ledger.database.db, 'payments', await ledger.pay(idOf(1), [paid('P1')]));
  await until(() => ledger.compare(gatewayCsv([row(1, 'P1')])).then(() => true));
  for (const name of ['reconciliation', 'payments']) {
    const checkpoint = () => ledger.database.db('checkpoints').where({ name });
    const { version } = await checkpoint().first();
    await checkpoint().update({ version: version + 1 });
    const impatient = ledger.compare(gatewayCsv([row(1, 'P1')]), { waitMs: 300 });
    await t.throwsAsync(impatient, { instanceOf: ImportImpossible, message: RegExp(name) });
    await checkpoint().update({ version });
  }
});

test.serial(
  'for any payments and records the classes add up, and a repeated import finds nothing new',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    let used = 0;
    const side = fc.record({
      here: fc.constantFrom('none', 'paid', 'failed', 'mismatch', 'twice'),
      there: fc.constantFrom('none', 'paid', 'failed', 'other', 'twice'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(side, { minLength: 1, maxLength: 8 }), async (sides) => {
        const start = used;
        used += sides.length;
        const at = new Date(Date.UTC(2026, 0, 1, 0, start)).toISOString();
        const rows: GatewayRow[] = [];
        let charges = 0;
        for (const [index, { here, there }] of sides.entries()) {
          const number = start + index;
          const id = `P${number}`;
          const own = { gatewayTransactionId: id, sellerOrderNo: '', paidAt: at };
          const events = {
            none: null,
            paid: [paid(id, own)],
            failed: [applied(result(1, 'failed', own))],
            mismatch: [mismatched(result(1, 'succeeded', { ...own, amountSen: sen(1) }))],
            twice: [
              paid(id, own),
              duplicated(result(1, 'succeeded', { ...own, gatewayTransactionId: `${id}b` }), id),
            ],
          }[here];
          if (events) await ledger.pay(idOf(number), events);
          charges += { none: 0, paid: 1, failed: 0, mismatch: 1, twice: 2 }[here];
          const theirs = { PAYMENT_DATETIME: at };
          const first = row(number, id, theirs);
          rows.push(
            ...{
              none: [],
              paid: [first],
              failed: [{ ...first, STATUS: '0' }],
              other: [{ ...first, AMOUNT: '1.00' }],
              twice: [first, row(number, `${id}b`, theirs)],
            }[there],
          );
        }
        const period = { from: at, to: new Date(Date.parse(at) + 1).toISOString() };
        const { summary, found } = await ledger.compare(gatewayCsv(rows), period);
        const { matched, missingHere, missingThere, amountDiffers, statusDiffers, repeated } =
          summary.classes;
        const both = [matched, missingHere, amountDiffers, statusDiffers];
        t.is(
          both.reduce((sum, { count }) => sum + count, 0),
          rows.length,
        );
        t.is(repeated.count, 0);
        t.is(missingThere.count + amountDiffers.count + matched.count + statusDiffers.count >= charges, true);
        t.is(
          found.length,
          missingHere.count + missingThere.count + amountDiffers.count + statusDiffers.count,
        );
        t.is(summary.opened, found.length);
        const again = await ledger.compare(gatewayCsv(rows), period);
        t.deepEqual(again.summary, { ...summary, opened: 0 });
      }),
      { numRuns: runs(15) },
    );
  },
);

test.serial('a discrepancy in the read model is what its stream folds to', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { found } = await ledger.compare(gatewayCsv([row(1, 'P1')]));
  const [expected] = found;
  const [listed] = await until(async () => {
    const all = await open(ledger);
    return all.length > 0 && all;
  });
  t.deepEqual<unknown, unknown>({ ...listed?.difference, id: listed?.id }, { ...expected, resolved: null });
});

test.serial(
  'an older export clears nothing that a newer one found, however the newest is imported',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    await ledger.pay(idOf(1), [applied(result(1, 'pending', { gatewayTransactionId: 'P1' }))]);
    const pendingThere = gatewayCsv([row(1, 'P1', { STATUS: '3' })]);
    const failedThere = gatewayCsv([row(1, 'P1', { STATUS: '0' })]);
    const [noon, evening, night] = ['04', '10', '14'].map((hour) => `2026-11-20T${hour}:00:00.000Z`);
    const found = await ledger.compare(failedThere, { madeAt: evening ?? '' });
    t.like(found.summary, { opened: 1, asOf: evening });
    const older = await ledger.compare(pendingThere, { madeAt: noon ?? '' });
    t.like(older.summary, { opened: 0, cleared: 0, keptFromNewer: 1 });
    t.regex(
      summaryText(older.summary),
      /1 open discrepancy that it does not show stays open, because a newer export/,
    );
    await until(async () => (await open(ledger)).length === 1);
    // Without a time, the export is as old as its last payment.
    t.like((await ledger.compare(pendingThere)).summary, { cleared: 0, asOf: '2026-11-20T01:04:30.000Z' });
    t.like((await ledger.compare(pendingThere, { madeAt: night ?? '' })).summary, {
      cleared: 1,
      keptFromNewer: 0,
    });
    // And what a newer export has cleared is not opened again by an older one.
    t.like((await ledger.compare(failedThere, { madeAt: evening ?? '' })).summary, { opened: 0 });
  },
);

test.serial(
  'money that was paid there is cleared when the ledger has it, not when a file lacks it',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const id = idOf(1);
    await ledger.pay(id, [applied(result(1, 'pending', { gatewayTransactionId: 'P1' }))]);
    const madeAt = (hour: number) => ({ madeAt: `2026-11-20T${hour}:00:00.000Z` });
    t.like((await ledger.compare(gatewayCsv([row(1, 'P1')]), madeAt(10))).summary, { opened: 1 });
    const newer = await ledger.compare(gatewayCsv([row(1, 'P1')]), madeAt(11));
    t.like(newer.summary, { opened: 0 }, 'it is recorded with its moment, but was open before');
    t.is((await ledger.store.eventStore.load(reconciliationStream(newer.found[0]?.id ?? ''))).length, 2);
    const pendingThere = gatewayCsv([row(1, 'P1', { STATUS: '3' })]);
    t.like((await ledger.compare(pendingThere, madeAt(12))).summary, { cleared: 0 });
    await until(async () => (await open(ledger)).length === 1);
    const { eventStore } = ledger.store;
    const stored = await eventStore.load(paymentStream(id));
    const cause = { commandId: randomUUID(), correlationId: 'c', causationId: 'c', actor: 'gateway' };
    const paidNow = chain([paid('P1')], hashIn(stored.at(-1)), cause);
    await eventStore.append(paymentStream(id), paidNow, stored.at(-1)?.revision ?? 'no_stream');
    t.like((await ledger.compare(gatewayCsv([row(1, 'P1')]), madeAt(13))).summary, { cleared: 1 });
  },
);

test.serial('an export cannot be older than its payments, nor from the future', async (t) => {
  const ledger = await startLedger(t, postgres);
  const csv = gatewayCsv([row(1, 'P1')]);
  await t.throwsAsync(ledger.compare(csv, { madeAt: '2026-11-19T00:00:00.000Z' }), {
    instanceOf: UnreadableExport,
  });
  await t.throwsAsync(ledger.compare(csv, { madeAt: '2999-01-01T00:00:00.000Z' }), {
    instanceOf: UnreadableExport,
  });
  const asOf = async (time: string) =>
    (await ledger.compare(gatewayCsv([row(1, 'P1', { PAYMENT_DATETIME: time })]))).summary.asOf;
  const ahead = new Date(Date.now() + 48 * 3_600_000).toISOString().replace('T', ' ').slice(0, 19);
  t.true(new Date((await asOf(ahead)) ?? Infinity) <= new Date(), 'a wrong clock wrote it');
  t.is(await asOf(''), null);
});
