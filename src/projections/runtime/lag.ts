/** How far a projection is behind the log, and whether what is asked of it can be answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import { type ProjectionStatus, projectionStatus } from './checkpoints.ts';
import type { Projection } from './projection.ts';

/**
 * The oldest event that the projection, standing where the statuses say, has not taken; null when it has taken all.
 * Throws EventStoreUnavailable when the signal aborts before the store has answered.
 */
export function firstUntaken(
  eventStore: Pick<EventStore, 'firstAfter'>,
  { name, streamPrefixes }: Pick<Projection, 'name' | 'streamPrefixes'>,
  statuses: readonly ProjectionStatus[],
  signal: AbortSignal,
): Promise<RecordedEvent | null> {
  const after = statuses.find((status) => status.name === name)?.position ?? null;
  return eventStore.firstAfter({ streamPrefixes, after, signal });
}

/** What tells how far a projection has come. */
export type LagStores = { eventStore: Pick<EventStore, 'firstAfter'>; db: Knex };

const answerWithinMs = 4_000;
const lookAgainMs = 200;

/**
 * Whether the projection holds all that was written until the moment. One that does not is given `waitMs` to catch up.
 * Throws EventStoreUnavailable and the database's errors.
 */
export async function holdsAllUntil(
  moment: Date,
  { projection, waitMs }: { projection: Projection; waitMs: number },
  stores: LagStores,
): Promise<boolean> {
  const giveUpAt = Date.now() + waitMs;
  while (!(await holdsAll(moment, projection, stores))) {
    if (Date.now() >= giveUpAt) return false;
    await sleep(lookAgainMs);
  }
  return true;
}

async function holdsAll(
  moment: Date,
  projection: Projection,
  { eventStore, db }: LagStores,
): Promise<boolean> {
  const statuses = await projectionStatus(db);
  if (!statuses.some(({ name, version }) => name === projection.name && version === projection.version))
    return false;
  const waiting = await firstUntaken(eventStore, projection, statuses, AbortSignal.timeout(answerWithinMs));
  return waiting === null || waiting.created > moment;
}

/** An event is in the log that much after its own time at the latest, whoever's clock it was. */
const slackMs = 5 * 60 * 1000;

/** When all events whose own time is not after the moment are in the log, as far as they can be by now. */
export function writtenBy(moment: Date, now: Date): Date {
  return new Date(Math.min(moment.getTime() + slackMs, now.getTime()));
}
