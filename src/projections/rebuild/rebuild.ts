/**
 * Makes a projection's tables anew while the ones that are there serve: a copy is fed from the first event on, and takes
 * their place once it has caught up. What is interrupted goes on from the copy's own checkpoint.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { EventStore, Position } from '../../eventstore/event-store.ts';
import { tryWithLeaderLock } from '../../postgres/leader-lock.ts';
import { connectPostgres } from '../../postgres/pool.ts';
import { quoteIdentifier } from '../details/tables.ts';
import { discard, type ProjectionStatus, projectionStatus } from '../runtime/checkpoints.ts';
import { isRefusal, ProjectionHalted } from '../runtime/failures.ts';
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

/** Whether some process is at a projection's rebuild just now. Throws the database's own error. */
export async function isUnderWay(name: string, databaseUrl: string, signal: AbortSignal): Promise<boolean> {
  const turn = { databaseUrl, name: rebuildSchema({ name }), signal };
  return !(await tryWithLeaderLock(turn, async () => undefined));
}

/** A statement over all rows, such as making an index, may take so long. */
export const longestStatementMs = 60 * 60_000;
const maxFailuresInARow = 10;
/** More changes of the serving tables during one rebuild are none: then the copy cannot be made like them. */
const maxBeginnings = 3;
const longestRetryMs = 5_000;

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
  const { projection, databaseUrl, log, signal, onBegin, onSwapped } = options;
  const startedMs = performance.now();
  const patient = connectPostgres({ url: databaseUrl, log, longestQueryMs: longestStatementMs });
  let failures = 0;
  let beginnings = 0;
  let taken = 0;
  let rebuilt: Rebuilt | undefined;
  const onProgress = (progress: RebuildProgress) => {
    if (progress.events !== taken) failures = 0;
    taken = progress.events;
    options.onProgress(progress);
  };
  try {
    while (true) {
      try {
        const turn = { databaseUrl, name: rebuildSchema(projection), signal };
        const wasFree = await tryWithLeaderLock(turn, async (leading) => {
          await onBegin?.();
          const events = await rebuildAlone({ ...options, patient, signal: leading, onProgress });
          const serving = { events, durationMs: Math.round(performance.now() - startedMs) };
          await onSwapped?.(serving);
          rebuilt = serving;
          await dropRetired(patient, projection, leading);
        });
        if (rebuilt) return rebuilt;
        if (!wasFree) throw new RebuildUnderWay(`A rebuild of ${projection.name} is under way already`);
      } catch (error) {
        // What is left to be dropped, the next rebuild drops.
        if (rebuilt) return rebuilt;
        if (signal.aborted) throw new RebuildInterrupted(`The rebuild of ${projection.name} was interrupted`);
        if (error instanceof ShadowTablesOutdated) {
          beginnings += 1;
          if (beginnings > maxBeginnings) throw new RebuildRefused(`${error.message}, again and again`);
          log.info({ projection: projection.name, reason: error.message }, 'the rebuild begins again');
          await discard(options.db, rebuildSchema(projection));
          continue;
        }
        failures += 1;
        if (isFinal(error) || failures > maxFailuresInARow) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ projection: projection.name, reason, failures }, 'rebuild interrupted; it goes on');
        await sleep(Math.min(100 * 2 ** failures, longestRetryMs), undefined, { signal }).catch(() => {});
      }
    }
  } finally {
    await patient.destroy();
  }
}

/** Resolves to how many events the tables were made from. */
async function rebuildAlone(options: RebuildOptions & { patient: Knex }): Promise<number> {
  const { projection, eventStore, db, patient, signal } = options;
  const schema = rebuildSchema(projection);
  await dropRetired(patient, projection, signal);
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
  } catch (error) {
    // Made by this program, and it stands still: the next try shall not begin with it.
    if (error instanceof ProjectionHalted) await discard(db, schema);
    throw error;
  }
  signal.throwIfAborted();
  await swap(patient, { projection, copy, schema });
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
    await projection.createIndexes?.(trx);
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
