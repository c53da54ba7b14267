/** How far a projection is behind the log. */
import type { EventStore, RecordedEvent } from '../eventstore/event-store.ts';
import type { ProjectionStatus } from './checkpoints.ts';
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
