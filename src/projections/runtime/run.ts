/**
 * Feeds a projection from the log, exactly once: rows and checkpoint are written in one transaction, on the
 * condition that the checkpoint still stands where reading began. Whatever goes wrong, reading begins again there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { EventStore } from '../../eventstore/event-store.ts';
import { withLeaderLock } from '../../postgres/leader-lock.ts';
import { readBatches } from './batches.ts';
import { prepare, recordFault } from './checkpoints.ts';
import { ProjectionHalted } from './failures.ts';
import type { Projection } from './projection.ts';
import { writeBatch } from './write-batch.ts';

export type ProjectionRun = {
  /** Resolves once nothing runs any more: after `stop`, or when an event could not be folded. Never rejects. */
  ended: Promise<void>;
  /** Lets a batch that is being written finish, then ends. */
  stop(): Promise<void>;
};

type Dependencies = {
  projection: Projection;
  eventStore: Pick<EventStore, 'subscribe'>;
  db: Knex;
  /** The database of `db`: the lock of the leader needs a connection of its own. */
  databaseUrl: string;
  log: Logger;
  /** Where the tables live and what the checkpoint is called, if not as the projection. */
  schema?: string;
};

const firstRetryMs = 100;
const longestRetryMs = 5_000;

/**
 * Runs a projection until it is stopped; of all processes that run it, one leads and the others stand by.
 * An outage of Postgres or the event store is waited out for ever. An event that cannot be folded stops this
 * projection alone: everything before it is committed, and the fault is in `projectionStatus`. A new run tries
 * it again.
 */
export function runProjection(dependencies: Dependencies): ProjectionRun {
  const { schema = dependencies.projection.name } = dependencies;
  const stopping = new AbortController();
  const log = dependencies.log.child({ projection: schema });
  const ended = keepRunning({ ...dependencies, schema, log }, stopping.signal);
  return {
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

type Run = Required<Dependencies>;

async function keepRunning(run: Run, signal: AbortSignal): Promise<void> {
  const { databaseUrl, schema, log } = run;
  let failures = 0;
  const onProgress = () => {
    failures = 0;
  };
  while (!signal.aborted) {
    try {
      await withLeaderLock({ databaseUrl, name: schema, signal }, (leading) =>
        follow(run, leading, onProgress),
      );
    } catch (error) {
      if (error instanceof ProjectionHalted) {
        const { message, event } = error.fault;
        log.error({ message, ...event }, 'projection stands still');
        return;
      }
      failures += 1;
      log.warn(
        { reason: reasonOf(error), failures },
        'projection interrupted; it goes on from its checkpoint',
      );
      await pause(failures, signal);
    }
  }
}

/** Reads from the stored checkpoint on until the signal aborts; throws ProjectionHalted, and whatever broke the run. */
async function follow(run: Run, signal: AbortSignal, onProgress: () => void): Promise<void> {
  const { projection, eventStore, db, schema, log } = run;
  const { version, position } = await prepare(db, projection, schema);
  log.info({ position: position?.commit.toString() ?? 'start' }, 'projection runs');
  try {
    if (version !== projection.version)
      throw new ProjectionHalted(
        `Its tables are of version ${version}, made by a newer program than this one, which knows ${projection.version}`,
        null,
      );
    const { streamPrefixes } = projection;
    let from = position;
    for await (const batch of readBatches({ eventStore, streamPrefixes, after: from, signal })) {
      await writeBatch(run, from, batch);
      from = batch.position;
      onProgress();
    }
  } catch (error) {
    if (error instanceof ProjectionHalted) await recordFault(db, schema, error.fault);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refused connection to several addresses has no message of its own.
  return error.message || String(Reflect.get(error, 'code') ?? error.name);
}

/** Waits longer after each failure in a row, up to 5 s, and not in step with other processes. */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const fullMs = Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
  await sleep(fullMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
}
