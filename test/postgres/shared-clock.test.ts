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

test('the most exact answer counts, until one cannot be explained by it', async (t) => {
  // How long the next answers take, and what the monotonic clock lacks to PostgreSQL's. It reads its clock at the end.
  const answers = [
    [90, 1_000],
    [2, 1_000],
  ];
  let monotonicMs = 0;
  const sleeping: (() => void)[] = [];
  const runtime = {
    ...systemRuntime,
    monotonicMs: () => monotonicMs,
    async sleep(ms: number, signal?: AbortSignal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      sleeping.push(resolve);
      signal?.addEventListener('abort', () => resolve());
      await promise;
      monotonicMs += ms;
    },
  };
  const answer = async () => {
    const [takesMs = 2, aheadMs = 0] = answers.shift() ?? [];
    monotonicMs += takesMs;
    return { rows: [{ ms: String(aheadMs + monotonicMs) }] };
  };
  const log = { warn() {}, info() {} };
  const clock = createSharedClock({
    db: { raw: () => ({ timeout: answer }) } as never,
    runtime,
    log: log as never,
  });
  const aheadMs = () => clock.runtime.now().getTime() - Math.floor(monotonicMs);
  const measured = async (...next: [number, number][]) => {
    answers.push(...next);
    sleeping.shift()?.();
    while (answers.length > 0 || sleeping.length === 0) await new Promise(setImmediate);
    return aheadMs();
  };
  await clock.start();
  t.is(aheadMs(), 1_001, 'the first one waited for a connection');
  t.is(await measured([400, 1_000], [90, 1_000]), 1_001, 'slow answers say less');
  t.is(await measured([400, 3_600_000], [90, 3_600_000]), 3_600_045, 'the clock of PostgreSQL was set');
  t.is(await measured([2, 3_600_000], [400, 3_600_000]), 3_600_001);
  await clock.stop();
});

test('one answer is enough to know the time', async (t) => {
  const logged: string[] = [];
  const log = {
    warn: (_: object, text: string) => logged.push(text),
    info: (_: object, text: string) => logged.push(text),
  };
  let asked = 0;
  const timeout = async () => {
    asked += 1;
    if (asked > 1) throw new Error('timeout');
    return { rows: [{ ms: String(Date.now() + hourMs) }] };
  };
  const clock = createSharedClock({
    db: { raw: () => ({ timeout }) } as never,
    runtime: systemRuntime,
    log: log as never,
  });
  await clock.start();
  await clock.stop();
  t.is(asked, 2);
  t.true(Math.abs((clock.differenceMs() ?? 0) + hourMs) < 60_000);
  t.deepEqual(logged, ['the clock of this machine is wrong; the time of PostgreSQL is used']);
});

test('while PostgreSQL is away its time is not known, and that the clocks agree again is said', async (t) => {
  const logged: string[] = [];
  const say = (_: object, text: string) => logged.push(text);
  const answers = [null, hourMs, hourMs, 0, 0];
  const told = Promise.withResolvers<void>();
  const runtime = {
    ...systemRuntime,
    async sleep(_: number, signal?: AbortSignal) {
      if (answers.length > 0) return;
      told.resolve();
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    },
  };
  const timeout = async () => {
    const aheadMs = answers.shift() ?? null;
    if (aheadMs === null) throw new Error('it is away');
    return { rows: [{ ms: String(Date.now() + aheadMs) }] };
  };
  const db = { raw: () => ({ timeout }) } as never;
  const clock = createSharedClock({ db, runtime, log: { warn: say, info: say } as never });
  await Promise.all([clock.start(), clock.start()]);
  await told.promise;
  await clock.stop();
  t.deepEqual(logged, [
    'the time of PostgreSQL is not known',
    'the clock of this machine is wrong; the time of PostgreSQL is used',
    'the clock of this machine agrees with PostgreSQL again',
  ]);
});
