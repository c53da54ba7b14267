// The list of a merchant's own payments, while new ones arrive between the two queries that make a page.
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import type { Sen } from '../../../src/common/money.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { createPaymentQueries } from '../../../src/projections/payments/queries.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { log } from '../helpers.ts';

const postgres = await createDatabase();

const fill = (from: number, to: number) => `
  insert into payments.payments (transaction_id, revision, state, channel, merchant_code, reference, status, mode,
    amount_sen, requested_at, updated_at, holds_personal_data, was_erased, mac, keys)
  select 'P' || lpad(no::text, 25, '0'), 0, '{}', 'generic', 'council', 'R', 'requested', '', case no when 2 then 700 else 100 end,
    '2026-11-21'::timestamptz + no * interval '1 second', now(), false, false, '', '{}'
  from generate_series(${from}, ${to}) no`;

test('a payment is listed once, although others arrive while 10,000 are looked at', async (t) => {
  const db = connectPostgres({ url: postgres.url, log });
  t.teardown(() => db.destroy());
  await prepare(db, payments, payments.name);
  await db.raw(fill(1, 10_001));
  let arrived = false;
  /** Before it looks where the 10,000 end. */
  const arrive = async () => {
    if (!arrived) await db.raw(fill(10_002, 10_005));
    arrived = true;
  };
  const meanwhile = new Proxy(db, {
    apply(target, self, [table]: [string]) {
      const query = Reflect.apply(target, self, [table]);
      const { offset, timeout } = query;
      query.offset = (count: number) => {
        query.timeout = async (ms: number) => {
          await arrive();
          return await timeout.call(query, ms);
        };
        return offset.call(query, count);
      };
      return query;
    },
  });
  const { findOfMerchant } = createPaymentQueries(meanwhile, personalData, async () => {});
  const filter = {
    merchantCode: 'council',
    reference: null,
    statuses: [],
    amountSen: 700 as Sen,
    requested: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  };
  const found: string[] = [];
  let after: string | null = null;
  do {
    const page = await findOfMerchant(filter, { limit: 50, after });
    found.push(...(page?.rows ?? []).map(({ transactionId }) => transactionId));
    after = page?.nextAfter ?? null;
  } while (after !== null);
  t.true(arrived);
  t.deepEqual(found, [`P${'2'.padStart(25, '0')}`]);
});
