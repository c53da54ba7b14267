/** Runs the background check once an hour, in one process of the fleet, and keeps its last result. */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { reasonOf } from '../../kernel/reason-of.ts';
import { retry } from '../../kernel/retry.ts';
import { type Background, runUntilStopped } from '../../kernel/run-until-stopped.ts';
import { emptyIfUndefined } from '../../postgres/error-codes.ts';
import { withLeaderLock } from '../../postgres/leader-lock.ts';
import { projectionStatus } from '../../projections/runtime/checkpoints.ts';
import { type LagSources, untilCaughtUp } from '../../projections/runtime/lag.ts';
import { type CheckResult, check, compared } from './check.ts';

type Dependencies = Parameters<typeof check>[0] &
  Pick<LagSources, 'eventStore'> & { databaseUrl: string; log: Logger };

const hourMs = 60 * 60_000;
const firstMs = 60_000;
/** A check that did not begin by then is late. */
export const lateAfterMs = 2 * hourMs;

/**
 * Runs until stopped. Outages are waited out: a check that was interrupted begins again. What does not agree is logged as
 * an error, by kind and number.
 */
export function startHourlyCheck(dependencies: Dependencies): Background {
  // It ends only when it is stopped.
  return runUntilStopped((signal) => keepChecking(dependencies, signal).catch(() => {}));
}

async function keepChecking(dependencies: Dependencies, signal: AbortSignal): Promise<void> {
  const { databaseUrl, log, runtime } = dependencies;
  await retry(
    (onProgress) =>
      withLeaderLock({ databaseUrl, name: 'hourly-check', runtime, signal }, async (leading) => {
        await runtime.sleep(firstMs, leading);
        while (!leading.aborted) {
          const waitMs = await checkIfDue(dependencies, leading);
          onProgress();
          await runtime.sleep(waitMs, leading);
        }
      }),
    {
      runtime,
      signal,
      longestMs: firstMs,
      onFailure: (error, failures) =>
        log.warn({ reason: reasonOf(error), failures }, 'the hourly check was interrupted and will retry'),
    },
  );
}

/** Resolves to the time until the next check is due. */
async function checkIfDue(dependencies: Dependencies, signal: AbortSignal): Promise<number> {
  const { db, log, runtime } = dependencies;
  const last = await lastCheck(db);
  const dueInMs = last ? Date.parse(last.at) + hourMs - runtime.now().getTime() : 0;
  if (dueInMs > 0) return Math.min(dueInMs, hourMs);
  // While they are made again, such as by a new release, books and payments are at different positions.
  const sources = { ...dependencies, projectionStatus: () => projectionStatus(db), signal };
  for (const { projection } of compared) await untilCaughtUp(projection, sources);
  const result = await check(dependencies, last, signal);
  await keep(db, result);
  const violations = result.violations.map(({ kind, count }) => ({ kind, count }));
  if (violations.length > 0) log.error({ violations }, 'the hourly check found what does not agree');
  else log.info({ checked: result.checked }, 'the hourly check found that all agrees');
  return hourMs;
}

/** The last result, for the console and for metrics; null before the first. Rejects when Postgres is down. */
export async function lastCheck(db: Knex): Promise<CheckResult | null> {
  const query = db.raw<{ rows: { result: CheckResult }[] }>('select result from last_check');
  return (await emptyIfUndefined(query.timeout(2_000)))[0]?.result ?? null;
}

async function keep(db: Knex, result: CheckResult): Promise<void> {
  await db.raw('create table if not exists last_check (id integer primary key, result json not null)');
  await db.raw(
    'insert into last_check values (1, ?) on conflict (id) do update set result = excluded.result',
    [JSON.stringify(result)],
  );
}
