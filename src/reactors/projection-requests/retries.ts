/**
 * Tries parked streams again when staff request it. The role that keeps a projection does so, because the account of http
 * may not write its tables.
 */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { isConnectionFailure, isPostgresError } from '@ledger/postgres/error-codes.ts';
import { tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { createExecuteRequest, loadRequests } from '../../commands/projection-requests.ts';
import { causedBy, describeRebuildFailure } from './perform.ts';
import { watchRequests } from './watch.ts';

/** Keys that cannot be read although PostgreSQL answers, such as under another data key, are no outage. */
const isStoreAway = (error: unknown): boolean =>
  error instanceof EventStoreUnavailable ||
  isConnectionFailure(error) ||
  isPostgresError(error, 'diskFull', 'readOnly') ||
  (error instanceof KeysUnavailable && isStoreAway(error.cause));

/** Runs until stopped, and waits through outages of the stores. Several processes may do the same. */
export function startRetries(
  projections: readonly Projection[],
  dependencies: Stores<keyof EventStore>,
): Background {
  const { eventStore, runtime } = dependencies;
  const execute = createExecuteRequest(eventStore);

  /** The streams to be tried again, each with the event that requests it. */
  async function openRetries(name: string) {
    const { events, state } = await loadRequests(eventStore, name);
    return state.retries.flatMap((stream) => {
      const isRequest = ({ type, data }: RecordedEvent) =>
        type === 'ParkedStreamRetryRequested' && Reflect.get(Object(data), 'stream') === stream;
      const request = events.findLast(isRequest);
      return request ? [{ stream, request }] : [];
    });
  }

  return watchRequests({
    ...dependencies,
    projections: projections.map(({ name }) => name),
    async takeUp(name) {
      const projection = projections.find((each) => each.name === name);
      if (!projection) return false;
      const target = { ...dependencies, projection, schema: name };
      const open = await openRetries(name);
      for (const { request, stream } of open) {
        const reason = await tryParkedAgain(target, stream).then(
          (parked) => parked.find((each) => each.stream === stream)?.message ?? null,
          (error) => {
            // Nothing was tried: the request waits for the store.
            if (isStoreAway(error)) throw error;
            return describeRebuildFailure(error);
          },
        );
        const data = { at: runtime.now().toISOString(), stream, reason };
        await execute(name, { type: 'ParkedStreamRetried', data }, causedBy(request, runtime));
      }
      return open.length > 0;
    },
  });
}
