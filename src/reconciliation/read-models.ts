/** An import asks the read models what the file may lack: it waits for them, and refuses to go by old ones. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { EventStore } from '../eventstore/event-store.ts';
import { projectionStatus } from '../projections/checkpoints.ts';
import { firstUntaken } from '../projections/lag.ts';
import { payments } from '../projections/payments.ts';
import type { Projection } from '../projections/projection.ts';
import { reconciliation } from '../projections/reconciliation.ts';

/** A read model is behind the log, or stands still: what it lacks would look like a difference. */
export class ReadModelBehind extends Error {
  override name = 'ReadModelBehind';
}

type Stores = { eventStore: Pick<EventStore, 'firstAfter'>; db: Knex };

const answerWithinMs = 5_000;
const lookEveryMs = 200;

/**
 * Resolves once `payments` and `reconciliation` hold all that was written before `since`. Throws ReadModelBehind when
 * they do not within `waitMs`, and EventStoreUnavailable.
 */
export async function waitForReadModels(
  { eventStore, db }: Stores,
  { since, waitMs }: { since: Date; waitMs: number },
): Promise<void> {
  const deadlineMs = Date.now() + waitMs;
  for (const projection of [payments, reconciliation]) {
    while (!(await holdsAll(projection, { eventStore, db }, since))) {
      if (Date.now() >= deadlineMs)
        throw new ReadModelBehind(
          `The projection ${projection.name} is behind: nothing was compared. Is the projections role running?`,
        );
      await sleep(lookEveryMs);
    }
  }
}

async function holdsAll(projection: Projection, { eventStore, db }: Stores, since: Date): Promise<boolean> {
  const statuses = await projectionStatus(db);
  if (!statuses.some(({ name, version }) => name === projection.name && version === projection.version))
    return false;
  const signal = AbortSignal.timeout(answerWithinMs);
  const waiting = await firstUntaken(eventStore, projection, statuses, signal);
  return waiting === null || waiting.created > since;
}
