import { connectPostgres } from '@ledger/postgres/pool.ts';
import test from 'ava';
import { query, until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';

test('of the connections that a burst has opened, one stays', async (t) => {
  const { url } = await createDatabase();
  const db = connectPostgres({ url, log });
  t.teardown(() => db.destroy());
  const connections = async () =>
    (
      await query(
        url,
        `select pid from pg_stat_activity where datname = current_database() and application_name = 'ledger'`,
      )
    ).length;
  await Promise.all([1, 2, 3].map(() => db.raw('select pg_sleep(0.2)')));
  t.is(await connections(), 3);
  const startMs = performance.now();
  await until(async () => (await connections()) === 1);
  t.true(performance.now() - startMs < 15_000);
});
