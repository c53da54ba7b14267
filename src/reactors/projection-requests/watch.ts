/** Makes sure that what staff request for projections is done, even if a process crashes and leaves its request open. */
import { type EventStore, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import { readBatches } from '@ledger/projections/runtime/batches.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { projectionRequestFold, projectionRequestTypes } from '../../events/projection-requests.ts';
import { describeRebuildFailure, openRequest } from './perform.ts';

export type WatchDependencies = Pick<Stores<keyof EventStore>, 'eventStore' | 'log' | 'runtime'>;

type Watched = WatchDependencies & { projections: readonly string[] };

/** How often to check whether another process is done, or a store is back. */
const checkAgainMs = 1_000;
/** How long to wait for an event: a log restored from an older copy may hold an open request that no event announces. */
const lookAgainMs = 60_000;

/** Runs until stopped, and waits through outages. A rebuild under way at the stop is left to the next process. */
export function startRebuilds({
  onRebuilt,
  takeUp,
  ...watched
}: Watched & {
  /** Does the rebuild that is requested. */
  takeUp: (projection: string, signal: AbortSignal) => Promise<void>;
  /** A projection has new tables: one that was halted may be able to continue. */
  onRebuilt: (projection: string) => void;
}): Background {
  return watchRequests({
    ...watched,
    async takeUp(name, signal) {
      const isRequested = (await openRequest(watched.eventStore, name)) !== null;
      if (isRequested) await takeUp(name, signal);
      return isRequested;
    },
    onEvent(type, name) {
      if (type === 'ProjectionRebuilt') onRebuilt(name);
    },
  });
}

/** Runs until stopped, and waits through outages. What is under way at the stop is finished. */
export function watchRequests(
  watched: Watched & {
    /** Does what is requested; resolves to whether anything was. If so, or if it rejects, it is called again. */
    takeUp: (projection: string, signal: AbortSignal) => Promise<boolean>;
    onEvent?: (type: string, projection: string) => void;
  },
): Background {
  const { projections, eventStore, log, onEvent, runtime, takeUp } = watched;
  return runUntilStopped(async (signal) => {
    const untilStopped = { runtime, signal, firstMs: checkAgainMs, longestMs: checkAgainMs };
    /** Resolved when a projection's stream has a new event. */
    const changed = new Map(projections.map((name) => [name, Promise.withResolvers<void>()]));

    async function seeTo(name: string): Promise<void> {
      const check = async () => {
        const next = Promise.withResolvers<void>();
        changed.set(name, next);
        if (!(await takeUp(name, signal)))
          await Promise.race([next.promise, runtime.sleep(lookAgainMs, signal)]);
      };
      const warn = warnSeldom(log, runtime);
      const onFailure = (error: unknown) => {
        // Others log that the event store is away; then nobody knows whether anything was requested.
        if (!(error instanceof RebuildUnderWay || error instanceof EventStoreUnavailable))
          warn({ projection: name, reason: describeRebuildFailure(error) }, 'what staff requested waits');
      };
      // Rejects only once it is stopped.
      while (!signal.aborted) await retry(check, { ...untilStopped, onFailure }).catch(() => {});
    }

    let after = await retry(() => eventStore.head(), untilStopped).catch(() => null);
    // Checks the requests after reading the head, so that none is missed in between.
    const seeingTo = projections.map((name) => seeTo(name));
    const selection = { eventTypes: projectionRequestTypes };
    const follow = async () => {
      for await (const batch of readBatches({ eventStore, selection, after, runtime, signal })) {
        after = batch.position;
        for (const { streamName, type } of batch.events) {
          const name = streamName.slice(projectionRequestFold.prefix.length);
          changed.get(name)?.resolve();
          onEvent?.(type, name);
        }
      }
    };
    await retry(follow, untilStopped).catch(() => {});
    for (const { resolve } of changed.values()) resolve();
    await Promise.all(seeingTo);
  });
}
