/** Writes a batch of events into a projection's tables, together with the checkpoint; finds the one event at fault. */
import type { Knex } from 'knex';
import { KeysUnavailable, type PersonalDataReader } from '../../events/personal-data.ts';
import { EventStoreUnavailable, type Position } from '../../eventstore/event-store.ts';
import { isOverload, isRefusal } from '../../postgres/error-codes.ts';
import type { Batch } from './batches.ts';
import { advance } from './checkpoints.ts';
import { describeFailure, ProjectionHalted } from './failures.ts';
import type { Projection } from './projection.ts';

/** Tables of a projection, and the checkpoint of the same name. */
type Target = {
  projection: Projection;
  schema: string;
  db: Knex;
  personalData: PersonalDataReader;
  /**
   * Does not wait until a batch is on disk, for tables that nobody uses yet. A crash of Postgres may lose the last
   * batches, rows and checkpoint together; they are then read again.
   */
  commitsLater?: boolean;
};

/** A batch cannot be written as it is: one of its events is at fault, or there are too many at a time. */
class BatchRefused extends Error {
  override name = 'BatchRefused';
}

/**
 * Commits a batch that was read from `from` on. When it is refused, halves it until everything before the one event at
 * fault is written, then throws ProjectionHalted. Throws when the checkpoint has moved, and the database's error in an outage.
 */
export async function writeBatch(target: Target, from: Position | null, batch: Batch): Promise<void> {
  try {
    await commit(target, from, batch);
  } catch (error) {
    if (!(error instanceof BatchRefused)) throw error;
    const middle = Math.floor(batch.events.length / 2);
    const first = batch.events.slice(0, middle);
    const boundary = first.at(-1);
    if (!boundary)
      throw isOverload(error.cause)
        ? error.cause
        : new ProjectionHalted(describeFailure(error.cause), batch.events[0] ?? null);
    await writeBatch(target, from, { events: first, position: boundary.position });
    await writeBatch(target, boundary.position, { ...batch, events: batch.events.slice(middle) });
  }
}

async function commit(target: Target, from: Position | null, batch: Batch): Promise<void> {
  const { db, personalData, projection, schema, commitsLater } = target;
  await db.transaction(async (trx) => {
    if (commitsLater) await trx.raw('set local synchronous_commit = off');
    // First, because it locks the row: a second runner waits here and then finds the checkpoint moved.
    await advance(trx, target, from, batch);
    if (batch.events.length === 0) return;
    await trx.raw('set local search_path to ??', [schema]);
    const queryErrors = new Set<unknown>();
    trx.on('query-error', (error) => queryErrors.add(error));
    try {
      await projection.project(batch.events, trx, personalData);
    } catch (error) {
      const isOutage =
        error instanceof EventStoreUnavailable ||
        error instanceof KeysUnavailable ||
        (queryErrors.has(error) && !isRefusal(error) && !isOverload(error));
      if (isOutage) throw error;
      throw new BatchRefused('The projection refused a batch', { cause: error });
    }
  });
}
