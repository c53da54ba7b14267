// Payouts and remittances from files: all or nothing, once, and each charge compared with its payment.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { settlementIdOf } from '../../src/events/settlement.ts';
import { systemRuntime } from '../../src/kernel/system-runtime.ts';
import { ageing } from '../../src/projections/journal/ageing.ts';
import { journal } from '../../src/projections/journal/projection.ts';
import { listSettlements, payoutLines } from '../../src/projections/journal/settlement-queries.ts';
import { openSharedNumbers } from '../../src/projections/journal/shared-number-queries.ts';
import { projectionStatus } from '../../src/projections/runtime/checkpoints.ts';
import { isReady } from '../../src/projections/runtime/lag.ts';
import { UnreadableExport } from '../../src/reconciliation/export-format.ts';
import { enterSettlement, importSettlement } from '../../src/reconciliation/settle.ts';
import { run } from '../projections/helpers.ts';
import { chosen, result, sen, succeeded } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { idOf, key, pieces, startLedger } from './helpers.ts';

const postgres = await createDatabase();
const header = 'REFERENCE,SETTLED_ON,TOTAL,TRANS_ID,PAYMENT_TRANS_ID,PAYMENT_MODE,AMOUNT,FEE';
const cause = () => ({
  commandId: randomUUID(),
  correlationId: randomUUID(),
  causationId: randomUUID(),
  actor: 'staff:test',
});

test.serial('a payout settles the charges that it names, and shows what does not fit', async (t) => {
  const ledger = await startLedger(t, postgres);
  const { database, store, pay } = ledger;
  const { db } = database;
  run(t, journal, store, database);
  const dependencies = { eventStore: store.eventStore, db, transactionIdKey: key, runtime: systemRuntime };
  const settled = async () => {
    const sources = { ...dependencies, projectionStatus: () => projectionStatus(db) };
    t.true(await isReady(journal, { until: new Date(), waitMs: 20_000 }, sources));
  };
  const bring = async (csv: string, options: { isConfirmed?: boolean; dryRun?: boolean } = {}) => {
    const faults: string[] = [];
    const found: string[] = [];
    const imported = await importSettlement(dependencies, {
      file: pieces(Buffer.from(csv)),
      isConfirmed: false,
      dryRun: false,
      ...options,
      waitMs: 20_000,
      newCause: cause,
      onBadRow: ({ line, fault }) => faults.push(`${line} ${fault}`),
      onDiscrepancy: (_, { gatewayTransactionId, kind }) => found.push(`${gatewayTransactionId} ${kind}`),
    }).catch((error) => {
      if (!(error instanceof UnreadableExport) && !(error instanceof Refused)) throw error;
      return error.message;
    });
    await settled();
    return { imported, faults, found };
  };
  for (const no of [1, 2, 3]) {
    const reported = result(1, 'succeeded', {
      mode: no === 3 ? 'cc' : 'fpx',
      gatewayTransactionId: `G${no}`,
    });
    await pay(idOf(no), [chosen(1), succeeded(reported, { receiptNo: `R-${no}` })]);
  }
  await settled();

  // Two charges as they are in the ledger, one of another amount, and one that nobody here knows.
  const rows = (reference: string, total: string) =>
    [
      header,
      `${reference},2026-11-21,${total},${idOf(1)},G1,fpx,120.50,0.50`,
      `${reference},2026-11-21,${total},${idOf(2)},G2,,120.50,0.50`,
      `${reference},2026-11-21,${total},${idOf(3)},G3,fpx,120.00,`,
      `${reference},2026-11-21,${total},${idOf(9)},G9,wallet,10.00,0.10`,
    ].join('\r\n');
  t.is(
    (await bring(rows('PO-1', '371.00'))).imported,
    'The amounts less the fees are RM 369.90, and the total is RM 371.00',
  );
  t.like(await bring(rows('PO-1', '369.90'), { dryRun: true }), {
    imported: { isNew: false, rows: 4 },
    found: ['G3 amountDiffers', 'G9 missingHere'],
  });
  const payoutsOf = (transactionId: string) => listSettlements(db, { limit: 9, after: null, transactionId });
  t.is((await payoutsOf(idOf(1))).length, 0);

  const both = await Promise.all([bring(rows('PO-1', '369.90')), bring(rows('PO-1', '369.90'))]);
  t.deepEqual(both.map(({ imported }) => typeof imported === 'object' && imported.isNew).sort(), [
    false,
    true,
  ]);
  const again = await bring(rows('PO-1', '369.90'));
  t.like(again.imported, { isNew: false, summary: { opened: 0, cleared: 0 } });
  const id = settlementIdOf('payout', 'PO-1');
  t.like(await payoutsOf(idOf(2)), [{ id, reference: 'PO-1', totalSen: 36_990 }]);
  t.deepEqual(
    (await payoutLines(db, id, { limit: 9, after: 2 })).map(({ no, charge }) => [no, charge]),
    [
      [3, 'G3'],
      [4, 'G9'],
    ],
  );
  const open = new Map((await ageing(db, new Date())).map(({ account, openSen }) => [account, openSen]));
  t.deepEqual(
    [...open],
    [
      ['gateway:cc', 50n],
      ['gateway:wallet', -1_000n],
      ['merchant:council', 36_150n],
    ],
  );

  t.regex(String((await bring(rows('po-1', '369.90').replace('0.10', '0.1'))).imported), /already recorded/);
  t.regex(String((await bring(rows('PO-2', '369.90'))).imported), /^PO-1 of the same day has the same total/);
  t.like((await bring(rows('PO-2', '369.90'), { isConfirmed: true })).imported, { isNew: true });
  t.is((await openSharedNumbers(db)).count, 4, 'every charge is named twice');

  // Agencies, by hand and from a file.
  const remit = (csv: string[]) =>
    bring(['REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT', ...csv].join('\n'));
  const faulty = await remit([
    'RM-1,2026-11-21,300.00,council,300.00',
    'RM-1,2026-11-21,300.00,nobody,0.01',
    'RM-1,2026-11-21,300.00,council,-1.00',
    'RM-2,2026-11-21,300.00,council,1.00',
    '=HYPERLINK(1),2026-11-21,300.00,council,1.00',
  ]);
  t.is(faulty.imported, 'Nothing was imported: 4 rows have faults');
  t.deepEqual(
    faulty.faults.map((fault) => fault.slice(0, 24)),
    [
      '3 names an account that ',
      '4 AMOUNT is not an amoun',
      '5 has another REFERENCE,',
      '6 REFERENCE must have 1 ',
    ],
  );
  t.like((await remit(['RM-1,2026-11-21,300.00,council,300.00'])).imported, { isNew: true, summary: null });
  const parts = [{ account: 'merchant:council', openedOn: null, amountSen: sen(6_150) }];
  const byHand = { kind: 'remittance', reference: 'RM-2', settledOn: '2026-11-21', parts } as const;
  const task = { isConfirmed: false, newCause: cause };
  const refused = enterSettlement(dependencies, { ...byHand, totalSen: sen(6_000) }, task);
  t.is(
    (await t.throwsAsync(refused)).message,
    'The amounts less the fees are RM 61.50, and the total is RM 60.00',
  );
  t.true((await enterSettlement(dependencies, { ...byHand, totalSen: sen(6_150) }, task)).isNew);
  t.false((await enterSettlement(dependencies, { ...byHand, totalSen: sen(6_150) }, task)).isNew);
  await settled();
  t.false((await ageing(db, new Date())).some(({ account }) => account.startsWith('merchant:')));
});
