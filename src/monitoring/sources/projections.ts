/** How far each projection is behind the log, and whether it goes on. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Reading } from '@ledger/observability/metrics.ts';
import { selectionOf } from '@ledger/projections/runtime/projection.ts';
import type { LookDependencies } from '../health.ts';

/** A projection that is so far behind is being made, or stands. */
const mostCounted = 1_000;

type Dependencies = Pick<LookDependencies, 'projections' | 'projectionStatus' | 'runtime'> & {
  eventStore: Pick<EventStore, 'eventsAfter'>;
};

export const readProjections =
  ({ eventStore, projections, projectionStatus, runtime }: Dependencies) =>
  async (signal: AbortSignal): Promise<Reading[]> => {
    const statuses = await projectionStatus();
    const ofEach = projections.map(async (projection): Promise<Reading[]> => {
      const { name } = projection;
      const status = statuses.find((each) => each.name === name);
      const after = status?.position ?? null;
      const untaken = await eventStore.eventsAfter(
        { ...selectionOf(projection), after, signal },
        mostCounted,
      );
      const now = runtime.now().getTime();
      const lagMs = Math.max(0, now - (untaken[0]?.created.getTime() ?? now));
      return [
        ['ledger_projection_lag_events', untaken.length, name],
        ['ledger_projection_lag_seconds', lagMs / 1_000, name],
        ['ledger_projection_stopped', !status || status.fault ? 1 : 0, name],
        ['ledger_projection_parked_streams', status?.parked.length ?? 0, name],
      ];
    });
    return (await Promise.all(ofEach)).flat();
  };
