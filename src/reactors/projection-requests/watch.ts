/**
 * Makes sure that what staff request of projections is done, even if a process crashes and leaves its request open. The
 * role that keeps a projection does so, because the account of http may not write its tables.
 */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { isConnectionFailure, isPostgresError } from '@ledger/postgres/error-codes.ts';
import { tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { createExecuteRequest, loadRequests } from '../../commands/projection-requests.ts';
import { projectionRequestTypes } from '../../events/projection-requests.ts';
import { causedBy, describeRebuildFailure } from './perform.ts';

type Watched = Stores<keyof EventStore> & {
  projections: readonly Projection[];
  /** Does the rebuild that is requested, unless another process does it. */
  rebuild?: (projection: Projection, signal: AbortSignal) => Promise<void>;
  /** A projection has new tables: one that was halted may be able to continue. */
  onRebuilt?: (projection: Projection) => void;
};

/** How often to check whether another process is done, or a store is back. */
const checkAgainMs = 1_000;
/** How long to wait after a rebuild that was interrupted: its process may have nothing to run with. */
const rebuildAgainMs = 10_000;
/** How long to wait for an event: a log restored from an older copy may hold an open request that no event announces. */
const lookAgainMs = 60_000;

/** Runs until stopped, and waits through outages. A rebuild under way at the stop is left to the next process. */
export function startRequests(watched: Watched): Background {
  const { projections, eventStore, log, onRebuilt, rebuild, runtime } = watched;
  return runUntilStopped(async (signal) => {
    let next = Promise.withResolvers<void>();

    async function seeTo(projection: Projection): Promise<void> {
      const { name } = projection;
      const warn = warnSeldom(log, runtime);
      let rebuiltAt: string | null = null;
      let rebuilding: Promise<unknown> | undefined;
      const check = async () => {
        const { events, state } = await loadRequests(eventStore, name);
        const { last, requestedAt, retries } = state;
        if (last?.outcome === 'rebuilt' && last.at !== rebuiltAt) {
          rebuiltAt = last.at;
          onRebuilt?.(projection);
        }
        for (const stream of retries) await tryAgain(watched, projection, { stream, events });
        // Streams are tried again meanwhile: it may take an hour.
        if (requestedAt !== null && !signal.aborted)
          rebuilding ??= rebuild?.(projection, signal)
            .catch((error) => {
              onFailure(error);
              return runtime.sleep(rebuildAgainMs, signal);
            })
            .finally(() => {
              rebuilding = undefined;
            });
        return requestedAt === null && retries.length === 0;
      };
      const onFailure = (error: unknown) => {
        // Others log that the event store is away; then nobody knows whether anything was requested.
        if (!signal.aborted && !(error instanceof EventStoreUnavailable))
          warn({ projection: name, reason: describeRebuildFailure(error) }, 'what staff requested waits');
        return false;
      };
      while (!signal.aborted) {
        const { promise: changed } = next;
        if (await check().catch(onFailure)) await Promise.race([changed, runtime.sleep(lookAgainMs, signal)]);
        else await runtime.sleep(checkAgainMs, signal);
      }
      await rebuilding;
    }

    async function follow(): Promise<void> {
      const after = await eventStore.head();
      const selection = { eventTypes: projectionRequestTypes };
      for await (const { kind } of eventStore.subscribe({ ...selection, after, signal })) {
        if (kind === 'checkpoint') continue;
        next.resolve();
        next = Promise.withResolvers();
      }
    }

    const following = retry(follow, { runtime, signal, firstMs: checkAgainMs, longestMs: checkAgainMs });
    await Promise.all([following.catch(() => {}), ...projections.map(seeTo)]);
  });
}

/** Keys that cannot be read although PostgreSQL answers, such as under another data key, are no outage. */
const isStoreAway = (error: unknown): boolean =>
  error instanceof EventStoreUnavailable ||
  isConnectionFailure(error) ||
  isPostgresError(error, 'diskFull', 'readOnly') ||
  (error instanceof KeysUnavailable && isStoreAway(error.cause));

/** Tries a parked stream again, and records what came of it. Throws if a store is away: then nothing was tried. */
async function tryAgain(
  { eventStore, runtime, ...stores }: Watched,
  projection: Projection,
  { stream, events }: { stream: string; events: readonly RecordedEvent[] },
): Promise<void> {
  const { name } = projection;
  const isRequest = ({ type, data }: RecordedEvent) =>
    type === 'ParkedStreamRetryRequested' && Reflect.get(Object(data), 'stream') === stream;
  const request = events.findLast(isRequest);
  if (!request) return;
  const target = { ...stores, eventStore, runtime, projection, schema: name };
  const reason = await tryParkedAgain(target, stream).then(
    (parked) => parked.find((each) => each.stream === stream)?.message ?? null,
    (error) => {
      if (isStoreAway(error)) throw error;
      return describeRebuildFailure(error);
    },
  );
  const data = { at: runtime.now().toISOString(), stream, reason };
  const execute = createExecuteRequest(eventStore);
  await execute(name, { type: 'ParkedStreamRetried', data }, causedBy(request, runtime));
}
