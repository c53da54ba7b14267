/** Whatever happens to processes that lead, in any order. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test from 'ava';
import fc from 'fast-check';
import { log } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';
import { testRuntime } from '../support/runtime.ts';
import { createStage, type Process } from './lead-stage.ts';

const names = ['details', 'journal', 'payments', 'projects', 'unmatched', 'users'];
const processes = ['one', 'two', 'three'];
/** A hundred times as fast: a heartbeat takes 50 ms, a doubt 600 ms. */
const runtime = testRuntime({
  monotonicMs: () => systemRuntime.monotonicMs() * 100,
  sleep: (ms, signal) => systemRuntime.sleep(ms / 100, signal),
});

const play = fc.record({
  steps: fc.array(
    fc.record({
      process: fc.constantFrom(...processes),
      name: fc.constantFrom(...names),
      what: fc.constantFrom('enter', 'enter', 'enter', 'leave', 'leave', 'fail', 'try', 'lose'),
      pauseMs: fc.constantFrom(0, 0, 0, 0, 1, 3, 6),
    }),
    { minLength: 200, maxLength: 300 },
  ),
  /** What each process leads or stands by for in the end: processes of two releases may want different things. */
  wanted: fc.dictionary(fc.constantFrom(...processes), fc.subarray(names), { minKeys: 2 }),
});
type Play = typeof play extends fc.Arbitrary<infer Value> ? Value : never;

async function perform({ steps }: Play, all: readonly Process[]): Promise<void> {
  const losing: Promise<void>[] = [];
  for (const { process, name, what, pauseMs } of steps) {
    const one = all.find((each) => each.process === process);
    if (what === 'enter' || what === 'try') one?.enter(name, what === 'enter');
    if (what === 'leave') void one?.leave(name);
    if (what === 'fail') one?.fail(name);
    if (what === 'lose' && one) losing.push(one.lose());
    await (pauseMs === 0 ? setImmediate() : sleep(pauseMs));
  }
  await Promise.all(losing);
}

/** A hundred times as long as it takes, so that only what never comes is a fault. */
const enoughMs = 60_000;

async function within(ms: number, is: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; await sleep(10))
    if (await is()) return true;
  return false;
}

test('one at a time leads; once all is calm, each name is led, and evenly; nothing is left behind', async (t) => {
  const each = async (played: Play) => {
    const { url } = await createDatabase();
    const db = connectPostgres({ url, log });
    const stage = createStage(db, url, runtime);
    const all = processes.map(stage.join);
    const leaveAll = () => Promise.all(all.map((one) => one.leaveAll()));
    t.teardown(async () => {
      await leaveAll();
      await db.destroy();
    });
    await perform(played, all);

    const wanting = (name: string) => processes.filter((process) => played.wanted[process]?.includes(name));
    for (const name of names)
      for (const one of all)
        if (wanting(name).includes(one.process)) one.enter(name);
        else await one.leave(name);
    const leadsOf = (process: string) =>
      names.filter((name) => stage.leadersOf(name).includes(process)).length;
    const isCalm = () =>
      names.every((name) => {
        const [leader, ...others] = stage.leadersOf(name);
        if (leader === undefined) return wanting(name).length === 0;
        return others.length === 0 && wanting(name).every((other) => leadsOf(leader) - leadsOf(other) < 2);
      });
    t.true(
      await within(enoughMs, isCalm),
      names.map((name) => `${name}: ${stage.leadersOf(name)}`).join('; '),
    );
    await sleep(100); // for what is given up already
    const begun = stage.begun();
    await sleep(200);
    t.is(stage.begun(), begun, 'several heartbeats later nothing has moved');

    // A session that is still used holds no lock besides: each has the lead, and stands by.
    for (const one of all) one.enter(`only ${one.process}`);
    await Promise.all(all.flatMap((one) => names.map((name) => one.leave(name))));
    t.true(
      await within(enoughMs, async () => isDeepStrictEqual(await stage.left(), { locks: 6, sessions: 3 })),
    );
    await leaveAll();
    t.true(
      await within(enoughMs, async () => isDeepStrictEqual(await stage.left(), { locks: 0, sessions: 0 })),
    );
    t.deepEqual(stage.faults, []);
  };
  await fc.assert(fc.asyncProperty(play, each), { numRuns: runs(3), endOnFailure: true });
});
