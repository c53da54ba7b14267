/** Writes a batch of events into a projection's tables, with the checkpoint; parks streams that cannot be processed. */
import type { Position } from '@ledger/event-store/event-store.ts';
import type { Batch } from './batches.ts';
import { advance, saveParked } from './checkpoints.ts';
import type { ParkedStream } from './failures.ts';
import { BatchRefused, projectAll, projectOrPark, type Target } from './parking.ts';
import type { Transact } from './shared-transaction.ts';

type WriteTarget = Target & {
  /**
   * Does not wait until a batch is on disk, for tables that nobody uses yet. A crash of Postgres may lose the last
   * batches, rows and checkpoint together; they are then read again.
   */
  commitsLater?: boolean;
  /** Runs it in a transaction, which it may share with other batches; `db.transaction` by default. */
  transaction?: Transact | undefined;
};

/** A batch that takes long must not hold up others. */
const mostShared = 500;

/**
 * Commits a batch that was read from `from` on, without the events of parked streams and without those at fault, whose
 * streams are parked; resolves to those. Throws ProjectionHalted when they are too many, an error when the checkpoint has
 * moved, and the database's error in an outage.
 */
export async function writeBatch(
  target: WriteTarget,
  from: Position | null,
  batch: Batch,
): Promise<readonly ParkedStream[]> {
  const alone: Transact = (work) => target.db.transaction(work);
  const commit = (project: typeof projectOrPark, transact = alone) =>
    transact(async (trx) => {
      if (target.commitsLater) await trx.raw('set local synchronous_commit = off');
      // First, because it locks the row: a second runner waits here and then finds the checkpoint moved.
      const parked = await advance(trx, target, from, batch);
      const leftOut = new Set(parked.map(({ stream }) => stream));
      const events = batch.events.filter(({ streamName }) => !leftOut.has(streamName));
      const added = events.length > 0 ? await project(trx, target, events, parked) : [];
      if (added.length > 0) await saveParked(trx, target.schema, [...parked, ...added]);
      return added;
    });
  // First without a savepoint, which would cost each batch two more round trips.
  const isShared = target.transaction && batch.events.length <= mostShared;
  const plain = commit(
    async (trx, _, events) => {
      await projectAll(trx, target, events);
      return [];
    },
    isShared ? target.transaction : alone,
  );
  return await plain.catch((error) => {
    if (!(error instanceof BatchRefused)) throw error;
    return commit(projectOrPark);
  });
}
