// Payouts and remittances from files: all or nothing, once, and each charge found in the books.
import { randomUUID } from 'node:crypto';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { isReady } from '@ledger/projections/runtime/lag.ts';
import test, { type ExecutionContext } from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { settlementIdOf, settlementStream } from '../../src/events/settlement.ts';
import { ageing } from '../../src/projections/journal/ageing.ts';
import { journal } from '../../src/projections/journal/projection.ts';
import { UnreadableExport } from '../../src/reconciliation/export-format.ts';
import { ReadModelBehind } from '../../src/reconciliation/reconcile.ts';
import { importSettlement } from '../../src/reconciliation/settle.ts';
import { run, startStore } from '../projections/helpers.ts';
import { chosen, result, succeeded } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { idOf, pieces, startLedger } from './helpers.ts';

const postgres = await createDatabase();
const header = 'REFERENCE,SETTLED_ON,TOTAL,TRANS_ID,PAYMENT_TRANS_ID,PAYMENT_MODE,AMOUNT,FEE';
const cause = () => ({
  commandId: randomUUID(),
  correlationId: randomUUID(),
  causationId: randomUUID(),
  actor: 'staff:test',
});

async function start(t: ExecutionContext) {
  const { database, store, pay } = await startLedger(t, postgres);
  const { db } = database;
  run(t, journal, store, database);
  const dependencies = { eventStore: store.eventStore, db, runtime: systemRuntime };
  const settled = async () => {
    const sources = { ...dependencies, projectionStatus: () => projectionStatus(db) };
    t.true(await isReady(journal, { until: new Date(), waitMs: 20_000 }, sources));
  };
  const bring = async (rows: readonly string[], isConfirmed = false) => {
    const faults: string[] = [];
    const imported = await importSettlement(dependencies, {
      file: pieces(Buffer.from(rows.join('\r\n'))),
      isConfirmed,
      cause: cause(),
      onBadRow: ({ line, fault }) => faults.push(`${line} ${fault}`),
    }).catch((error) => {
      if (!(error instanceof UnreadableExport) && !(error instanceof Refused)) throw error;
      return error.message;
    });
    await settled();
    return { imported, faults };
  };
  const open = async () =>
    Object.fromEntries(
      (await ageing(db, new Date())).map(({ account, figures }) => [account, figures.at(-1)]),
    );
  return { bring, dependencies, open, pay, settled, eventStore: store.eventStore };
}

test.serial('a payout settles the charges that it names, once', async (t) => {
  const { bring, eventStore, open, pay, settled } = await start(t);
  for (const no of [1, 2, 3]) {
    const reported = result(1, 'succeeded', {
      mode: no === 3 ? 'cc' : 'fpx',
      gatewayTransactionId: `G${no}`,
    });
    await pay(idOf(no), [chosen(1), succeeded(reported, { receiptNo: `R-${no}` })]);
  }
  await settled();
  // Two charges as they are in the books, by either id; one of another amount; one that nobody here knows; a sum.
  const rows = (reference: string, total: string) => [
    header,
    `${reference},2026-11-21,${total},${idOf(1)},G1,cc,120.50,0.50`,
    `${reference},2026-11-21,${total},,G2,,120.50,0.50`,
    `${reference},2026-11-21,${total},${idOf(3)},G3,cc,120.00,`,
    `${reference},2026-11-21,${total},${idOf(9)},G9,wallet,10.00,0.10`,
    `${reference},2026-11-21,${total},,,dnqr,1.00,`,
  ];
  t.is(
    (await bring(rows('PO-1', '372.00'))).imported,
    'The amounts less the fees are RM 370.90, and the total is RM 372.00',
  );
  t.deepEqual(await bring(rows('PO-1', '370.90')), {
    imported: '2 of its charges are not in the books with this amount: confirm that it is to be recorded',
    faults: ['4', '5'].map((line) => `${line} names a charge that is not in the books`),
  });
  t.is((await open())['gateway:fpx'], 24_100n);

  const both = await Promise.all([1, 2].map(() => bring(rows('PO-1', '370.90'), true)));
  t.deepEqual(both.map(({ imported }) => typeof imported === 'object' && imported.isNew).sort(), [
    false,
    true,
  ]);
  const again = (await bring(rows('PO-1', '370.90'))).imported;
  t.like(again, { isNew: false, rows: 5, kind: 'payout', reference: 'PO-1', totalSen: 37_090 });
  t.deepEqual(await open(), {
    'gateway:cc': 50n,
    'gateway:dnqr': -100n,
    'gateway:wallet': -1_000n,
    'merchant:council': 36_150n,
  });
  const stream = await eventStore.load(settlementStream(typeof again === 'object' ? again.id : ''));
  t.is(stream.length, 1);

  t.regex(String((await bring([...rows('po-1', '370.90'), ''], true)).imported), /already recorded/);
  const known = (reference: string) => [header, `${reference},2026-11-21,1.00,,,dnqr,1.00,`];
  t.like((await bring(known('PO-2'))).imported, { isNew: true });
  t.regex(String((await bring(known('PO-3'))).imported), /^PO-2 of the same day has the same total/);
  t.like((await bring(known('PO-3'), true)).imported, { isNew: true });

  // Whoever confirms charges that are not in the books must also learn that it may be recorded already.
  const underAnotherName = (await bring(rows('PO-4', '370.90'))).imported;
  t.is(
    underAnotherName,
    '2 of its charges are not in the books with this amount; PO-1 of the same day has the same total: confirm that it is to be recorded',
  );
});

test.serial('nothing is settled by rows of a log that was lost', async (t) => {
  const { dependencies, pay, settled } = await start(t);
  await pay(idOf(1), [chosen(1), succeeded(result(1, 'succeeded'), { receiptNo: 'R-1' })]);
  await settled();
  const { eventStore: older } = await startStore(t);
  const rows = [header, `PO-1,2026-11-21,120.50,${idOf(1)},,fpx,120.50,`];
  const imported = importSettlement(
    { ...dependencies, eventStore: older },
    { file: pieces(Buffer.from(rows.join('\r\n'))), isConfirmed: true, cause: cause(), onBadRow() {} },
  );
  await t.throwsAsync(imported, { instanceOf: ReadModelBehind });
  t.deepEqual(await older.load(settlementStream(settlementIdOf('payout', 'PO-1'))), []);
});

test.serial(
  'remittances bring agencies to zero, and a file with a fault is not imported at all',
  async (t) => {
    const { bring, open, pay, settled } = await start(t);
    await pay(idOf(1), [chosen(1), succeeded(result(1, 'succeeded'))]);
    const ofPort = result(1, 'succeeded', { gatewayTransactionId: 'G-port' });
    await pay(idOf(2), [chosen(1), succeeded(ofPort, { receiptNo: 'R-port' })], 'port');
    await settled();
    const remit = (...rows: string[]) => bring(['REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT', ...rows]);
    t.deepEqual(
      await remit(
        'RM-1,2026-11-21,120.50,council,120.50',
        'RM-1,2026-11-21,120.50,nobody,0.01',
        'RM-1,2026-11-21,120.50,council,-1.00',
        'RM-2,2026-11-21,120.50,council,1.00',
        '=HYPERLINK(1),2026-11-21,120.50,council,1.00',
        'RM-1,2026-02-30,120.50,council,1.00',
      ),
      {
        imported: 'Nothing was imported; rows with faults: 5',
        faults: [
          '3 MERCHANT_CODE names no account of the journal',
          '4 AMOUNT or FEE is not an amount such as 120.50',
          '5 has another REFERENCE, SETTLED_ON or TOTAL than the first row',
          '6 REFERENCE must have 1 to 64 letters, digits, spaces or . : / - and begin with a letter or digit',
          '7 SETTLED_ON is not a day such as 2026-11-20',
        ],
      },
    );
    t.regex(String((await bring(['A,B', '1,2'])).imported), /^The first row is neither/);
    const both = 'REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,PAYMENT_MODE,AMOUNT';
    t.regex(
      String((await bring([both, 'RM-3,2026-11-21,1.00,council,fpx,1.00'])).imported),
      /^The first row is the header of a payout and of remittances/,
    );
    t.is((await remit()).imported, 'The file has no rows');
    const withCurrency = 'REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT,CURRENCY';
    t.deepEqual((await bring([withCurrency, 'RM-1,2026-11-21,120.50,council,120.50,USD'])).faults, [
      '2 CURRENCY is not MYR',
    ]);
    const tooMuch = ['RM-0,2026-11-21,120.51,council,60.00', 'RM-0,2026-11-21,120.51,council,60.51'];
    t.is(
      (await remit(...tooMuch)).imported,
      'merchant:council is owed less, RM 120.50: confirm that it is to be recorded',
    );
    t.is(
      (await remit('RM-0,2026-11-21,300.00,council,150.00', 'RM-0,2026-11-21,300.00,port,150.00')).imported,
      'merchant:council (RM 120.50), merchant:port (RM 120.50) are owed less: confirm that it is to be recorded',
    );
    t.like((await remit('RM-1,2026-11-21,120.50,council,120.50')).imported, { isNew: true });
    t.deepEqual(Object.keys(await open()), ['gateway:fpx', 'merchant:port']);
    t.regex(String((await remit('RM-2,2026-11-21,0.01,council,0.01')).imported), /is owed less, RM 0.00/);
    const header = 'REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT';
    t.like((await bring([header, 'RM-2,2026-11-21,0.01,council,0.01'], true)).imported, { isNew: true });
    t.like((await bring([`${both},FEE`, 'PO-1,2026-11-21,0.50,council,fpx,1.00,0.50'])).imported, {
      kind: 'payout',
    });
  },
);
