/** Several processes that lead, as far as PostgreSQL sees, for a test of whatever may happen to them. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';
import { electionOn } from '../support/leader-election.ts';

type Work = { process: string; name: string; begunMs: number; fail(): void };

export type Process = ReturnType<ReturnType<typeof createStage>['join']>;

export function createStage(db: Knex, url: string, runtime: Runtime) {
  const working = new Set<Work>();
  const faults: string[] = [];
  let begun = 0;
  /** What a process began until then may belong to a session that is lost, and go on for a moment beside the next leader. */
  const lostUntilMs = new Map<string, number>();

  async function work(process: string, name: string, leading: AbortSignal): Promise<void> {
    const failing = Promise.withResolvers<void>();
    const own = { process, name, begunMs: performance.now(), fail: () => failing.reject(new Error('Fails')) };
    const others = [...working].filter((each) => each.name === name);
    if (
      others.some((each) => each.process === process || each.begunMs > (lostUntilMs.get(each.process) ?? 0))
    )
      faults.push(`${process} leads ${name} too: ${others.map((each) => each.process)}`);
    working.add(own);
    begun += 1;
    try {
      await Promise.race([failing.promise, leading.aborted || once(leading, 'abort')]);
      await sleep(begun % 5);
    } finally {
      working.delete(own);
    }
  }

  function join(process: string) {
    // Its sessions have its name.
    const election = electionOn(`${url}?application_name=${process}`, runtime);
    const asked = new Map<string, { leaving: AbortController; ended: Promise<void> }>();

    async function ask(name: string, signal: AbortSignal, waits: boolean): Promise<void> {
      do
        await election
          .lead(name, { signal, waits }, (leading) => work(process, name, leading))
          .catch(() => sleep(1));
      while (waits && !signal.aborted);
      asked.delete(name);
    }

    async function leave(name: string): Promise<void> {
      const found = asked.get(name);
      found?.leaving.abort();
      await found?.ended;
    }

    return {
      process,
      enter(name: string, waits = true): void {
        if (asked.has(name)) return;
        const leaving = new AbortController();
        const signal = waits ? leaving.signal : AbortSignal.any([leaving.signal, AbortSignal.timeout(3)]);
        asked.set(name, { leaving, ended: ask(name, signal, waits) });
      },
      leave,
      leaveAll: () => Promise.all([...asked.keys()].map(leave)),
      fail(name: string): void {
        for (const each of working) if (each.process === process && each.name === name) each.fail();
      },
      /** PostgreSQL ends its session. */
      async lose(): Promise<void> {
        if (lostUntilMs.get(process) === Number.POSITIVE_INFINITY) return;
        lostUntilMs.set(process, Number.POSITIVE_INFINITY);
        const its = 'datname = current_database() and application_name = ?';
        await db.raw(`select pg_terminate_backend(pid, 1000) from pg_stat_activity where ${its}`, [process]);
        await sleep(20); // until it knows
        lostUntilMs.set(process, performance.now());
      },
    };
  }

  async function left(): Promise<{ locks: number; sessions: number }> {
    const { rows } = await db.raw(`
      select count(distinct sessions.pid)::int as sessions, count(locktype)::int as locks
      from pg_stat_activity as sessions left join pg_locks on pg_locks.pid = sessions.pid and locktype = 'advisory'
      where datname = current_database() and application_name <> 'ledger'`);
    return rows[0];
  }

  return {
    join,
    /** The sessions of all processes, and the locks that they hold. */
    left,
    faults,
    begun: () => begun,
    leadersOf: (name: string) =>
      [...working].filter((each) => each.name === name).map(({ process }) => process),
  };
}
