// Exports of any content: what is read, what is reported, and what an import holds in memory.
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { recogniseExport, UnreadableExport } from '../../src/reconciliation/export-format.ts';
import { stageExport } from '../../src/reconciliation/stage-export.ts';
import { openStagedRecords } from '../../src/reconciliation/staged-records.ts';
import { gatewayCsv, idOf, merchantCodeOf, pieces } from './helpers.ts';

const registry =
  'id,merchant_trans_id,eps_status,status_message,receipt_no,payment_mode,gateway_id1,buyer_bank,buyer_name,amount,payment_datetime';
const gateway = 'trans_id,Payment_Trans_Id,STATUS,AMOUNT,PAYMENT_DATETIME,MERCHANT_CODE';

function readOne(header: string, row: string) {
  const format = recogniseExport(header.split(','), merchantCodeOf);
  return { source: format.source, record: format.readRow(2, row.split(',')) };
}

test('both formats are known by their header, and read in one form', (t) => {
  t.like(readOne(registry, `77,${idOf(1)},0,,,fpx,P1,Bank,Aminah,120.5,20261120090430`), {
    source: 'registry',
    record: {
      recordId: '77',
      status: 'attempted',
      gatewayTransactionId: 'P1',
      amountSen: 12_050,
      paidAt: '2026-11-20T01:04:30.000Z',
    },
  });
  t.like(readOne(gateway, `${idOf(1)},P1,2,,,council`), {
    source: 'gateway',
    record: { recordId: 'P1', status: 'cancelled', amountSen: null, paidAt: null, merchantCode: 'council' },
  });
  t.like(readOne(gateway, `${idOf(1)},P1,2,,,7`), { record: { merchantCode: 'council' } });
  t.like(readOne(`${gateway},,`, `${idOf(1)},P1,2,,,council,,`), { record: { recordId: 'P1' } });
  for (const header of ['a,b', `${gateway},STATUS`, registry.replace('eps_status', 'status'), `\0${gateway}`])
    t.throws(() => recogniseExport(header.split(','), merchantCodeOf), { instanceOf: UnreadableExport });
  const needed = [
    [registry, 'id,merchant_trans_id,eps_status,gateway_id1,amount,payment_datetime'],
    [gateway, 'trans_id,Payment_Trans_Id,STATUS,AMOUNT,PAYMENT_DATETIME'],
  ] as const;
  for (const [header, columns] of needed)
    for (const column of columns.split(',')) {
      const others = header.split(',').filter((each) => each !== column);
      t.throws(() => recogniseExport(others, merchantCodeOf), undefined, column);
    }
});

test('every id must be an id, and none that a spreadsheet has rounded', (t) => {
  const ids = {
    [registry]: 'ID,MERCHANT_TRANS_ID,GATEWAY_ID1',
    [`${gateway},MERCHANT_ORDER_NO`]: 'TRANS_ID,PAYMENT_TRANS_ID,MERCHANT_CODE,MERCHANT_ORDER_NO',
  };
  for (const [header, names] of Object.entries(ids))
    for (const name of names.split(',')) {
      const rowWith = (id: string) =>
        header.split(',').map((each) => (each.toUpperCase() === name ? id : '1'));
      t.is(readOne(header, rowWith('P 1').join()).record, `${name} is not an id`);
      t.is(readOne(header, rowWith('2.6E+15').join()).record, `${name} was rounded by a spreadsheet`);
    }
});

const faults: [string, string][] = [
  ['A,P1,1,120.50,', 'has 5 cells, the header has 6'],
  ['A,P1,1,120.50,,council,', 'has 7 cells, the header has 6'],
  ['A,P1,4,120.50,,council', 'STATUS is not 0, 1, 2 or 3'],
  ['A,P1,1,,,council', 'AMOUNT must be an amount such as 120.50'],
  ['A,P1,0,1e3,,council', 'AMOUNT must be an amount such as 120.50'],
  ['A,P1,1,-1.00,,council', 'AMOUNT must be an amount such as 120.50'],
  ['A,P1,1,120.505,,council', 'AMOUNT must be an amount such as 120.50'],
  ['A,P1,1,120.50,20/11/2026,council', 'PAYMENT_DATETIME is not a time such as 2026-11-20 09:00:00'],
  ['A,2.61121E+15,1,120.50,,council', 'PAYMENT_TRANS_ID was rounded by a spreadsheet'],
  ['=HYPERLINK("x"),P1,1,120.50,,council', 'TRANS_ID is not an id'],
  ['<script>alert(1)</script>,P1,1,120.50,,council', 'TRANS_ID is not an id'],
  ['A,P1\0,1,120.50,,council', 'PAYMENT_TRANS_ID is not an id'],
  ['A,P1,1,120.50,,Aminah binti Ismail', 'MERCHANT_CODE is not an id'],
  [',,1,120.50,,council', 'names no transaction'],
];

for (const [row, expected] of faults)
  test(`a row is refused that ${expected}: ${JSON.stringify(row)}`, (t) =>
    t.is(readOne(gateway, row).record, expected));

test('a row is refused for a status, a currency or a length that no export has', (t) => {
  t.is(
    readOne(registry, `77,${idOf(1)},5,,,fpx,P1,Bank,Aminah,120.5,20261120090430`).record,
    'eps_status is not a known status',
  );
  t.is(
    readOne(`${gateway},CURRENCY`, 'A,P1,1,120.50,,council,RM1').record,
    'CURRENCY is not a currency such as MYR',
  );
  const withNote = (length: number) =>
    readOne(`${gateway},NOTE`, `A,P1,1,120.50,,council,${'x'.repeat(length)}`);
  t.like(withNote(4_096), { record: { recordId: 'P1' } });
  t.is(withNote(4_097).record, 'has a cell that is too long');
});

test('cells are trimmed, and an order number stands for a transaction without a number', (t) => {
  t.like(readOne(`${gateway},MERCHANT_ORDER_NO`, ' A , ,1, 120.50 ,, council , A-1 ').record, {
    transactionId: 'A',
    recordId: 'A-1',
    gatewayTransactionId: '',
    sellerOrderNo: 'A-1',
    amountSen: 12_050,
    merchantCode: 'council',
  });
});

for (const time of [
  '',
  '1900-01-01 00:00:00',
  '1970-01-01T08:00:00+08:00',
  '19700101080000',
  '2000-01-01 00:00:00',
  '20191231235959',
  '0000-00-00 00:00:00',
])
  test(`a row without a time: ${JSON.stringify(time)}`, (t) => {
    const { record } = readOne(gateway, `A,P1,0,120.50,${time},council`);
    t.like(record, { transactionId: 'A', paidAt: null });
  });

async function stage(file: string | AsyncIterable<Uint8Array>) {
  const staged = openStagedRecords();
  try {
    const badRows: number[] = [];
    const read = await stageExport(typeof file === 'string' ? pieces(Buffer.from(file)) : file, {
      staged,
      runtime: systemRuntime,
      recognise: (header) => recogniseExport(header, merchantCodeOf),
      onBadRow: (row) => badRows.push(row.line),
    });
    return { ...read, lines: badRows };
  } finally {
    staged.close();
  }
}

test('rows that cannot be read are reported with their lines; the others are staged', async (t) => {
  const rows = gatewayCsv([{ TRANS_ID: 'A' }, { TRANS_ID: 'B', STATUS: '7' }, { TRANS_ID: 'C' }]);
  t.like(await stage(`${rows}a,b\r\n"never closed\r\n${rows.split('\r\n')[1]}\r\n`), {
    rows: 6,
    badRows: 3,
    lines: [3, 5, 6],
  });
});

test('a file that is not an export is refused', async (t) => {
  for (const file of ['', '\n', '"', 'a,b\n1,2\n', 'PK\u0003\u0004\0\0'])
    await t.throwsAsync(stage(file), { instanceOf: UnreadableExport }, JSON.stringify(file));
});

test('the event loop is not blocked while a file is read', async (t) => {
  const [header = ''] = gatewayCsv([]).split('\r\n');
  for (const line of ['\n', 'x\n']) {
    let turns = 0;
    let isRead = false;
    const whole = Readable.from([Buffer.from(`${header}\n${line.repeat(100_000 / line.length)}`)]);
    const reading = stage(whole).finally(() => {
      isRead = true;
    });
    for (; !isRead; turns += 1) await setImmediate();
    await reading;
    t.true(turns >= 5, `${JSON.stringify(line)}: ${turns}`);
  }
});

test('the memory of an import does not grow with the file', async (t) => {
  const [header = '', row = ''] = gatewayCsv([{ TRANS_ID: idOf(1), PAYMENT_TRANS_ID: 'P1' }]).split('\r\n');
  async function* lines(count: number) {
    yield Buffer.from(header);
    for (let start = 0; start < count; start += 1_000)
      yield Buffer.from(
        Array.from({ length: 1_000 }, (_, index) => `\n${row.replace('P1', `P${start + index}`)}`).join(''),
      );
  }
  // What can be collected is nothing that an import holds.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = async (count: number) => {
    let bytes = 0;
    async function* watched() {
      yield* lines(count);
      collect();
      bytes = process.memoryUsage().heapUsed;
    }
    t.is((await stage(watched())).rows, count);
    return bytes;
  };
  const small = await heapBytes(1_000);
  const large = await heapBytes(20_000);
  t.true(large < small + 3 * 1024 * 1024, `${small} to ${large} bytes`);
});
