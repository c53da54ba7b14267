/**
 * Makes a projection's tables anew while the ones that are there serve: a copy is fed from the first event on, and takes
 * their place once it has caught up. What is interrupted goes on from the copy's own checkpoint.
 */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { EventStore, Position } from '../../eventstore/event-store.ts';
import { reasonOf } from '../../kernel/reason-of.ts';
import { retry } from '../../kernel/retry.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { isRefusal } from '../../postgres/error-codes.ts';
import { quoteIdentifier } from '../../postgres/identifiers.ts';
import { type LeaderLock, tryWithLeaderLock } from '../../postgres/leader-lock.ts';
import { connectPostgres } from '../../postgres/pool.ts';
import { createIndexes, discard, type ProjectionStatus, projectionStatus } from '../runtime/checkpoints.ts';
import { ProjectionHalted } from '../runtime/failures.ts';
import type { Projection } from '../runtime/projection.ts';
import { dropRetired, ShadowTablesOutdated, swap } from './cutover.ts';
import type { RebuildProgress } from './progress.ts';
import { fewEvents, openShadowTables } from './shadow-tables.ts';

export type RebuildOptions = {
  projection: Projection;
  eventStore: Pick<EventStore, 'subscribe' | 'head'>;
  db: Knex;
  /** The database of `db`: the lock and the long statements need connections of their own. */
  databaseUrl: string;
  log: Logger;
  runtime: Runtime;
  /** Interrupts it; what was done is kept. */
  signal: AbortSignal;
  onProgress: (progress: RebuildProgress) => void;
};

export type Rebuilt = {
  /** From how many events the tables were made. */
  events: number;
  /** Of this run alone, when an earlier one was interrupted. */
  durationMs: number;
};

/** It cannot be done as things are; the message says why, and holds no personal data. */
export class RebuildRefused extends Error {
  override name = 'RebuildRefused';
}

/** Another process is at it. */
export class RebuildUnderWay extends Error {
  override name = 'RebuildUnderWay';
}

/** The signal aborted; the next rebuild goes on from there. */
export class RebuildInterrupted extends Error {
  override name = 'RebuildInterrupted';
}

/** Where the new tables of a projection are made. */
const rebuildSchema = ({ name }: Pick<Projection, 'name'>) => `${name}_rebuild`;

/** Whether a process is rebuilding the projection now. Throws the database's own error. */
export async function isUnderWay(lock: LeaderLock): Promise<boolean> {
  return !(await tryWithLeaderLock({ ...lock, name: rebuildSchema(lock) }, async () => undefined));
}

/** A statement over all rows, such as making an index, may take so long. */
export const longestStatementMs = 60 * 60_000;
const maxFailuresInARow = 10;
/** When the serving tables differ from the shadow tables that often, these cannot be made like them. */
const maxBeginnings = 4;

/** What is to be done while no other rebuild of the projection can begin. */
export type RebuildHooks = {
  /** Before anything else; again after an outage. What it throws ends the rebuild. */
  onBegin?: () => Promise<void>;
  /** Once the new tables serve. */
  onSwapped?: (rebuilt: Rebuilt) => Promise<void>;
};

/**
 * Rebuilds a projection; resolves when the new tables serve.
 *
 * Outages are waited out for a while, then their error is thrown. Also throws RebuildUnderWay, RebuildRefused,
 * RebuildInterrupted, and ProjectionHalted for an event that cannot be folded. Whatever is thrown, the tables that served
 * before serve on.
 */
export async function rebuild(options: RebuildOptions & RebuildHooks): Promise<Rebuilt> {
  const { projection, databaseUrl, log, runtime, signal, onBegin, onSwapped } = options;
  const { name } = projection;
  const startedMs = runtime.monotonicMs();
  const patient = connectPostgres({ url: databaseUrl, log, longestQueryMs: longestStatementMs });
  const lock = { databaseUrl, name: rebuildSchema(projection), runtime, signal };
  let failures = 0;
  let beginnings = 1;
  let taken = 0;
  let rebuilt: Rebuilt | undefined;

  const attempt = async (resetPauses: () => void) => {
    const onProgress = (progress: RebuildProgress) => {
      if (progress.events !== taken) {
        failures = 0;
        resetPauses();
      }
      taken = progress.events;
      options.onProgress(progress);
    };
    const wasFree = await tryWithLeaderLock(lock, async (leading) => {
      await onBegin?.();
      const events = await rebuildLocked({ ...options, patient, signal: leading, onProgress });
      const serving = { events, durationMs: Math.round(runtime.monotonicMs() - startedMs) };
      await onSwapped?.(serving);
      rebuilt = serving;
      await dropRetired(patient, { projection, runtime, signal: leading });
    });
    if (!wasFree) throw new RebuildUnderWay(`A rebuild of ${name} is under way already`);
  };

  try {
    await retry(attempt, {
      runtime,
      signal,
      firstMs: 200,
      shouldRetry(error) {
        if (rebuilt || isFinal(error)) return false;
        if (error instanceof ShadowTablesOutdated) return ++beginnings <= maxBeginnings;
        return failures < maxFailuresInARow;
      },
      onFailure(error, inARow) {
        failures = inARow;
        log.warn({ projection: name, reason: reasonOf(error), failures }, 'rebuild interrupted; it goes on');
      },
    });
  } catch (error) {
    // Retired tables that are still there are dropped by the next rebuild.
    if (rebuilt) return rebuilt;
    if (signal.aborted) throw new RebuildInterrupted(`The rebuild of ${name} was interrupted`);
    if (error instanceof ShadowTablesOutdated) throw new RebuildRefused(`${error.message}, again and again`);
    throw error;
  } finally {
    await patient.destroy();
  }
  if (!rebuilt) throw new Error('A rebuild that ended well has tables that serve');
  return rebuilt;
}

/** Resolves to how many events the tables were made from. */
async function rebuildLocked(options: RebuildOptions & { patient: Knex }): Promise<number> {
  const { projection, eventStore, db, patient, runtime, signal } = options;
  const schema = rebuildSchema(projection);
  await dropRetired(patient, { projection, runtime, signal });
  const statuses = await projectionStatus(db);
  refuseOlderProgram(projection, statuses);
  const left = statuses.find(({ name }) => name === schema);
  if (left && left.version !== projection.version) await discard(db, schema);
  const copy = await openShadowTables({ ...options, schema });
  const catchUp = async () => {
    let taken: number;
    do taken = await copy.feed(await goal(projection, db, eventStore));
    while (taken > fewEvents);
  };
  try {
    await catchUp();
    await finish(patient, projection, schema);
    await catchUp();
    signal.throwIfAborted();
    await swap(patient, { projection, copy, schema });
  } catch (error) {
    // The next attempt must not go on with tables that cannot be completed.
    if (error instanceof ProjectionHalted || error instanceof ShadowTablesOutdated) await discard(db, schema);
    throw error;
  }
  return copy.events();
}

function refuseOlderProgram({ name, version }: Projection, statuses: readonly ProjectionStatus[]): void {
  const serving = statuses.find((status) => status.name === name);
  if (serving && serving.version > version)
    throw new RebuildRefused(
      `The tables of ${name} are of version ${serving.version}, made by a newer program than this one, which knows ${version}`,
    );
}

/**
 * How far to go: to where the serving tables stand, so that their runner can go on from there. Where no runner goes on,
 * to the end of the log: an event that it stood still at is either taken now or stops this rebuild, too.
 */
async function goal(
  projection: Projection,
  db: Knex,
  eventStore: Pick<EventStore, 'head'>,
): Promise<Position> {
  const serving = (await projectionStatus(db)).find(({ name }) => name === projection.name);
  const goesOn = serving?.version === projection.version && !serving.fault;
  return (goesOn && serving.position) || ((await eventStore.head()) ?? { commit: 0n, prepare: 0n });
}

/** The indexes that only queries need, and what the planner must know of the new tables from their first query on. */
async function finish(db: Knex, projection: Projection, schema: string): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local search_path to ??', [schema]);
    await createIndexes(trx, projection);
    const { rows } = await trx.raw('select tablename from pg_tables where schemaname = ?', [schema]);
    for (const { tablename } of rows) await trx.raw(`analyze ${quoteIdentifier(tablename)}`);
  });
}

/** Whether the next try would come to the same. */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof ProjectionHalted ||
    error instanceof RebuildRefused ||
    error instanceof RebuildUnderWay ||
    isRefusal(error)
  );
}
