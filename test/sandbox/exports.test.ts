// `ledger reconcile` accepts the exports of the sandbox.
import { readCsv } from '@ledger/kernel/csv-rows.ts';
import test from 'ava';
import { type ExportRecord, recogniseExport } from '../../src/reconciliation/export-format.ts';
import { pieces } from '../reconciliation/helpers.ts';
import { order, post, registryToken, startGateway } from './helpers.ts';

const transId = '0123456789ABCDEFGHJKMNPQRS';

async function recordsOf(csv: string) {
  const records: (ExportRecord | string)[] = [];
  let format: ReturnType<typeof recogniseExport> | null = null;
  for await (const row of readCsv(pieces(Buffer.from(csv)))) {
    if (!('cells' in row)) return [row.fault];
    if (format) records.push(format.readRow(row.line, row.cells));
    else format = recogniseExport(row.cells, (named) => named);
  }
  return records;
}

test('a charge is in the settlement and in the registry, an attempt in the registry only', async (t) => {
  const { url } = await startGateway(t);
  const { headers } = await post(url, order({ BUYER_NAME: '=1+1, "Ali"' }));
  await post(url, order({ MERCHANT_ORDER_NO: `${transId}-2` }));
  await post(`${url}${headers.get('location')}`, { outcome: 'approve', delivery: 'none' });

  const settlement = await (await fetch(`${url}/export.csv`)).text();
  const [charge, ...more] = await recordsOf(settlement);
  t.deepEqual(more, []);
  t.like(charge, {
    transactionId: transId,
    status: 'succeeded',
    amountSen: 123_450,
    merchantCode: 'demo-app',
  });
  t.false(settlement.includes('Ali'));

  t.is((await fetch(`${url}/registry/export.csv`)).status, 401);
  const authorization = `Bearer ${registryToken}`;
  const exported = await fetch(`${url}/registry/export.csv`, { headers: { authorization } });
  const records = await recordsOf(await exported.text());
  t.deepEqual(
    records.map((record) => typeof record !== 'string' && record.status),
    ['attempted', 'succeeded'],
  );
});
