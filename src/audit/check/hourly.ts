/** Runs the background check once an hour, in one process of the fleet, and keeps its last result. */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { reasonOf } from '../../kernel/reason-of.ts';
import { type Background, runUntilStopped } from '../../kernel/run-until-stopped.ts';
import { emptyIfUndefined } from '../../postgres/error-codes.ts';
import { withLeaderLock } from '../../postgres/leader-lock.ts';
import { projectionStatus } from '../../projections/runtime/checkpoints.ts';
import { type LagSources, untilCaughtUp } from '../../projections/runtime/lag.ts';
import { type CheckResult, check, compared } from './check.ts';
import { forgedRows, forgedRowsSql, forgetForgedRows } from './forged-rows.ts';

type Dependencies = Parameters<typeof check>[0] &
  Pick<LagSources, 'eventStore'> & { databaseUrl: string; log: Logger };

const hourMs = 60 * 60_000;
/** How often it looks whether a check is due. */
const lookMs = 60_000;
/** A check that did not begin by then is late. */
export const lateAfterMs = 2 * hourMs;

/**
 * Runs until stopped. A check that an outage interrupted begins again. What does not agree is logged as an error, by kind
 * and number.
 */
export function startHourlyCheck(dependencies: Dependencies): Background {
  const { databaseUrl, log, runtime } = dependencies;
  return runUntilStopped(async (signal) => {
    const lock = { databaseUrl, name: 'hourly-check', runtime, signal, waits: false };
    while (!signal.aborted) {
      await runtime.sleep(lookMs, signal);
      // A process that cannot reach the log must not keep the lock: another may.
      const check = (leading: AbortSignal) =>
        checkIfDue(dependencies, AbortSignal.any([leading, runtime.timeout(hourMs)]));
      await withLeaderLock(lock, check).catch((error) =>
        log.warn({ reason: reasonOf(error) }, 'the hourly check was interrupted'),
      );
    }
  });
}

async function checkIfDue(dependencies: Dependencies, signal: AbortSignal): Promise<void> {
  const { db, log, runtime } = dependencies;
  const last = await lastCheck(db);
  await db.raw(forgedRowsSql);
  const forged = await forgedRows(db);
  const isDue = !last || forged.length > 0 || runtime.now().getTime() >= Date.parse(last.at) + hourMs;
  if (signal.aborted || !isDue) return;
  // What a projection has not processed yet, such as while it is made again, would never be compared.
  const sources = { ...dependencies, projectionStatus: () => projectionStatus(db), signal };
  for (const projection of compared) await untilCaughtUp(projection, sources);
  const result = await check(dependencies, last, signal, forged);
  await db.raw(lastCheckSql);
  await db.raw(
    'insert into last_check values (1, ?) on conflict (id) do update set result = excluded.result',
    [JSON.stringify(result)],
  );
  await forgetForgedRows(db, forged);
  const violations = result.violations.map(({ kind, count }) => ({ kind, count }));
  if (violations.length > 0) log.error({ violations }, 'the hourly check found what does not agree');
  else log.info({ checked: result.checked }, 'the hourly check found that all agrees');
}

export const lastCheckSql = `
  do $$ begin
    if to_regclass('last_check') is null then
      create table last_check (id integer primary key, result json not null);
    end if;
  end $$`;

/** The last result, for the console and for metrics; null before the first. Rejects when Postgres is down. */
export async function lastCheck(db: Knex): Promise<CheckResult | null> {
  const query = db.raw<{ rows: { result: CheckResult }[] }>('select result from last_check');
  return (await emptyIfUndefined(query.timeout(2_000)))[0]?.result ?? null;
}
