/** How far each projection is behind the log, and whether it goes on. */
import type { EventStore } from '../../eventstore/event-store.ts';
import { eventsUntaken } from '../../projections/runtime/lag.ts';
import type { LookDependencies } from '../look.ts';
import type { GaugeSource } from '../metrics.ts';

/** More events than this are not counted: a projection so far behind is being made, or stands. */
const mostCounted = 1_000;

export function projectionGauges({
  eventStore,
  projections,
  projectionStatus,
  runtime,
}: Pick<LookDependencies, 'projections' | 'projectionStatus' | 'runtime'> & {
  eventStore: Pick<EventStore, 'eventsAfter'>;
}): GaugeSource {
  return {
    name: 'projections',
    label: 'projection',
    gauges: {
      ledger_projection_lag_events: `Events that the projection has not processed; ${mostCounted} if there are more`,
      ledger_projection_lag_seconds: 'For how long the oldest of them has been waiting',
      ledger_projection_stopped: '1 if the projection has stopped, or has never run',
      ledger_projection_parked_streams: 'Streams that it leaves out since an event that it could not process',
    },
    async read(signal) {
      const statuses = await projectionStatus();
      const ofEach = projections.map(async (projection) => {
        const { name } = projection;
        const status = statuses.find((each) => each.name === name);
        const untaken = await eventsUntaken(eventStore, projection, statuses, { limit: mostCounted, signal });
        const now = runtime.now().getTime();
        const lagMs = Math.max(0, now - (untaken[0]?.created.getTime() ?? now));
        return [
          { gauge: 'ledger_projection_lag_events', value: untaken.length, of: name },
          { gauge: 'ledger_projection_lag_seconds', value: lagMs / 1_000, of: name },
          { gauge: 'ledger_projection_stopped', value: !status || status.fault ? 1 : 0, of: name },
          { gauge: 'ledger_projection_parked_streams', value: status?.parked.length ?? 0, of: name },
        ];
      });
      return (await Promise.all(ofEach)).flat();
    },
  };
}
