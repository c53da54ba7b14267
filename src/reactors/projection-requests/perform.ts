/** Performs a rebuild, and records in the projection's stream how it ended: commands/projection-requests.ts. */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { isConnectionFailure, isPostgresError } from '@ledger/postgres/error-codes.ts';
import {
  RebuildInterrupted,
  type RebuildOptions,
  RebuildRefused,
  RebuildUnderWay,
  type Rebuilt,
  rebuild,
} from '@ledger/projections/rebuild/rebuild.ts';
import { describeFailure } from '@ledger/projections/runtime/failures.ts';
import { createExecuteRequest, loadRequests } from '../../commands/projection-requests.ts';
import { type Cause, metadataText } from '../../events/envelope.ts';

type RecordedRebuild = Omit<RebuildOptions, 'eventStore'> & {
  eventStore: EventStore;
  runtime: Pick<Runtime, 'now' | 'uuid'>;
};

/**
 * Does the rebuild that staff requested, if a request is open, and records how it ended. Throws RebuildUnderWay and
 * RebuildInterrupted, which leave the request open, and EventStoreUnavailable.
 */
export async function rebuildAsRequested(options: Omit<RecordedRebuild, 'onProgress'>): Promise<void> {
  const { eventStore, projection, log, runtime } = options;
  const { name } = projection;
  const request = await openRequest(eventStore, name);
  if (!request) return;
  const cause = causedBy(request, runtime);
  try {
    const { events, durationMs } = await rebuildOnRecord({
      ...options,
      cause,
      onProgress: () => undefined,
      async onBegin() {
        const requestId = await openRequestId(eventStore, name);
        log.info({ projection: name }, 'rebuilding');
        return requestId;
      },
    });
    log.info({ projection: name, events, durationMs }, 'rebuilt');
  } catch (error) {
    if (error instanceof RebuildUnderWay || error instanceof RebuildInterrupted) throw error;
    // Another process did it first.
    if (!(await openRequest(eventStore, name))) return;
    const reason = describeRebuildFailure(error);
    const data = { at: runtime.now().toISOString(), reason };
    const failed = { type: 'ProjectionRebuildFailed', data } as const;
    await createExecuteRequest(eventStore)(name, failed, { ...cause, commandId: runtime.uuid() });
    log.error({ projection: name, reason }, 'a rebuild failed; the old tables stay in use');
  }
}

/** The event of a request that has not ended, or null. */
export async function openRequest(eventStore: Pick<EventStore, 'load'>, name: string) {
  const { events, state } = await loadRequests(eventStore, name);
  if (state.requestedAt === null) return null;
  return events.findLast(({ type }) => type === 'ProjectionRebuildRequested') ?? null;
}

/** The id of that request. Throws RebuildRefused if there is none any more. */
export async function openRequestId(eventStore: Pick<EventStore, 'load'>, name: string): Promise<string> {
  const open = await openRequest(eventStore, name);
  if (!open) throw new RebuildRefused('It was done meanwhile');
  return open.id;
}

export function causedBy(request: RecordedEvent, runtime: Pick<Runtime, 'uuid'>): Cause {
  return {
    commandId: runtime.uuid(),
    correlationId: metadataText(request, '$correlationId') ?? request.id,
    causationId: request.id,
    actor: 'reactor:rebuilds',
  };
}

/** Rebuilds, and records the success before another rebuild can begin. Throws what `rebuild` throws. */
export async function rebuildOnRecord({
  cause,
  ...options
}: RecordedRebuild & { cause: Cause; onBegin: () => Promise<string> }): Promise<Rebuilt> {
  const { eventStore, projection, runtime } = options;
  return await rebuild({
    ...options,
    async onSwapped({ durationMs, events }) {
      const data = { at: runtime.now().toISOString(), events, durationMs };
      await createExecuteRequest(eventStore)(projection.name, { type: 'ProjectionRebuilt', data }, cause);
    },
  });
}

/** Why a rebuild failed, without personal data. */
export function describeRebuildFailure(error: unknown): string {
  if (error instanceof RebuildRefused || error instanceof RebuildInterrupted) return error.message;
  if (error instanceof EventStoreUnavailable) return error.message;
  if (isConnectionFailure(error)) return 'PostgreSQL does not answer';
  if (isPostgresError(error, 'readOnly')) return 'PostgreSQL takes no writes at present';
  return describeFailure(error);
}
