/** Runs the hourly background check and the daily `ledger verify`, each in one process, and keeps the last results. */
import type { Log } from '@ledger/kernel/log.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import { briefReasonOf, rowsWithin } from '@ledger/postgres/error-codes.ts';
import type { LeaderElection } from '@ledger/postgres/leader-election.ts';
import { type LagSources, untilCaughtUp } from '@ledger/projections/runtime/lag.ts';
import type { Knex } from 'knex';
import { dayOf, readSpan } from '../../common/malaysian-time.ts';
import { sqlOf } from '../../common/sql.ts';
import { type CheckResult, check, comparedProjections } from './check.ts';
import { forgedRows, forgetForgedRows } from './forged-rows.ts';

type Dependencies = Parameters<typeof check>[0] &
  Pick<LagSources, 'eventStore'> & { election: LeaderElection; log: Log };

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const tryAgainMs = 10 * 60_000;
/** How often it looks whether a check is due. */
const lookMs = 60_000;
export const lateAfterMs = { check: 2 * hourMs, verify: 2 * dayMs } as const;

/** Runs until stopped. A check that an outage interrupted begins again. Violations are logged as errors. */
export function startHourlyCheck(dependencies: Dependencies): Background {
  // A process that cannot reach the log must not keep the lock: another process may be able to.
  const check = (leading: AbortSignal) =>
    checkIfDue(dependencies, AbortSignal.any([leading, dependencies.runtime.timeout(hourMs)]));
  return inOneProcess('hourly-check', check, dependencies);
}

type VerifyDependencies = Pick<Dependencies, 'election' | 'db' | 'log' | 'runtime'> & {
  /** The time of day in Malaysia, such as `02:30`. */
  at: string;
  /** Verifies everything, and records what it found (`recordVerified`). */
  verify(signal: AbortSignal): Promise<void>;
};

/** Runs until stopped. What is interrupted, or cannot be verified, is tried again ten minutes later. */
export function startDailyVerify({ at, verify, ...dependencies }: VerifyDependencies): Background {
  const { db, log, runtime } = dependencies;
  const startedAt = runtime.now().toISOString();
  async function verifyIfDue(signal: AbortSignal): Promise<void> {
    const lastAt = (await lastCheck(db, 'verify'))?.at;
    const now = runtime.now().toISOString();
    const today = readSpan(`${dayOf(now)} ${at}`)?.start ?? '';
    const due = today <= now ? today : new Date(Date.parse(today) - dayMs).toISOString();
    // A stored result with a time in the future must not stop this for ever.
    const before = lastAt !== undefined && lastAt <= now ? lastAt : startedAt;
    if (signal.aborted || before >= due) return;
    await verify(signal);
    const found = await lastCheck(db, 'verify');
    if (found === null || found.at === lastAt) await runtime.sleep(tryAgainMs, signal);
    else if (found.violations.length > 0)
      log.error({ violations: countsOf(found) }, 'the daily verification found violations');
    else log.info({ checked: found.checked }, 'the daily verification found no violations');
  }
  return inOneProcess('daily-verify', verifyIfDue, dependencies);
}

/** Calls `work` every minute, in one of the processes that call this, until stopped. */
function inOneProcess(
  name: string,
  work: (leading: AbortSignal) => Promise<void>,
  { election, log, runtime }: Pick<Dependencies, 'election' | 'log' | 'runtime'>,
): Background {
  return runUntilStopped(async (signal) => {
    for (;;) {
      await runtime.sleep(lookMs, signal);
      if (signal.aborted) return;
      await election
        .lead(name, { signal, waits: false }, work)
        .catch((error) => log.warn({ check: name, reason: briefReasonOf(error) }, 'a check was interrupted'));
    }
  });
}

async function checkIfDue(dependencies: Dependencies, signal: AbortSignal): Promise<void> {
  const { db, log, runtime } = dependencies;
  const last = await lastCheck(db);
  await db.raw(sqlOf('audit-tables'));
  const forged = await forgedRows(db);
  // A stored result with a time in the future also makes a check due.
  const agoMs = runtime.now().getTime() - Date.parse(last?.at ?? '');
  const isDue = !last || forged.length > 0 || !(agoMs >= 0 && agoMs < hourMs);
  if (signal.aborted || !isDue) return;
  // Otherwise events that a projection has not processed yet, for example during a rebuild, would never be compared.
  for (const projection of comparedProjections) await untilCaughtUp(projection, { ...dependencies, signal });
  const result = await check(dependencies, { last, signal, suspected: forged });
  await keepResult(db, 'check', result);
  await forgetForgedRows(db, forged);
  if (result.violations.length > 0)
    log.error({ violations: countsOf(result) }, 'the hourly check found violations');
  else log.info({ checked: result.checked }, 'the hourly check found no violations');
}

/** Each has a table of one row: `last_check`, `last_verify`. */
type Kind = 'check' | 'verify';

async function keepResult(db: Knex, of: Kind, result: CheckOutcome): Promise<void> {
  await db.raw(sqlOf('audit-tables'));
  await db.raw(
    `insert into last_${of} values (1, ?) on conflict (id) do update set result = excluded.result`,
    [JSON.stringify(result)],
  );
}

/** Only verifications have notes, except those of earlier releases. */
export type CheckOutcome = Pick<CheckResult, 'at' | 'checked' | 'violations'> & { notes?: string[] };

/** What `ledger verify` found, for the console and for metrics. */
export async function recordVerified(db: Knex, at: Date, found: Omit<CheckOutcome, 'at'>): Promise<void> {
  const { checked, notes = [], violations } = found;
  await keepResult(db, 'verify', { at: at.toISOString(), checked, notes, violations });
}

const countsOf = ({ violations }: CheckOutcome) => violations.map(({ kind, count }) => ({ kind, count }));

/** The last result, for the console and for metrics; null before the first. Rejects when Postgres is down. */
export async function lastCheck(db: Knex, of: Kind = 'check'): Promise<(CheckResult & CheckOutcome) | null> {
  type Row = { result: CheckResult & CheckOutcome };
  return (await rowsWithin<Row>(2_000, db, `select result from last_${of}`))[0]?.result ?? null;
}
