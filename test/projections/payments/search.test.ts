// How a search reads the tables once they are large. PostgreSQL's plans are asked for, not timed.
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import { payments } from '../../../src/projections/payments/projection.ts';
import {
  narrowed,
  type PaymentFilter,
  paymentsOf,
  searchPayments,
} from '../../../src/projections/payments/search.ts';
import { createDatabase } from '../../support/postgres.ts';
import { log } from '../helpers.ts';

const postgres = await createDatabase();
const count = 50_000;
const pair = { limit: 2, after: null };

const fill = `
  insert into payments.payments (transaction_id, revision, channel, merchant_code, reference, status, mode, amount_sen,
    keys, requested_at, updated_at, holds_personal_data, was_erased, mac, state)
  select 'P' || no, 0, 'generic', 'demo-app', 'R' || no, 'requested', '', 100,
    array['=p' || no, '~r' || no, case when no % 2 = 0 then '~even' else '~odd' end],
    timestamptz '2026-11-01' + no * interval '1 second', now(), false, false, '', '{}'
  from generate_series(1, ${count}) as no;
  insert into payments.payers (transaction_id, tokens)
  select 'P' || no, array['t' || no, 'all'] from generate_series(1, ${count}) as no;
  analyze payments.payments, payments.payers`;

test('a search for what few payments have does not walk through all of them', async (t) => {
  const db = connectPostgres({ url: postgres.url, log });
  t.teardown(() => db.destroy());
  await prepare(db, payments, payments.name);
  await db.raw(fill);
  /** Whether PostgreSQL would take the payments in the order of the page, until it has enough. */
  async function isWalked(filter: PaymentFilter): Promise<boolean> {
    const query = paymentsOf(db, filter).select('*').orderByRaw('requested_at desc, transaction_id desc');
    const { rows } = await db.raw(`explain ${query.limit(2).toString()}`);
    return JSON.stringify(rows).includes('payments_by_time');
  }

  const searches = [{ named: 'P700' }, { named: 'nobody' }, { searchTokens: [['t700']] }];
  for (const filter of searches) {
    t.true(await isWalked(filter), 'the table is large enough for this to matter');
    t.false(await isWalked(await narrowed(db, filter)));
  }
  const found = searches.map((filter) => searchPayments(db, filter, pair));
  const ids = (await Promise.all(found)).map((page) => page.map(({ transactionId }) => transactionId));
  t.deepEqual(ids, [['P700'], [], ['P700']]);

  // Many are soon found in that order.
  for (const filter of [{ named: 'even' }, { searchTokens: [['all']] }]) {
    t.is(await narrowed(db, filter), filter);
    const [first] = await searchPayments(db, filter, pair);
    t.is(first?.transactionId, `P${count}`);
  }
  const other = { merchantCode: 'other-app', named: 'P700' };
  t.deepEqual(await searchPayments(db, other, pair), [], 'the rest of the filter holds too');
});
