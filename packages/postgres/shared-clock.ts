/**
 * The time of day by PostgreSQL's clock, so that all processes agree on what is due, on leases and on the time of events,
 * however wrong the clocks of their machines are.
 */
import type { Log } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';

export type SharedClock = ReturnType<typeof createSharedClock>;

const everyMs = 10_000;
const timeoutMs = 2_000;
/** Two clocks that nobody sets drift apart by at most this part of the time that passes. */
const drift = 1e-4;
/** More is a fault of the machine, which its operator should mend. */
export const tolerableDifferenceMs = 5_000;

export function createSharedClock(dependencies: {
  db: Knex;
  runtime: Runtime;
  log: Pick<Log, 'warn' | 'info'>;
}) {
  const { db, runtime, log } = dependencies;
  let known: Comparison | null = null;
  let isTolerable = true;
  let measuring: { first: Promise<void>; background: Background } | null = null;

  const nowMs = () => (known ? known.aheadMs + runtime.monotonicMs() : runtime.now().getTime());
  const differenceMs = () => (known ? Math.round(runtime.now().getTime() - nowMs()) : null);

  /** Compares twice, because the first query may have to wait for a connection. One answer is enough. */
  async function measure(): Promise<void> {
    known = moreExact(known, await compare(db, runtime));
    const second = await compare(db, runtime).catch(() => null);
    if (second) known = moreExact(known, second);
    report();
  }

  function report(): void {
    const difference = differenceMs() ?? 0;
    if (isTolerable === Math.abs(difference) <= tolerableDifferenceMs) return;
    isTolerable = !isTolerable;
    if (isTolerable) log.info({}, 'the clock of this machine agrees with PostgreSQL again');
    else
      log.warn(
        { differenceMs: difference },
        'the clock of this machine is wrong; the time of PostgreSQL is used',
      );
  }

  /** While PostgreSQL is away, the monotonic clock continues its time. */
  const attempt = () =>
    measure().catch((error) => log.info({ reason: reasonOf(error) }, 'the time of PostgreSQL is not known'));

  return {
    /** The given runtime, except that `now` is PostgreSQL's time; until that is known, the machine's. */
    runtime: { ...runtime, now: () => new Date(nowMs()) },
    /** The machine's time of day minus PostgreSQL's, in milliseconds; null until it is known. */
    differenceMs,
    /** Begins to compare; resolves after the first attempt. Can be called by several parts of a process. */
    async start(): Promise<void> {
      if (!measuring) {
        const first = attempt();
        const background = runUntilStopped(async (signal) => {
          await first;
          while (!signal.aborted) {
            await runtime.sleep(everyMs, signal);
            if (!signal.aborted) await attempt();
          }
        });
        measuring = { first, background };
      }
      await measuring.first;
    },
    stop: async () => await measuring?.background.stop(),
  };
}

/** What one answer of PostgreSQL says. */
type Comparison = {
  /** PostgreSQL's time less that of the monotonic clock, which never jumps, unlike the machine's time of day. */
  aheadMs: number;
  /** How wrong that may be: PostgreSQL read its clock at some moment between the question and the answer. */
  errorMs: number;
  /** When the answer came, by the monotonic clock. */
  atMs: number;
};

async function compare(db: Knex, runtime: Pick<Runtime, 'monotonicMs'>): Promise<Comparison> {
  const beforeMs = runtime.monotonicMs();
  const query = db.raw<{ rows: [{ ms: string }] }>(
    'select extract(epoch from clock_timestamp()) * 1000 as ms',
  );
  const { rows } = await query.timeout(timeoutMs);
  const atMs = runtime.monotonicMs();
  return {
    aheadMs: Number(rows[0].ms) - (beforeMs + atMs) / 2,
    errorMs: (atMs - beforeMs) / 2,
    atMs,
  };
}

/** The one to use: a slow answer says little, but one that the earlier cannot explain means that a clock was set. */
function moreExact(earlier: Comparison | null, later: Comparison): Comparison {
  if (!earlier) return later;
  const errorMs = earlier.errorMs + (later.atMs - earlier.atMs) * drift;
  const isExplained = Math.abs(later.aheadMs - earlier.aheadMs) <= errorMs + later.errorMs;
  return isExplained && errorMs < later.errorMs ? earlier : later;
}
