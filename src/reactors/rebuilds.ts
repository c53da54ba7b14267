/**
 * Takes up the rebuilds that staff ask for: an open request is one that somebody must see to, also after whoever was at
 * it has crashed. What came of it is recorded in the projection's stream.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { createExecute } from '../commands/execute.ts';
import { rebuildDecider } from '../commands/rebuild.ts';
import type { Cause, Metadata } from '../events/envelope.ts';
import { evolveRebuilds, noRebuilds, projectionStream, projectionStreamPrefix } from '../events/rebuild.ts';
import { readRebuildEvent } from '../events/recorded.ts';
import { type EventStore, EventStoreUnavailable, type Position } from '../eventstore/event-store.ts';
import { describeFailure, StandStill } from '../projections/failures.ts';
import type { Projection } from '../projections/projection.ts';
import {
  RebuildInterrupted,
  type RebuildOptions,
  RebuildRefused,
  RebuildUnderWay,
  type Rebuilt,
  rebuild,
} from '../projections/rebuild.ts';

type Dependencies = {
  projections: readonly Projection[];
  eventStore: EventStore;
  db: Knex;
  databaseUrl: string;
  log: Logger;
  /** A projection has new tables: one that stood still may be able to go on. */
  onRebuilt: (name: string) => void;
};

/** How often it is looked whether another process is done, or a store is back. */
const lookAgainMs = 1_000;

/** Runs until stopped; a rebuild that is under way then is taken up by the next who starts. Outages are waited out. */
export function startRebuilds(dependencies: Dependencies): { stop(): Promise<void> } {
  const { projections, eventStore, log, onRebuilt } = dependencies;
  const stopping = new AbortController();
  const { signal } = stopping;
  const told = new Map(projections.map(({ name }) => [name, Promise.withResolvers<void>()]));

  async function watch(): Promise<void> {
    const after = await headOf(eventStore, signal);
    // Read after that, so that no request falls between.
    const seeingTo = projections.map((projection) => seeTo(projection));
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

  async function seeTo(projection: Projection): Promise<void> {
    const { name } = projection;
    while (!signal.aborted) {
      const next = Promise.withResolvers<void>();
      told.set(name, next);
      try {
        if (await openRequest(eventStore, name)) await takeUp({ ...dependencies, projection, signal });
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

async function takeUp(
  options: Omit<Dependencies, 'onRebuilt' | 'projections'> & { projection: Projection; signal: AbortSignal },
): Promise<void> {
  const { eventStore, projection, log } = options;
  const { name } = projection;
  const request = await openRequest(eventStore, name);
  if (!request) return;
  const cause = {
    commandId: randomUUID(),
    correlationId: (request.metadata as Metadata).$correlationId,
    causationId: request.id,
    actor: 'reactor:rebuilds',
  };
  try {
    const { events, durationMs } = await rebuildOnRecord({
      ...options,
      cause,
      onProgress: () => undefined,
      async onBegin() {
        log.info({ projection: name }, 'rebuilding');
        if (!(await openRequest(eventStore, name))) throw new RebuildRefused('It was done meanwhile');
      },
    });
    log.info({ projection: name, events, durationMs }, 'rebuilt');
  } catch (error) {
    if (error instanceof RebuildUnderWay || error instanceof RebuildInterrupted) throw error;
    const reason = reasonOf(error);
    await createExecuteRebuild(eventStore)(
      projectionStream(name),
      { type: 'FailRebuild', at: new Date().toISOString(), reason },
      { ...cause, commandId: randomUUID() },
    );
    log.error({ projection: name, reason }, 'a rebuild failed; the tables that were there serve on');
  }
}

/** The event of a request that has not ended, or null. */
async function openRequest(eventStore: Pick<EventStore, 'load'>, name: string) {
  const events = await eventStore.load(projectionStream(name));
  const { requestedAt } = events.map(readRebuildEvent).reduce(evolveRebuilds, noRebuilds);
  return requestedAt === null ? null : (events.at(-1) ?? null);
}

/** The commands of src/commands/rebuild.ts, on the stream of a projection. */
export function createExecuteRebuild(eventStore: Pick<EventStore, 'append' | 'load'>) {
  return createExecute({ eventStore, decider: rebuildDecider, read: readRebuildEvent });
}

/** Rebuilds, and records its success while no other rebuild can begin. Throws what `rebuild` throws. */
export async function rebuildOnRecord({
  cause,
  ...options
}: Omit<RebuildOptions, 'eventStore'> & {
  eventStore: EventStore;
  cause: Cause;
  onBegin: () => Promise<void>;
}): Promise<Rebuilt> {
  const execute = createExecuteRebuild(options.eventStore);
  return await rebuild({
    ...options,
    async onSwapped(rebuilt) {
      const at = new Date().toISOString();
      await execute(
        projectionStream(options.projection.name),
        { type: 'CompleteRebuild', at, ...rebuilt },
        cause,
      );
    },
  });
}

/** Why it failed, without personal data. */
export function reasonOf(error: unknown): string {
  if (error instanceof StandStill) {
    const { message, event } = error.fault;
    return event ? `${message} (${event.type}, revision ${event.revision} of ${event.stream})` : message;
  }
  if (error instanceof RebuildRefused || error instanceof EventStoreUnavailable) return error.message;
  return describeFailure(error);
}

async function rest(signal: AbortSignal): Promise<void> {
  await sleep(lookAgainMs, undefined, { signal }).catch(() => {});
}
