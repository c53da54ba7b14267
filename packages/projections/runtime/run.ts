/**
 * Feeds a projection from the log, exactly once: rows and checkpoint are written in one transaction, provided that
 * nobody else has moved the checkpoint. After any failure, reading resumes at the stored checkpoint.
 */
import { LogReplaced } from '@ledger/event-store/event-store.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import { inSpan } from '@ledger/kernel/tracing.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { briefReasonOf, isPostgresError } from '@ledger/postgres/error-codes.ts';
import type { LeaderElection } from '@ledger/postgres/leader-election.ts';
import { readBatches } from './batches.ts';
import { prepare, recordFault } from './checkpoints.ts';
import { describeFailure, diskFullText, ProjectionHalted } from './failures.ts';
import { tryParkedAgain } from './parking.ts';
import { type Projection, selectionOf } from './projection.ts';
import type { Transact } from './shared-transaction.ts';
import type { Stores } from './stores.ts';
import { writeBatch } from './write-batch.ts';

type Dependencies = Stores<'load' | 'subscribe'> & {
  projection: Projection;
  election: LeaderElection;
  /** See `readBatches`; 0 by default. */
  everyMs?: number;
  /** See `writeBatch`. */
  transaction?: Transact;
};

/**
 * Runs a projection until it is stopped; of all processes that run it, one leads and the others stand by. It waits out
 * every outage of Postgres and of the event store. An event that cannot be processed parks its stream, which each new
 * run tries again; a fault that is not one stream's halts this projection alone, which ends the run. Both are in
 * `projectionStatus`. `stop` lets a batch that is being written finish. Never rejects.
 */
export function runProjection(dependencies: Dependencies): Background {
  const { name: schema } = dependencies.projection;
  const log = dependencies.log.child({ projection: schema });
  return runUntilStopped((signal) =>
    keepRunning({ ...dependencies, schema, log, overloads: new Map() }, signal),
  );
}

type Run = Dependencies & { schema: string; overloads: Map<string, number> };

async function keepRunning(run: Run, signal: AbortSignal): Promise<void> {
  const { election, schema, log, runtime } = run;
  const warn = warnSeldom(log, runtime);
  const lead = (onProgress: () => void) =>
    election.lead(schema, { signal }, (leading) => follow(run, leading, onProgress));
  try {
    await retry(lead, {
      runtime,
      signal,
      shouldRetry: (error) => !(error instanceof ProjectionHalted),
      onFailure: (error, failures) =>
        warn(
          { reason: briefReasonOf(error), failures },
          'projection interrupted; continues at its checkpoint',
        ),
    });
  } catch (error) {
    // Any other error means that it was stopped.
    if (error instanceof ProjectionHalted) log.error({ message: error.message }, 'projection halted');
  }
}

/** Reads from the stored checkpoint on until the signal aborts; throws ProjectionHalted, and whatever ended the run. */
async function follow(run: Run, signal: AbortSignal, onProgress: () => void): Promise<void> {
  const { projection, eventStore, db, schema, log, runtime } = run;
  try {
    const { version, position, lastEvent, parked } = await prepare(db, projection, schema);
    log.info({ position: position?.commit.toString() ?? 'start' }, 'projection runs');
    if (version !== projection.version)
      throw new ProjectionHalted(
        `Its tables are of version ${version}, made by a newer program than this one, which knows ${projection.version}`,
      );
    if (parked.length > 0) await tryAgain(run);
    let from = position;
    for await (const batch of readBatches({
      maxEvents: projection.maxEvents,
      canWait: projection.canWait,
      everyMs: run.everyMs,
      eventStore,
      selection: selectionOf(projection),
      after: from,
      processed: lastEvent,
      runtime,
      signal,
    })) {
      const about = { 'ledger.projection': schema, 'ledger.events': batch.events.length };
      const written = inSpan('project', about, () => writeBatch(run, from, batch));
      for (const stream of await written) log.warn(stream, 'a stream is parked');
      from = batch.position;
      onProgress();
    }
  } catch (cause) {
    const error = cause instanceof LogReplaced ? new ProjectionHalted(logReplacedText(projection)) : cause;
    if (error instanceof ProjectionHalted) await recordFault(db, schema, error.message);
    if (isPostgresError(error, 'diskFull'))
      // The page of the checkpoint's row may still have room for the fault.
      await recordFault(db, schema, diskFullText).catch(() => {});
    // Somebody has dropped a table, or all checkpoints.
    if (isPostgresError(error, 'undefinedTable'))
      await recordFault(db, schema, describeFailure(error)).catch(() => {});
    throw error;
  }
}

/** Never rejects: parked streams must not hold up the others. */
async function tryAgain(run: Run): Promise<void> {
  try {
    const parked = await tryParkedAgain(run);
    run.log.info({ parked: parked.length }, 'parked streams were tried again');
  } catch (error) {
    run.log.warn({ reason: briefReasonOf(error) }, 'parked streams could not be tried again');
  }
}

function logReplacedText({ name, isNeverRebuilt }: Projection): string {
  const cause =
    'Its rows come from events that the log does not have: an older copy was restored, or it is another log';
  const cure = isNeverRebuilt
    ? 'see "An older log" in the operations guide'
    : `restore the newer one, or run: ledger rebuild ${name}`;
  return `${cause}; ${cure}`;
}
