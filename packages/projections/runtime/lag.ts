/** How far a projection is behind the log, and whether it is ready to answer a question. */
import { type EventStore, LogReplaced } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';
import { type ProjectionStatus, projectionStatus } from './checkpoints.ts';
import { type Followed, selectionOf } from './projection.ts';

/**
 * How long the oldest event has been waiting that the projection has not processed, according to the statuses; 0 when
 * there is none. Throws EventStoreUnavailable, also when the signal aborts before the store has answered.
 */
export async function lagMsOf(
  eventStore: Pick<EventStore, 'firstAfter'>,
  followed: Followed,
  statuses: readonly ProjectionStatus[],
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<number> {
  const after = statuses.find(({ name }) => name === followed.name)?.position ?? null;
  const waiting = await eventStore.firstAfter({ ...selectionOf(followed), after, signal });
  return waiting ? Math.max(0, now.getTime() - waiting.created.getTime()) : 0;
}

export type LagSources = {
  eventStore: Pick<EventStore, 'firstAfter'>;
  db: Knex;
  runtime: Pick<Runtime, 'monotonicMs' | 'sleep' | 'timeout'>;
};

const answerWithinMs = 4_000;
const pollMs = 200;

/**
 * Whether the projection's tables are of its version and hold everything that was recorded until the moment, and nothing
 * that the log lacks since an older copy of it was restored.
 */
async function holds(
  projection: Followed,
  until: Date,
  statuses: readonly ProjectionStatus[],
  { eventStore, runtime }: LagSources,
): Promise<boolean> {
  const status = statuses.find(({ name }) => name === projection.name);
  if (status?.version !== projection.version) return false;
  const { position: after, lastEvent: processed } = status;
  const signal = runtime.timeout(answerWithinMs);
  try {
    const untaken = await eventStore.firstAfter({ ...selectionOf(projection), after, processed, signal });
    return untaken === null || untaken.created > until;
  } catch (error) {
    if (error instanceof LogReplaced) return false;
    throw error;
  }
}

/**
 * Whether the projection holds everything that was recorded until the moment, after at most `waitMs` in which it may
 * catch up. Throws EventStoreUnavailable and the database's errors.
 */
export async function isReady(
  projection: Followed,
  { until, waitMs }: { until: Date; waitMs: number },
  sources: LagSources,
): Promise<boolean> {
  const { db, runtime } = sources;
  const giveUpMs = runtime.monotonicMs() + waitMs;
  while (!(await holds(projection, until, await projectionStatus(db), sources))) {
    if (runtime.monotonicMs() >= giveUpMs) return false;
    await runtime.sleep(pollMs);
  }
  return true;
}

/**
 * Resolves once the projection has processed everything that was recorded before this call, or has halted, or the signal
 * aborts. Outages are waited out.
 */
export async function untilCaughtUp(
  projection: Followed,
  sources: LagSources & { runtime: Pick<Runtime, 'now'>; signal: AbortSignal },
): Promise<void> {
  const { db, runtime, signal } = sources;
  const begun = runtime.now();
  const isDone = async () => {
    const statuses = await projectionStatus(db);
    const status = statuses.find(({ name }) => name === projection.name);
    const hasHalted = status?.version === projection.version && status.fault !== null;
    return hasHalted || (await holds(projection, begun, statuses, sources));
  };
  while (!signal.aborted && !(await isDone().catch(() => false))) await runtime.sleep(pollMs, signal);
}

/** An event is in the log at most this long after its own time, whichever machine's clock that was. */
const clockToleranceMs = 5 * 60 * 1000;

/** How far a read model must have come to hold every event whose own time is not after `moment`. */
export function recordedUntil(moment: Date, now: Date): Date {
  return new Date(Math.min(moment.getTime() + clockToleranceMs, now.getTime()));
}
