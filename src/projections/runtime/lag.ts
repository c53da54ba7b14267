/** How far a projection is behind the log, and whether it is ready to answer a question. */
import type { EventStore, RecordedEvent } from '../../eventstore/event-store.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { ProjectionStatus } from './checkpoints.ts';
import type { Projection } from './projection.ts';

/**
 * The oldest event that the projection has not processed, according to the statuses; null when there is none. Throws
 * EventStoreUnavailable when the signal aborts before the store has answered.
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

export type LagSources = {
  eventStore: Pick<EventStore, 'firstAfter'>;
  projectionStatus(): Promise<readonly ProjectionStatus[]>;
  runtime: Pick<Runtime, 'monotonicMs' | 'sleep' | 'timeout'>;
};

const answerWithinMs = 4_000;
const pollMs = 200;

/**
 * Whether the projection's tables are of its version and hold everything that was recorded until the moment. A projection
 * that is behind is given `waitMs` to catch up. Throws EventStoreUnavailable and what `projectionStatus` throws.
 */
export async function isReady(
  projection: Projection,
  { until, waitMs }: { until: Date; waitMs: number },
  { eventStore, projectionStatus, runtime }: LagSources,
): Promise<boolean> {
  const giveUpMs = runtime.monotonicMs() + waitMs;
  for (;;) {
    const statuses = await projectionStatus();
    if (statuses.some(({ name, version }) => name === projection.name && version === projection.version)) {
      const untaken = await firstUntaken(eventStore, projection, statuses, runtime.timeout(answerWithinMs));
      if (untaken === null || untaken.created > until) return true;
    }
    if (runtime.monotonicMs() >= giveUpMs) return false;
    await runtime.sleep(pollMs);
  }
}

/** An event is in the log at most this long after its own time, whichever machine's clock that was. */
const clockToleranceMs = 5 * 60 * 1000;

/** How far a read model must have come to hold every event whose own time is not after `moment`. */
export function recordedUntil(moment: Date, now: Date): Date {
  return new Date(Math.min(moment.getTime() + clockToleranceMs, now.getTime()));
}
