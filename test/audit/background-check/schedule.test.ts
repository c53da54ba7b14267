import { systemRuntime as runtime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test from 'ava';
import { startDailyVerify } from '../../../src/audit/background-check/schedule.ts';
import { log } from '../../projections/helpers.ts';

test('a process that is stopped does not wait for PostgreSQL to ask for one more lead', async (t) => {
  let asked = 0;
  const lead = async () => {
    asked += 1;
    return null;
  };
  const db = connectPostgres({ url: 'postgres://127.0.0.1:9/none', log });
  const daily = startDailyVerify({
    db,
    election: { lead },
    log,
    runtime,
    at: '02:30',
    verify: async () => {},
  });
  await daily.stop();
  t.is(asked, 0);
});
