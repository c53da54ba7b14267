/** A rebuild, and what the projection's stream says of it. What may happen is decided in src/commands/rebuild.ts. */
import { randomUUID } from 'node:crypto';
import { createExecute } from '../../commands/execute.ts';
import { rebuildDecider } from '../../commands/rebuild.ts';
import { readRebuildEvent } from '../../events/codec.ts';
import type { Cause, Metadata } from '../../events/envelope.ts';
import { evolveRebuilds, noRebuilds, projectionStream } from '../../events/rebuild.ts';
import { type EventStore, EventStoreUnavailable } from '../../eventstore/event-store.ts';
import {
  RebuildInterrupted,
  type RebuildOptions,
  RebuildRefused,
  RebuildUnderWay,
  type Rebuilt,
  rebuild,
} from '../../projections/rebuild/rebuild.ts';
import { describeFailure, ProjectionHalted } from '../../projections/runtime/failures.ts';

/**
 * Does the rebuild that staff asked for, if a request is open, and records what came of it. Throws RebuildUnderWay and
 * RebuildInterrupted, which leave the request open, and EventStoreUnavailable.
 */
export async function rebuildAsRequested(
  options: Omit<RebuildOptions, 'eventStore' | 'onProgress'> & { eventStore: EventStore },
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
    // Another process was quicker.
    if (!(await openRequest(eventStore, name))) return;
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
export async function openRequest(eventStore: Pick<EventStore, 'load'>, name: string) {
  const events = await eventStore.load(projectionStream(name));
  const { requestedAt } = events.map(readRebuildEvent).reduce(evolveRebuilds, noRebuilds);
  return requestedAt === null ? null : (events.at(-1) ?? null);
}

/** The commands of src/commands/rebuild.ts, on the stream of a projection. */
export function createExecuteRebuild(eventStore: Pick<EventStore, 'append' | 'load'>) {
  return createExecute({ eventStore, decider: rebuildDecider });
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
  if (error instanceof ProjectionHalted) {
    const { message, event } = error.fault;
    return event ? `${message} (${event.type}, revision ${event.revision} of ${event.stream})` : message;
  }
  if (error instanceof RebuildRefused || error instanceof RebuildInterrupted) return error.message;
  if (error instanceof EventStoreUnavailable) return error.message;
  return describeFailure(error);
}
