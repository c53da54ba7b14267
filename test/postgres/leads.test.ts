import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { type Candidacy, givesUp } from '@ledger/postgres/lead-shares.ts';
import { repeatAsLeader } from '@ledger/postgres/leader-loop.ts';
import type { Leads } from '@ledger/postgres/leads.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test from 'ava';
import fc from 'fast-check';
import { until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { leadsOn } from '../support/leads.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';
import { testRuntime } from '../support/runtime.ts';

test('a leader that is stopped loses the lead, and does not take it for kept when it continues', async (t) => {
  t.timeout(90_000);
  const { url } = await createDatabase();
  const child = fork(fileURLToPath(new URL('./leader-child.ts', import.meta.url)), [url]);
  t.teardown(() => child.kill('SIGKILL'));
  t.deepEqual(await once(child, 'message').then(([message]) => message), 'leads');
  child.kill('SIGSTOP');
  const { signal } = new AbortController();
  t.true(await leadsOn(url).lead('work', { signal }, async () => true));
  const lost = once(child, 'message');
  child.kill('SIGCONT');
  t.deepEqual((await lost)[0], 'lost');
});

const names = ['details', 'journal', 'payments', 'projects', 'unmatched', 'users'];

test('leads spread evenly over the processes that wait for them, and then stay', (t) => {
  const scenario = fc.record({
    joined: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 }),
    choices: fc.infiniteStream(fc.nat()),
  });
  fc.assert(
    fc.property(scenario, ({ joined, choices }) => {
      const leaders = new Map(names.map((name) => [name, 'first']));
      const processes = ['first', ...new Set(joined)];
      const sessions = () =>
        processes.flatMap((process) =>
          names.map((name): Candidacy => ({ name, process, leads: leaders.get(name) === process })),
        );
      /** Every leader of a process looks at the same moment. */
      const beat = (process: string) => {
        const seen = sessions();
        const led = names.filter((name) => leaders.get(name) === process);
        const given = led.filter((name) => givesUp(seen, { name, process }));
        for (const name of given) leaders.delete(name);
        return given;
      };
      const pick = <Value>(values: readonly Value[]) => values[(choices.next().value ?? 0) % values.length];
      const take = (givenUpBy: string) => {
        for (const name of names) {
          if (leaders.has(name)) continue;
          const taker = pick(processes.filter((process) => process !== givenUpBy));
          if (taker) leaders.set(name, taker);
        }
      };
      const counts = () =>
        processes.map((process) => [...leaders.values()].filter((leader) => leader === process).length);
      const isEven = () => Math.max(...counts()) - Math.min(...counts()) <= 1;
      for (let round = 0; round < 200 && !isEven(); round += 1)
        for (const process of processes) {
          const before = counts();
          beat(process);
          take(process);
          const index = processes.indexOf(process);
          t.true(
            (counts()[index] ?? 0) >=
              Math.min(before[index] ?? 0, Math.floor(names.length / processes.length)),
          );
        }
      t.true(isEven(), String(counts()));
      for (const process of processes) t.deepEqual(beat(process), [], 'nothing moves any more');
      // Who leaves is replaced by those who stay.
      processes.pop();
      for (const [name, leader] of leaders) if (!processes.includes(leader)) leaders.delete(name);
      take('');
      t.is(leaders.size, names.length);
    }),
    { numRuns: runs(200) },
  );
});

const faster = (times: number) =>
  testRuntime({
    monotonicMs: () => systemRuntime.monotonicMs() * times,
    sleep: (ms, signal) => systemRuntime.sleep(ms / times, signal),
  });

test('a process that joins is given half of the leads, one at a time has each, and they come back when it leaves', async (t) => {
  const { url } = await createDatabase();
  const runtime = faster(20);
  const leading = new Map<string, string[]>(names.map((name) => [name, []]));
  let changes = 0;
  const join = (process: string) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const leads = leadsOn(url, runtime);
    const all = names.map((name) =>
      leads.lead(name, { signal }, async (lead) => {
        const leaders = leading.get(name) ?? [];
        leaders.push(process);
        changes += 1;
        t.is(leaders.length, 1, `${name}: ${leaders}`);
        if (!lead.aborted) await once(lead, 'abort');
        leaders.splice(leaders.indexOf(process), 1);
      }),
    );
    const leave = async () => {
      leaving.abort();
      await Promise.all(all);
    };
    t.teardown(leave);
    return leave;
  };
  const count = (process: string) => [...leading.values()].filter(([leader]) => leader === process).length;
  join('one');
  await until(() => count('one') === 6);
  const leave = join('two');
  await until(() => count('one') === 3 && count('two') === 3);
  const before = changes;
  await systemRuntime.sleep(1_000);
  t.is(changes, before, 'several heartbeats later nothing has moved');
  await leave();
  await until(() => count('one') === 6);
});

test('nobody gives a lead to a process whose work has failed, until a minute has passed', async (t) => {
  const { url } = await createDatabase();
  let skippedMs = 0;
  const quick = faster(20);
  const runtime = { ...quick, monotonicMs: () => quick.monotonicMs() + skippedMs };
  const leading = new AbortController();
  const { signal } = leading;
  t.teardown(() => leading.abort());
  const leaders: string[] = [];
  const lead = (process: string, leads: Leads, name: string) =>
    leads.lead(name, { signal }, async (led) => {
      leaders.push(process);
      if (!led.aborted) await once(led, 'abort');
    });
  const pair = ['details', 'journal'];
  const ill = leadsOn(url, runtime);
  const fails = () => Promise.reject(new Error('It cannot work'));
  for (const name of pair)
    await t.throwsAsync(ill.lead(name, { signal }, fails), { message: 'It cannot work' });
  const well = leadsOn(url, runtime);
  const all = pair.map((name) => lead('well', well, name));
  await until(() => leaders.length === 2);
  all.push(...pair.map((name) => lead('ill', ill, name)));
  // At this pace a heartbeat takes a quarter of a second.
  await systemRuntime.sleep(1_000);
  t.deepEqual(leaders, ['well', 'well']);
  skippedMs = 60_000;
  await until(() => leaders.includes('ill'));
  leading.abort();
  await Promise.all(all);
});

test('all leads of a process are in one session: they are lost together, and one that is done is free', async (t) => {
  const { url } = await createDatabase();
  const db = connectPostgres({ url, log });
  t.teardown(() => db.destroy());
  const { signal } = new AbortController();
  const one = leadsOn(url);
  let begun = 0;
  const work = async (led: AbortSignal) => {
    begun += 1;
    await once(led, 'abort');
  };
  const done = Promise.withResolvers<void>();
  const first = one.lead('first', { signal }, () => done.promise);
  const others = ['second', 'third'].map((name) => one.lead(name, { signal }, work));
  await until(() => begun === 2);
  const sessions = () =>
    db('pg_stat_activity')
      .select('pid')
      .where({ application_name: 'ledger leads' })
      .whereRaw('datname = current_database()');
  t.is((await sessions()).length, 1);
  const two = leadsOn(url);
  t.is(await two.lead('first', { signal, waits: false }, async () => 'led'), null);
  done.resolve();
  await first;
  t.is(await two.lead('first', { signal, waits: false }, async () => 'led'), 'led');
  t.is(await two.lead('second', { signal, waits: false }, async () => 'led'), null);
  await t.throwsAsync(
    one.lead('second', { signal }, async () => {}),
    { message: /asks for second twice/ },
  );
  const [{ pid }] = await sessions();
  await db.raw('select pg_terminate_backend(?)', [pid]);
  for (const other of others) await t.throwsAsync(other);
  t.is(await one.lead('second', { signal }, async () => 'again'), 'again', 'in a new session');
  t.is((await sessions()).length, 0, 'which ends with the last lead');
});

test('work is repeated by one process at a time, after a failure too, and by another once that one is stopped', async (t) => {
  const { url } = await createDatabase();
  const done: string[] = [];
  const failures: unknown[] = [];
  const runtime = testRuntime({ sleep: (ms, signal) => systemRuntime.sleep(Math.min(ms, 20), signal) });
  const start = (process: string) =>
    repeatAsLeader(
      {
        leads: leadsOn(url, runtime),
        name: 'repeated',
        everyMs: 10,
        runtime,
        onFailure: (error) => failures.push(error),
      },
      async () => {
        done.push(process);
        if (done.length === 3) throw new Error('Once');
      },
    );
  const first = start('one');
  await until(() => done.length > 1);
  const second = start('two');
  await until(() => done.length > 9);
  t.is(failures.length, 1);
  await first.stop();
  await until(() => done.at(-1) === 'two');
  await second.stop();
  const stopped = done.length;
  await systemRuntime.sleep(100);
  t.is(done.length, stopped);
});
