/** Writes a batch of events into a projection's tables, together with the checkpoint; parks the streams that it cannot process. */
import type { Knex } from 'knex';
import type { Position, RecordedEvent } from '../../eventstore/event-store.ts';
import type { Batch } from './batches.ts';
import { advance, saveParked } from './checkpoints.ts';
import type { ParkedStream } from './failures.ts';
import { BatchRefused, projectAll, projectOrPark, type Target } from './parking.ts';

type WriteTarget = Target & {
  /**
   * Does not wait until a batch is on disk, for tables that nobody uses yet. A crash of Postgres may lose the last
   * batches, rows and checkpoint together; they are then read again.
   */
  commitsLater?: boolean;
};

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
  try {
    return await commit(target, from, batch, async (trx, events) => {
      await projectAll(trx, target, events);
      return [];
    });
  } catch (error) {
    if (!(error instanceof BatchRefused)) throw error;
  }
  // Only now with savepoints, which would be a quarter of the statements of every batch.
  return await commit(target, from, batch, async (trx, events, parked) => {
    const added = await projectOrPark(trx, target, events, parked);
    if (added.length > 0) await saveParked(trx, target.schema, [...parked, ...added]);
    return added;
  });
}

async function commit(
  target: WriteTarget,
  from: Position | null,
  batch: Batch,
  project: (
    trx: Knex.Transaction,
    events: readonly RecordedEvent[],
    parked: readonly ParkedStream[],
  ) => Promise<readonly ParkedStream[]>,
): Promise<readonly ParkedStream[]> {
  return await target.db.transaction(async (trx) => {
    if (target.commitsLater) await trx.raw('set local synchronous_commit = off');
    // First, because it locks the row: a second runner waits here and then finds the checkpoint moved.
    const parked = await advance(trx, target, from, batch);
    const leftOut = new Set(parked.map(({ stream }) => stream));
    const events = batch.events.filter(({ streamName }) => !leftOut.has(streamName));
    return events.length > 0 ? await project(trx, events, parked) : [];
  });
}
