/** An import asks the read models what the file may lack: it waits for them, and refuses to go by old ones. */

import type { Knex } from 'knex';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { payments } from '../projections/payments/projection.ts';
import { reconciliation } from '../projections/reconciliation/projection.ts';
import { projectionStatus } from '../projections/runtime/checkpoints.ts';
import { isReady } from '../projections/runtime/lag.ts';

/** A read model is behind the log, or stands still: what it lacks would look like a difference. */
export class ReadModelBehind extends Error {
  override name = 'ReadModelBehind';
}

/**
 * Resolves once `payments` and `reconciliation` hold all that was written before `since`. Throws ReadModelBehind when
 * they do not within `waitMs`, and EventStoreUnavailable.
 */
export async function waitForReadModels(
  { db, eventStore, runtime }: { db: Knex; eventStore: Pick<EventStore, 'firstAfter'>; runtime: Runtime },
  { since, waitMs }: { since: Date; waitMs: number },
): Promise<void> {
  const sources = { eventStore, projectionStatus: () => projectionStatus(db), runtime };
  for (const projection of [payments, reconciliation])
    if (!(await isReady(projection, { until: since, waitMs }, sources)))
      throw new ReadModelBehind(
        `The projection ${projection.name} is behind: nothing was compared. Is the projections role running?`,
      );
}
