// Payouts and remittances from files: all or nothing, once, and each charge found in the books.
import { randomUUID } from 'node:crypto';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { isReady } from '@ledger/projections/runtime/lag.ts';
import test, { type ExecutionContext } from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { createExecute, loadHead } from '../../src/commands/execute.ts';
import { settlementDecider } from '../../src/commands/settlement.ts';
import { dayOf } from '../../src/common/malaysian-time.ts';
import { settlementIdOf, settlementStream } from '../../src/events/settlement.ts';
import { ageing } from '../../src/projections/journal/ageing.ts';
import { journal } from '../../src/projections/journal/projection.ts';
import { journalGap } from '../../src/projections/journal/queries.ts';
import { UnreadableExport } from '../../src/reconciliation/export-format.ts';
import { ImportImpossible } from '../../src/reconciliation/reconcile.ts';
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
  const settled = async () =>
    t.true(await isReady(journal, { until: new Date(), waitMs: 20_000 }, dependencies));
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
    imported:
      '2 of its charges are not in the books with this amount; gateway:dnqr owes less, RM 0.00: confirm that it is to be recorded',
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
  const known = (reference: string) => [header, `${reference},2026-11-21,0.50,,,cc,0.50,`];
  t.like((await bring(known('PO-2'))).imported, { isNew: true });
  const [recorded] = await eventStore.load(settlementStream(settlementIdOf('payout', 'PO-2')));
  const parts = [{ account: 'gateway:cc', openedOn: null, amountSen: 50 }];
  t.like(recorded?.data, { parts }, 'and no part of no fees');
  t.regex(
    String((await bring(known('PO-3'))).imported),
    /^PO-2 of the same day has the same total; gateway:cc owes less, RM 0.00:/,
  );
  t.like((await bring(known('PO-3'), true)).imported, { isNew: true });

  // Whoever confirms charges that are not in the books must also learn that it may be recorded already.
  const underAnotherName = (await bring(rows('PO-4', '370.90'))).imported;
  t.is(
    underAnotherName,
    '2 of its charges are not in the books with this amount; 4 of its charges are already in PO-1; PO-1 of the same day has the same total; gateway:fpx (RM 0.00), gateway:dnqr (RM -1.00) owe less: confirm that it is to be recorded',
  );
});

test.serial(
  'a charge that another payout has is named, and recorded only if that is confirmed',
  async (t) => {
    const { bring, dependencies, open, pay, settled } = await start(t);
    for (const no of [1, 2, 3]) {
      const reported = result(1, 'succeeded', { gatewayTransactionId: `G${no}` });
      await pay(idOf(no), [chosen(1), succeeded(reported, { receiptNo: `R-${no}` })]);
    }
    await settled();
    const payout = (reference: string, ...charges: string[]) => {
      const first = `${reference},2026-11-21,${(120.5 * charges.length).toFixed(2)}`;
      return [header, ...charges.map((charge) => `${first},${charge},fpx,120.50,`)];
    };
    const unconfirmed = 'confirm that it is to be recorded';
    t.like((await bring(payout('PO-1', ',G1'))).imported, { isNew: true });
    t.deepEqual((await bring(payout('PO-1', ',G1'))).faults, [], 'the same file again');
    // By our own id, and beside other money of the day that is still open.
    t.deepEqual(await bring(payout('PO-2', `${idOf(1)},`, ',G2')), {
      imported: `1 of its charges are already in PO-1: ${unconfirmed}`,
      faults: ['2 names a charge that is already in PO-1'],
    });
    t.is((await open())['gateway:fpx'], 24_100n);
    t.like((await bring(payout('PO-2', `${idOf(1)},`, ',G2'), true)).imported, { isNew: true });
    t.is(
      (await bring(payout('PO-3', ',G1', ',G2'))).imported,
      `2 of its charges are already in PO-1, PO-2; PO-2 of the same day has the same total; gateway:fpx owes less, RM 0.00: ${unconfirmed}`,
    );

    // What is reversed has paid out nothing.
    const execute = createExecute({ eventStore: dependencies.eventStore, decider: settlementDecider });
    const reverse = async (reference: string) => {
      const stream = settlementStream(settlementIdOf('payout', reference));
      const { recorded } = (await loadHead(dependencies.eventStore, stream, settlementDecider)).state;
      const given = { at: new Date().toISOString(), note: 'Wrong', recordedAt: recorded?.at ?? '' };
      await execute(stream, { type: 'ReverseSettlement', ...given }, cause());
      await settled();
    };
    await reverse('PO-2');
    t.like((await bring(payout('PO-4', ',G2'), true)).imported, { isNew: true });
    t.is(
      (await bring(payout('PO-2', `${idOf(1)},`, ',G2'))).imported,
      `PO-2 was recorded before, and reversed; 2 of its charges are already in PO-1, PO-4; gateway:fpx owes less, RM 120.50: ${unconfirmed}`,
    );
    await reverse('PO-1');
    t.like((await bring(payout('PO-5', ',G1'), true)).imported, { isNew: true });

    // Twice in one file, it was booked once; and nobody knows it yet in the first of two payouts.
    const twice = await bring(payout('PO-6', ',G3', ',G3'));
    t.deepEqual(twice.faults, ['3 names a charge that is not in the books']);
    t.like((await bring(payout('PO-7', ',G8'), true)).imported, { isNew: true });
    const late = result(1, 'succeeded', { gatewayTransactionId: 'G8' });
    await pay(idOf(8), [chosen(1), succeeded(late, { receiptNo: 'R-8' })]);
    await settled();
    t.deepEqual((await bring(payout('PO-8', `${idOf(8)},G8`))).faults, [
      '2 names a charge that is already in PO-7',
    ]);
  },
);

test.serial(
  'a payout above what the gateway owes, and one before its money, must be confirmed',
  async (t) => {
    const { bring, pay, settled } = await start(t);
    await pay(idOf(1), [chosen(1), succeeded(result(1, 'succeeded', { gatewayTransactionId: 'G1' }))]);
    await settled();
    const unconfirmed = 'confirm that it is to be recorded';
    const sum = (on: string, total: string, ...rows: string[]) =>
      bring([
        'REFERENCE,SETTLED_ON,TOTAL,PAYMENT_MODE,AMOUNT',
        ...rows.map((row) => `PO-1,${on},${total},${row}`),
      ]);
    const { imported } = await sum('2026-11-21', '120.51', 'fpx,60.00', 'fpx,60.51');
    t.is(imported, `gateway:fpx owes less, RM 120.50: ${unconfirmed}`);
    t.is(
      (await sum('2026-11-21', '999999999999.99', 'fpx,999999999999.99')).imported,
      imported,
      'a day of all agencies may be larger than any payment',
    );
    t.is(
      (await sum('2026-11-21', '121.51', 'fpx,120.51', 'cc,1.00')).imported,
      `gateway:fpx (RM 120.50), gateway:cc (RM 0.00) owe less: ${unconfirmed}`,
    );
    t.deepEqual((await sum('2026-11-21', '0.00', 'fpx,0.00', 'fpx,-1.00')).faults, [
      '2 AMOUNT must be an amount such as 120.50',
      '3 AMOUNT must be an amount such as 120.50',
    ]);
    const rows = [',2.61121E+15,fpx,9.00,', ',G1,fpx,9.00,-0.50', ',,cash,9.00,', ',,,9.00,'];
    const given = rows.map((row) => `PO-1,2026-11-21,9.00,${row}`);
    t.deepEqual((await bring([header, ...given], true)).faults, [
      '2 PAYMENT_TRANS_ID was rounded by a spreadsheet',
      '3 FEE must be an amount such as 120.50',
      '4 PAYMENT_MODE names no account of the journal',
      '5 PAYMENT_MODE names no account of the journal',
    ]);
    const early = `it is dated before its first money came in, on 2026-11-20: ${unconfirmed}`;
    t.is((await sum('1999-12-31', '120.50', 'fpx,120.50')).imported, early);
    t.is((await bring([header, 'PO-2,2026-11-19,120.50,,G1,,120.50,'])).imported, early);
    t.is(
      (await bring([header, 'PO-2,1999-12-31,9.00,,G9,wallet,9.00,'])).imported,
      `1 of its charges are not in the books with this amount; ${early}`,
    );
    const remittance = ['REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT', 'R,2026-11-19,1.00,council,1.00'];
    t.is((await bring(remittance)).imported, early);
    t.is(
      (await sum(dayOf(new Date(Date.now() + 2 * 86_400_000).toISOString()), '120.50', 'fpx,120.50'))
        .imported,
      'The day is in the future',
    );
    t.like((await sum('2026-11-20', '120.50', 'fpx,120.50')).imported, { isNew: true });

    // The first day of the charges in the file counts, whatever came before and wherever they are in it.
    for (const [gatewayTransactionId, at] of [
      ['G3', '2026-11-20T01:00:00.000Z'],
      ['G2', '2026-11-15T01:00:00.000Z'],
    ] as const) {
      const success = succeeded(result(1, 'succeeded', { gatewayTransactionId }), { at });
      await pay(idOf(Number(gatewayTransactionId[1])), [chosen(1), success]);
    }
    await settled();
    const later = 'PO-3,2026-11-16,120.50,,G3,,120.50,';
    t.is((await bring([header, later])).imported, early);
    const both = ['G3', 'G2'].map((id) => later.replace('G3', id).replace('120.50', '241.00'));
    t.like((await bring([header, ...both])).imported, { isNew: true });
  },
);

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
  await t.throwsAsync(imported, { instanceOf: ImportImpossible });
  t.deepEqual(await older.load(settlementStream(settlementIdOf('payout', 'PO-1'))), []);
});

test.serial(
  'nothing is settled while nobody knows what the journal lacks, except parked streams',
  async (t) => {
    const { bring, dependencies, pay, settled } = await start(t);
    await pay(idOf(1), [chosen(1), succeeded(result(1, 'succeeded'), { receiptNo: 'R-1' })]);
    await settled();
    const firstAfter = async () => {
      throw new EventStoreUnavailable('it is away');
    };
    const away = { ...dependencies, eventStore: { ...dependencies.eventStore, firstAfter } };
    const gap = (from: typeof dependencies) => journalGap(new Date(), from);
    t.deepEqual(await gap(away), {
      kind: 'behind',
      message: 'The event store does not answer: the journal may be incomplete',
    });
    const rows = [header, `PO-1,2026-11-21,120.50,${idOf(1)},,fpx,120.50,`];
    const imported = importSettlement(away, {
      file: pieces(Buffer.from(rows.join('\r\n'))),
      isConfirmed: true,
      cause: cause(),
      onBadRow() {},
    });
    await t.throwsAsync(imported, { instanceOf: ImportImpossible, message: /may be incomplete/ });
    const mark = async (column: 'fault' | 'parked', value: unknown) =>
      void (await dependencies
        .db('checkpoints')
        .where({ name: 'journal' })
        .update(column, JSON.stringify(value)));
    await mark('fault', { message: 'Unknown event type X', event: null });
    t.deepEqual(await gap(away), {
      kind: 'behind',
      message: 'The journal has halted, and lacks everything after that: Unknown event type X',
    });
    await mark('fault', null);
    await mark('parked', [{ stream: 'payment-X' }, { stream: 'payment-Y' }]);
    t.deepEqual(await gap(dependencies), {
      kind: 'parked',
      message: 'The journal leaves out what is parked: payment-X, payment-Y',
    });
    t.like((await bring(rows)).imported, { isNew: true });
  },
);

test.serial(
  'remittances bring agencies to zero, and a file with a fault is not imported at all',
  async (t) => {
    const { bring, open, pay, settled } = await start(t);
    await pay(idOf(1), [chosen(1), succeeded(result(1, 'succeeded'))]);
    const ofPort = result(1, 'succeeded', { gatewayTransactionId: 'G-port' });
    await pay(idOf(2), [chosen(1), succeeded(ofPort, { receiptNo: 'R-port' })], 'port');
    await settled();
    const header = 'REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT';
    const remit = (...rows: string[]) => bring([header, ...rows]);
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
          '4 AMOUNT must be an amount such as 120.50',
          '5 has another REFERENCE, SETTLED_ON or TOTAL than the first row',
          '6 REFERENCE must have 1 to 64 letters, digits, spaces or . : / - and begin with a letter or digit',
          '7 SETTLED_ON must be a day such as 2026-11-20',
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
    t.deepEqual((await bring([`${header},CURRENCY`, 'RM-1,2026-11-21,120.50,council,120.50,USD'])).faults, [
      '2 CURRENCY is not MYR',
    ]);
    t.deepEqual((await bring([`${header},FEE`, 'RM-1,2026-11-21,120.00,council,120.50,0.50'])).faults, [
      '2 FEE is for payouts',
    ]);
    t.deepEqual((await remit('RM-1,2026-11-21,all of it,council,120.50')).faults, [
      '2 TOTAL must be an amount such as 120.50',
    ]);
    const hugeRow = 'PO-0,2026-11-21,0.00,fpx,999999999.99,999999999.99';
    const huge = ['REFERENCE,SETTLED_ON,TOTAL,PAYMENT_MODE,AMOUNT,FEE', ...Array(91_000).fill(hugeRow)];
    t.is((await bring(huge)).imported, 'The sum of the file is too large');
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
    t.like((await bring([header, 'RM-2,2026-11-21,0.01,council,0.01'], true)).imported, { isNew: true });
    t.like((await bring([`${both},FEE`, 'PO-1,2026-11-21,0.50,council,fpx,1.00,0.50'])).imported, {
      kind: 'payout',
    });
  },
);
