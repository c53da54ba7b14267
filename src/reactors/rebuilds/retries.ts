/**
 * Tries parked streams again when staff request it. The role that keeps a projection does so, because the account of http
 * may not write its tables.
 */
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { isConnectionFailure, isPostgresError } from '@ledger/postgres/error-codes.ts';
import { tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import { createExecuteRebuild } from '../../commands/rebuild.ts';
import { projectionStream, rebuildFold } from '../../events/rebuild.ts';
import { causedBy, describeRebuildFailure } from './perform.ts';
import { type WatchDependencies, watchRequests } from './watch.ts';

type Dependencies = WatchDependencies & { db: Knex; personalData: PersonalDataReader };

const isStoreAway = (error: unknown) =>
  error instanceof EventStoreUnavailable ||
  isConnectionFailure(error) ||
  isPostgresError(error, 'diskFull', 'readOnly');

/** Runs until stopped, and waits through outages of the stores. Several processes may do the same. */
export function startRetries(projections: readonly Projection[], dependencies: Dependencies): Background {
  const { eventStore, runtime } = dependencies;
  const execute = createExecuteRebuild(eventStore);

  /** The streams to be tried again, each with the event that requests it. */
  async function openRetries(name: string) {
    const stored = await eventStore.load(projectionStream(name));
    const events = stored.map(rebuildFold.read);
    const { retries } = events.reduce(rebuildFold.evolve, rebuildFold.initial);
    return retries.flatMap((stream) => {
      const isRequest = ({ type, data }: (typeof events)[number]) =>
        type === 'ParkedStreamRetryRequested' && data.stream === stream;
      const request = stored[events.findLastIndex(isRequest)];
      return request ? [{ stream, request }] : [];
    });
  }

  return watchRequests({
    ...dependencies,
    projections: projections.map(({ name }) => name),
    isRequested: async (name) => (await openRetries(name)).length > 0,
    async takeUp(name) {
      const projection = projections.find((each) => each.name === name);
      if (!projection) return;
      const target = { ...dependencies, projection, schema: name };
      for (const { request, stream } of await openRetries(name)) {
        const reason = await tryParkedAgain(target, stream).then(
          (parked) => parked.find((each) => each.stream === stream)?.message ?? null,
          (error) => {
            // Nothing was tried: the request waits for the store.
            if (isStoreAway(error)) throw error;
            return describeRebuildFailure(error);
          },
        );
        const at = runtime.now().toISOString();
        const command = { type: 'CompleteRetry' as const, at, stream, reason };
        await execute(projectionStream(name), command, causedBy(request, runtime));
      }
    },
  });
}
