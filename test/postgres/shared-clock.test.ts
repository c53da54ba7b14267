import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { createSharedClock } from '@ledger/postgres/shared-clock.ts';
import test from 'ava';
import { log as silent } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';

const hourMs = 3_600_000;

test('a machine whose clock is wrong uses the time of PostgreSQL, and says so', async (t) => {
  const logged: string[] = [];
  const log = { warn: (_: object, text: string) => logged.push(text), info() {} };
  const db = connectPostgres({ url: (await createDatabase()).url, log: silent });
  t.teardown(() => db.destroy());
  const runtime = { ...systemRuntime, now: () => new Date(Date.now() + hourMs) };
  const clock = createSharedClock({ db, runtime, log: log as never });
  t.is(clock.differenceMs(), null);
  t.true(
    clock.runtime.now().getTime() > Date.now() + hourMs / 2,
    'until it is known, the time of the machine',
  );
  await clock.start();
  t.true(Math.abs(clock.runtime.now().getTime() - Date.now()) < hourMs / 2);
  t.true(Math.abs((clock.differenceMs() ?? 0) - hourMs) < hourMs / 2);
  t.deepEqual(logged, ['the clock of this machine is wrong; the time of PostgreSQL is used']);
  await clock.stop();
});
