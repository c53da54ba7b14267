/** Makes sure that requested rebuilds are done, even if a process crashes and leaves its request open. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import type { Logger } from 'pino';
import { rebuildFold } from '../../events/rebuild.ts';
import { describeRebuildFailure, openRequest } from './perform.ts';

type Dependencies = {
  projections: readonly string[];
  eventStore: EventStore;
  log: Logger;
  runtime: Runtime;
  /** Does the requested rebuild. Whether it resolves or rejects, the request is then checked again. */
  takeUp: (projection: string, signal: AbortSignal) => Promise<void>;
  /** A projection has new tables: one that was halted may be able to continue. */
  onRebuilt: (projection: string) => void;
};

/** How often to check whether another process is done, or a store is back. */
const checkAgainMs = 1_000;

/** Runs until stopped, and waits through outages. A rebuild under way at the stop is left to the next process. */
export function startRebuilds(dependencies: Dependencies): Background {
  return runUntilStopped((signal) => watchRequests(dependencies, signal));
}

async function watchRequests(
  { projections, eventStore, log, runtime, takeUp, onRebuilt }: Dependencies,
  signal: AbortSignal,
): Promise<void> {
  const untilStopped = { runtime, signal, firstMs: checkAgainMs, longestMs: checkAgainMs };
  /** Resolved when a projection's stream has a new event. */
  const changed = new Map(projections.map((name) => [name, Promise.withResolvers<void>()]));

  async function seeTo(name: string): Promise<void> {
    const check = async () => {
      const next = Promise.withResolvers<void>();
      changed.set(name, next);
      if (await openRequest(eventStore, name)) await takeUp(name, signal);
      else await next.promise;
    };
    const onFailure = (error: unknown) => {
      if (!(error instanceof RebuildUnderWay))
        log.warn({ projection: name, reason: describeRebuildFailure(error) }, 'a requested rebuild waits');
    };
    // Rejects only once it is stopped.
    while (!signal.aborted) await retry(check, { ...untilStopped, onFailure }).catch(() => {});
  }

  const after = await retry(() => eventStore.head(), untilStopped).catch(() => null);
  // Checks the requests after reading the head, so that none is missed in between.
  const seeingTo = projections.map((name) => seeTo(name));
  const streams = { streamPrefixes: [rebuildFold.prefix], after, signal };
  for await (const message of signal.aborted ? [] : eventStore.subscribe(streams)) {
    if (message.kind !== 'event') continue;
    const name = message.event.streamName.slice(rebuildFold.prefix.length);
    changed.get(name)?.resolve();
    if (message.event.type === 'ProjectionRebuilt') onRebuilt(name);
  }
  for (const { resolve } of changed.values()) resolve();
  await Promise.all(seeingTo);
}
