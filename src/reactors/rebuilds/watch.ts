/**
 * Sees to the rebuilds that staff ask for: an open request is one that somebody must see to, also after whoever was at
 * it has crashed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { projectionStreamPrefix } from '../../events/rebuild.ts';
import type { EventStore, Position } from '../../eventstore/event-store.ts';
import { RebuildUnderWay } from '../../projections/rebuild/rebuild.ts';
import { openRequest, reasonOf } from './perform.ts';

type Dependencies = {
  /** The names of the projections. */
  projections: readonly string[];
  eventStore: EventStore;
  log: Logger;
  /** Does the rebuild that was asked for. Once it resolves or throws, it is looked again whether the request is open. */
  takeUp: (projection: string, signal: AbortSignal) => Promise<void>;
  /** A projection has new tables: one that stood still may be able to go on. */
  onRebuilt: (projection: string) => void;
};

/** How often it is looked whether another process is done, or a store is back. */
const lookAgainMs = 1_000;

/** Runs until stopped; a rebuild that is under way then is taken up by the next who starts. Outages are waited out. */
export function startRebuilds({ projections, eventStore, log, takeUp, onRebuilt }: Dependencies): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  const { signal } = stopping;
  const told = new Map(projections.map((name) => [name, Promise.withResolvers<void>()]));

  async function watch(): Promise<void> {
    const after = await headOf(eventStore, signal);
    // Read after that, so that no request falls between.
    const seeingTo = projections.map((name) => seeTo(name));
    const streams = { streamPrefixes: [projectionStreamPrefix], after, signal };
    for await (const message of signal.aborted ? [] : eventStore.subscribe(streams)) {
      if (message.kind !== 'event') continue;
      const name = message.event.streamName.slice(projectionStreamPrefix.length);
      told.get(name)?.resolve();
      if (message.event.type === 'ProjectionRebuilt') onRebuilt(name);
    }
    for (const { resolve } of told.values()) resolve();
    await Promise.all(seeingTo);
  }

  async function seeTo(name: string): Promise<void> {
    while (!signal.aborted) {
      const next = Promise.withResolvers<void>();
      told.set(name, next);
      try {
        if (await openRequest(eventStore, name)) await takeUp(name, signal);
        else await next.promise;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof RebuildUnderWay))
          log.warn({ projection: name, reason: reasonOf(error) }, 'a rebuild that was asked for waits');
        await rest(signal);
      }
    }
  }

  const watching = watch();
  return {
    stop() {
      stopping.abort();
      return watching;
    },
  };
}

async function headOf(eventStore: EventStore, signal: AbortSignal): Promise<Position | null> {
  while (!signal.aborted) {
    try {
      return await eventStore.head();
    } catch {
      await rest(signal);
    }
  }
  return null;
}

async function rest(signal: AbortSignal): Promise<void> {
  await sleep(lookAgainMs, undefined, { signal }).catch(() => {});
}
