/**
 * Makes a projection's tables again while the present ones serve: shadow tables are filled from the whole log, and a
 * cutover replaces the serving ones once they have caught up. An interrupted rebuild continues at its own checkpoint.
 */
import { LogReplaced, type Position } from '@ledger/event-store/event-store.ts';
import type { Log } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { isRefusal } from '@ledger/postgres/error-codes.ts';
import { type LeadNow, leadNow } from '@ledger/postgres/leader-election.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { quoteIdentifier } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import { discard, projectionStatus } from '../runtime/checkpoints.ts';
import { ProjectionHalted } from '../runtime/failures.ts';
import { parkedOnlyIn } from '../runtime/parking.ts';
import type { Projection } from '../runtime/projection.ts';
import { createIndexes, longestStatementMs } from '../runtime/tables.ts';
import { cutOver, dropRetired, lastRebuild, ShadowTablesOutdated } from './cutover.ts';
import { type RebuildProgress, rebuildSchema } from './progress.ts';
import { openShadowTables, type ShadowOptions } from './shadow-tables.ts';

export type RebuildOptions = ShadowOptions & {
  /** The database of `db`: the lock and the long statements need connections of their own. */
  databaseUrl: string;
  log: Log;
};

export type Rebuilt = {
  /** How many events the tables were made from. */
  events: number;
  /** The duration of this run alone, if an earlier one was interrupted. */
  durationMs: number;
};

/** The rebuild is not possible at present; the message says why, and holds no personal data. */
export class RebuildRefused extends Error {
  override name = 'RebuildRefused';
}

/** Another process is already rebuilding the projection. */
export class RebuildUnderWay extends Error {
  override name = 'RebuildUnderWay';
}

/** The signal aborted; the next rebuild continues where this one ended. */
export class RebuildInterrupted extends Error {
  override name = 'RebuildInterrupted';
}

/** Whether a process is rebuilding the projection `name` now. Throws the database's own error. */
export async function isUnderWay(lock: LeadNow): Promise<boolean> {
  const free = { ...lock, name: rebuildSchema(lock.name) };
  return (await leadNow(free, async () => true)) === null;
}

const maxFailuresInARow = 10;
/** After this many changes of the serving tables, shadow tables cannot be made to match them. */
const maxOutdated = 4;

/** Called while no other rebuild of the projection can begin. */
type RebuildHooks = {
  /**
   * Before the work begins, and again after an outage. Resolves to what identifies the request: if the serving tables were
   * made for it, nothing is made again. An error from it ends the rebuild.
   */
  onBegin?: () => Promise<string>;
  /** Called once the new tables are in use. */
  onSwapped?: (rebuilt: Rebuilt) => Promise<void>;
};

/**
 * Rebuilds a projection; resolves when the new tables are in use.
 *
 * Outages are waited out for a while, then their error is thrown. Also throws RebuildUnderWay, RebuildRefused,
 * RebuildInterrupted, and ProjectionHalted if too many streams, or others than before, cannot be processed. After any
 * error, the previous tables still serve.
 */
export async function rebuild(options: RebuildOptions & RebuildHooks): Promise<Rebuilt> {
  const { projection, log, runtime, signal, onBegin, onSwapped } = options;
  const { name } = projection;
  const startedMs = runtime.monotonicMs();
  let outdated = 0;
  let taken = 0;
  let rebuilt: Rebuilt | undefined;

  const attempt = (resetPauses: () => void) => {
    const onProgress = (progress: RebuildProgress) => {
      if (progress.events !== taken) resetPauses();
      taken = progress.events;
      options.onProgress(progress);
    };
    return whileAlone(options, rebuildSchema(name), async (patient, leading) => {
      const request = (await onBegin?.()) ?? null;
      const last = request === null ? null : await lastRebuild(options.db, projection);
      const durationMs = () => Math.round(runtime.monotonicMs() - startedMs);
      const run = { ...options, request, durationMs, patient, signal: leading, onProgress };
      // A process may have ended, or lost its connection, right after its cutover.
      const isDone = last !== null && last.request === request;
      const events = isDone ? last.events : await rebuildLocked(run);
      const serving = { events, durationMs: isDone ? last.durationMs : durationMs() };
      await onSwapped?.(serving);
      rebuilt = serving;
      await dropRetired(patient, { projection, runtime, signal: leading });
      return serving;
    });
  };

  try {
    return await retry(attempt, {
      runtime,
      signal,
      firstMs: 200,
      shouldRetry(error, failures) {
        if (rebuilt || isFinal(error)) return false;
        if (error instanceof ShadowTablesOutdated) return ++outdated < maxOutdated;
        return failures < maxFailuresInARow;
      },
      onFailure: (error, failures) =>
        log.warn(
          { projection: name, reason: reasonOf(error), failures },
          'rebuild interrupted; it continues',
        ),
    });
  } catch (error) {
    // The next rebuild drops the retired tables that are left.
    if (rebuilt) return rebuilt;
    if (signal.aborted) throw new RebuildInterrupted(`The rebuild of ${name} was interrupted`);
    if (error instanceof ShadowTablesOutdated) throw new RebuildRefused(`${error.message} again and again`);
    throw error;
  }
}

/**
 * Works while no other process works on this schema, with connections for long statements. Throws RebuildUnderWay if one
 * does, and what `work` throws.
 */
export async function whileAlone<Result>(
  { projection, databaseUrl, log, runtime, signal }: RebuildOptions,
  schema: string,
  work: (patient: Knex, leading: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const patient = connectPostgres({ url: databaseUrl, log, longestQueryMs: longestStatementMs });
  const lock = { databaseUrl, name: schema, runtime, signal };
  try {
    const result = await leadNow(lock, (leading) => work(patient, leading));
    if (result !== null) return result;
    throw new RebuildUnderWay(`Another process is at work on the tables of ${projection.name} already`);
  } finally {
    await patient.destroy();
  }
}

/** After these, tables that were begun cannot be completed. */
const useless = [LogReplaced, ProjectionHalted, ShadowTablesOutdated];

type LockedRun = RebuildOptions & { patient: Knex; request: string | null; durationMs: () => number };

async function rebuildLocked(options: LockedRun): Promise<number> {
  const { projection, eventStore, db, patient, request, durationMs, runtime, signal } = options;
  const { name, version } = projection;
  const schema = rebuildSchema(name);
  await dropRetired(patient, { projection, runtime, signal });
  const statuses = await projectionStatus(db);
  const serving = statuses.find((status) => status.name === name);
  if (serving && serving.version > version)
    throw new RebuildRefused(
      `The tables of ${name} are of version ${serving.version}, made by a newer program than this one, which knows ${version}`,
    );
  const begun = statuses.find((status) => status.name === schema);
  if (begun && begun.version !== version) await discard(db, schema);
  const shadow = await openShadowTables({ ...options, schema });
  // The goal is the position of the serving tables, where their runner can continue. If no runner follows the log, it
  // is the log's end: what halted the runner is then processed or stops this rebuild, too.
  const goal = async (): Promise<Position> => {
    const now = (await projectionStatus(db)).find((status) => status.name === name);
    const isFollowed = now?.version === version && !now.fault;
    return (isFollowed && now.position) || ((await eventStore.head()) ?? { commit: 0n, prepare: 0n });
  };
  try {
    await shadow.catchUp(goal);
    await prepareForQueries(patient, projection, schema);
    await shadow.catchUp(goal);
    signal.throwIfAborted();
    await assertNoneLost(db, name, schema);
    await cutOver(patient, { projection, shadow, schema, request, durationMs: durationMs() });
  } catch (error) {
    if (useless.some((type) => error instanceof type)) await discard(db, schema);
    throw error;
  }
  return shadow.events();
}

/** Streams that only the shadow tables have parked would lose rows. */
async function assertNoneLost(db: Knex, name: string, schema: string): Promise<void> {
  const statuses = await projectionStatus(db);
  const [serving, shadow] = [name, schema].map((each) => statuses.find((status) => status.name === each));
  const parked =
    serving?.version === shadow?.version && parkedOnlyIn(shadow?.parked ?? [], serving?.parked ?? []);
  if (parked) throw new ProjectionHalted(`The new tables would lack rows, for they park ${parked}`);
}

/** Makes the indexes, and the statistics that the planner needs from the first query on. */
async function prepareForQueries(db: Knex, projection: Projection, schema: string): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local search_path to ??', [schema]);
    await createIndexes(trx, projection);
    const { rows } = await trx.raw('select tablename from pg_tables where schemaname = ?', [schema]);
    for (const { tablename } of rows) await trx.raw(`analyze ${quoteIdentifier(tablename)}`);
  });
}

/** Whether another attempt would end in the same way. */
export function isFinal(error: unknown): boolean {
  const final = [ProjectionHalted, RebuildRefused, RebuildUnderWay];
  return isRefusal(error) || final.some((kind) => error instanceof kind);
}
