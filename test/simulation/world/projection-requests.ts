/** What staff request of projections in the console. The role that keeps their tables does it. */
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import type { Knex } from 'knex';
import { createExecuteRequest } from '../../../src/commands/projection-requests.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import type { RoleDependencies } from '../../../src/roles/stores.ts';
import type { History } from '../engine/history.ts';

export function createProjectionRequests({
  stores: { eventStore, runtime },
  db,
  history,
  causeOf,
}: {
  stores: Pick<RoleDependencies, 'eventStore' | 'runtime'>;
  db: Knex;
  history: History;
  causeOf: (actor: string) => Cause;
}) {
  const execute = createExecuteRequest(eventStore);

  async function request(
    projection: string,
    command: Parameters<typeof execute>[1],
    what: string,
  ): Promise<void> {
    try {
      await execute(projection, command, causeOf('staff:one'));
      history.tell(`staff: request ${what}`);
    } catch (error) {
      history.tell(`staff: the request ${what} fails: ${String(error).slice(0, 200)}`);
    }
  }

  return {
    async requestRebuild(projection: string): Promise<void> {
      const data = { at: runtime.now().toISOString(), projection };
      await request(projection, { type: 'ProjectionRebuildRequested', data }, `to rebuild ${projection}`);
    },

    /** That all parked streams are tried again. */
    async requestRetries(): Promise<void> {
      const statuses = await projectionStatus(db).catch(() => []);
      const at = runtime.now().toISOString();
      for (const { name, parked } of statuses)
        for (const { stream } of parked)
          await request(
            name,
            { type: 'ParkedStreamRetryRequested', data: { at, stream } },
            `to try ${stream} again in ${name}`,
          );
    },
  };
}
