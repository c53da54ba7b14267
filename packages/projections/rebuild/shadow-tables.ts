/** Shadow tables: a second set of a projection's tables in its own schema, fed from the log while the first serves. */
import type { Position } from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import { readBatches } from '../runtime/batches.ts';
import { prepare } from '../runtime/checkpoints.ts';
import { tryParkedAgain } from '../runtime/parking.ts';
import { type Projection, selectionOf } from '../runtime/projection.ts';
import type { Stores } from '../runtime/stores.ts';
import { writeBatch } from '../runtime/write-batch.ts';
import { createMeter, type RebuildProgress } from './progress.ts';

export type ShadowOptions = Omit<Stores<'subscribe' | 'head' | 'load'>, 'log'> & {
  projection: Projection;
  /** Interrupts the work; what was done is kept. */
  signal: AbortSignal;
  onProgress: (progress: RebuildProgress) => void;
};

/** Shadow tables that processed more than this in a pass are fed again before a cutover makes anybody wait. */
const fewEvents = 500;

/** Makes the tables, without the indexes that only queries need, or continues with existing ones. */
export async function openShadowTables({
  projection: { indexes: _, ...projection },
  schema,
  eventStore,
  db,
  personalData,
  runtime,
  signal,
  onProgress,
}: ShadowOptions & { schema: string }) {
  const target = { projection, schema, db, personalData, runtime, commitsLater: true };
  const meter = createMeter(runtime);
  let { position, events, lastEvent } = await prepare(db, projection, schema);
  await tryParkedAgain({ ...target, eventStore });

  /**
   * Processes everything up to a position, and moves the checkpoint there unless it was past it. Resolves to the number of
   * these events. Throws ProjectionHalted, LogReplaced if the tables have events that the log lacks, the signal's reason,
   * and the stores' errors.
   */
  async function feed(goal: Position): Promise<number> {
    const before = events;
    const head = (await eventStore.head()) ?? { commit: 0n, prepare: 0n };
    // The serving tables have read past the end of the log if it was replaced by an older copy.
    const upTo = isAfter(goal, head) ? head : goal;
    const report = () => onProgress({ events, position, head, eventsPerSecond: meter(events) });
    report();
    const reading = {
      eventStore,
      selection: selectionOf(projection),
      maxEvents: projection.maxEvents,
      after: position,
      processed: lastEvent,
      upTo,
      runtime,
      signal,
    };
    for await (const batch of readBatches(reading)) {
      await writeBatch(target, position, batch);
      position = batch.position;
      lastEvent = batch.last ?? lastEvent;
      events += batch.events.length;
      report();
    }
    signal.throwIfAborted();
    if (isAfter(upTo, position)) {
      await writeBatch(target, position, { events: [], position: upTo });
      position = upTo;
      report();
    }
    return events - before;
  }

  /** Feeds up to a position that moves on meanwhile, until only a few events were left. Throws the same errors. */
  async function catchUp(goal: () => Promise<Position | null>): Promise<void> {
    for (;;) {
      const upTo = await goal();
      if (!upTo || (await feed(upTo)) <= fewEvents) return;
    }
  }

  return { position: () => position, events: () => events, feed, catchUp };
}

export type ShadowTables = Awaited<ReturnType<typeof openShadowTables>>;
