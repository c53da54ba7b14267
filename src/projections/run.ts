/**
 * Feeds a projection from the log, exactly once: rows and checkpoint are written in one transaction, on the
 * condition that the checkpoint still stands where reading began. Whatever goes wrong, reading begins again there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { EventStore, Position } from '../eventstore/event-store.ts';
import { type Batch, readBatches } from './batches.ts';
import { advance, prepare, recordFault } from './checkpoints.ts';
import { BatchRefused, describeFailure, isOverload, isRefusal, StandStill } from './failures.ts';
import { whileLeading } from './leadership.ts';
import type { Projection } from './projection.ts';

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
  /** Where the tables live and what the checkpoint is called; a rebuild gives another than the projection's name. */
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
      await whileLeading({ databaseUrl, name: schema, signal }, (leading) =>
        follow(run, leading, onProgress),
      );
    } catch (error) {
      if (error instanceof StandStill) {
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

/** Reads from the stored checkpoint on until the signal aborts; throws StandStill, and whatever broke the run. */
async function follow(run: Run, signal: AbortSignal, onProgress: () => void): Promise<void> {
  const { projection, eventStore, db, schema, log } = run;
  const { version, position } = await prepare(db, projection, schema);
  log.info({ position: position?.commit.toString() ?? 'start' }, 'projection runs');
  try {
    if (version !== projection.version)
      throw new StandStill(
        `Its tables are of version ${version}, made by a newer program than this one, which knows ${projection.version}`,
        null,
      );
    const { streamPrefixes } = projection;
    let from = position;
    for await (const batch of readBatches({ eventStore, streamPrefixes, after: from, signal })) {
      await commitUpToFault(run, from, batch);
      from = batch.position;
      onProgress();
    }
  } catch (error) {
    if (error instanceof StandStill) await recordFault(db, schema, error.fault);
    throw error;
  }
  if (!signal.aborted) throw new Error('The subscription ended by itself');
}

/** Commits the batch; when it is refused, halves it until everything before the one event at fault is in. */
async function commitUpToFault(run: Run, from: Position | null, batch: Batch): Promise<void> {
  try {
    await commit(run, from, batch);
  } catch (error) {
    if (!(error instanceof BatchRefused)) throw error;
    const middle = Math.floor(batch.events.length / 2);
    const first = batch.events.slice(0, middle);
    const boundary = first.at(-1);
    if (!boundary)
      throw isOverload(error.cause)
        ? error.cause
        : new StandStill(describeFailure(error.cause), batch.events[0] ?? null);
    await commitUpToFault(run, from, { events: first, position: boundary.position });
    await commitUpToFault(run, boundary.position, { ...batch, events: batch.events.slice(middle) });
  }
}

async function commit({ projection, db, schema }: Run, from: Position | null, batch: Batch): Promise<void> {
  await db.transaction(async (trx) => {
    // First, because it holds the row: a second runner waits here and then finds the checkpoint moved.
    await advance(trx, schema, from, batch.position);
    if (batch.events.length === 0) return;
    await trx.raw('set local search_path to ??', [schema]);
    await project(projection, batch, trx);
  });
}

/** Throws BatchRefused when it is for the events that they cannot be written, the database's error in an outage. */
async function project(projection: Projection, { events }: Batch, trx: Knex.Transaction): Promise<void> {
  const queryErrors = new Set<unknown>();
  trx.on('query-error', (error) => queryErrors.add(error));
  try {
    await projection.project(events, trx);
  } catch (error) {
    const outage = queryErrors.has(error) && !isRefusal(error) && !isOverload(error);
    if (outage) throw error;
    throw new BatchRefused('The projection refused a batch', { cause: error });
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
