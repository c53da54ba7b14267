// What payments are found by: typed as people read it out, it leads to what merchants and gateways sent.
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { indexable } from '@ledger/postgres/table.ts';
import test from 'ava';
import fc from 'fast-check';
import { pino } from 'pino';
import type { RequestedPayment } from '../../../src/events/payment.ts';
import { searchKeysOf, whereFound } from '../../../src/projections/payments/search-keys.ts';
import { numberOf } from '../../../src/projections/payments/search-tokens.ts';
import { anyText } from '../../support/any-text.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';

const { url } = await createDatabase();
const db = connectPostgres({ url, log: pino({ level: 'silent' }) });
test.before(async () => {
  await db.raw('create table payments (id text, reference text, keys text[])');
});
test.after.always(() => db.destroy());

/** As far as its keys depend on it. */
function paymentOf({ reference = '', receiptNo = '', fpx = '', order = '' }): RequestedPayment {
  const known = {
    request: { reference },
    receipt: { receiptNo },
    attempts: [{ sellerOrderNo: order }],
    results: [{ gatewayTransactionId: fpx, sellerOrderNo: order }],
  };
  return known as unknown as RequestedPayment;
}

const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

async function finds(typed: string, payment: Parameters<typeof paymentOf>[0]): Promise<boolean> {
  return await db.transaction(async (trx) => {
    const keys = searchKeysOf(id, paymentOf(payment));
    await trx('payments').insert({ id, reference: indexable(payment.reference ?? ''), keys });
    const query = trx('payments');
    whereFound(query, typed);
    const found = await query.pluck('id');
    await trx('payments').delete();
    return found.length === 1;
  });
}

test.serial('numbers are found whole, in any case and however they are grouped', async (t) => {
  const payment = { receiptNo: 'R-000123', fpx: '2611201234567890', order: 'ORD/2026/0001' };
  for (const typed of ['r 000123', 'R000123', '2611 2012 3456 7890', 'ord-2026-0001', ` ${id.toLowerCase()}`])
    t.true(await finds(typed, payment), typed);
  for (const typed of ['000123', '26112012', 'ORD/2026', id.slice(1)])
    t.false(await finds(typed, payment), typed);
});

test.serial('a receipt is found by the number of one of its items', async (t) => {
  t.true(await finds('sbx 0001-02 ', { receiptNo: 'SBX0001' }));
  for (const typed of ['SBX0001-2', 'SBX0001-002'])
    t.false(await finds(typed, { receiptNo: 'SBX0001' }), typed);
  t.false(await finds('-01', {}));
});

test.serial('any part of a reference is found', async (t) => {
  const payment = { reference: 'CUKAI-2026/H2-00417 ' };
  for (const typed of ['cukai', '417', 'H2 004', '2026/h2', 'CUKAI-2026/H2-00417'])
    t.true(await finds(typed, payment), typed);
  for (const typed of ['41', 'cukai417', 'h200418', '%%%', '___', ''])
    t.false(await finds(typed, payment), typed);
  t.true(await finds('#', { reference: '#' }), 'without letters and digits it is found as it is');
  t.true(await finds('七月', { reference: '七月' }));
});

test.serial('whatever the reference, each of its parts finds it', async (t) => {
  const given = fc.tuple(anyText({ maxLength: 300 }), fc.nat(), fc.integer({ min: 3, max: 40 }));
  const property = fc.asyncProperty(given, async ([reference, start, length]) => {
    const letters = [...indexable(numberOf(reference))];
    const part = letters.slice(start % (letters.length + 1)).slice(0, length);
    if (part.length >= 3) t.true(await finds(part.join(''), { reference }));
    t.true(await finds(reference, { reference }));
  });
  await fc.assert(property, { numRuns: runs(40) });
});
