/** Rebuilds, and records in the projection's stream who asked for it and how it ended: commands/projection-requests.ts. */
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
import type { ProjectionRequestEvent } from '../../events/projection-requests.ts';

type RecordedRebuild = Omit<RebuildOptions, 'eventStore'> & {
  eventStore: EventStore;
  runtime: Pick<Runtime, 'now' | 'uuid'>;
};

/**
 * Does the rebuild that is requested; with `requestCause`, requests it first. Records how it ended before another rebuild
 * can begin. Throws what `rebuild` throws, and RebuildUnderWay, which leaves the request open, also if it was done
 * meanwhile.
 */
export async function rebuildOnRecord(
  options: RecordedRebuild & { requestCause?: () => Cause },
): Promise<Rebuilt> {
  const { requestCause, eventStore, projection, runtime } = options;
  const { name } = projection;
  const execute = createExecuteRequest(eventStore);
  const now = () => runtime.now().toISOString();
  let request: RecordedEvent | null = null;
  const end = async (event: ProjectionRequestEvent) => {
    if (request) await execute(name, event, causedBy(request, runtime, requestCause?.().actor));
  };
  try {
    return await rebuild({
      ...options,
      async onBegin() {
        const data = { at: now(), projection: name };
        if (requestCause) await execute(name, { type: 'ProjectionRebuildRequested', data }, requestCause());
        request = await openRequest(eventStore, name);
        if (!request) throw new RebuildUnderWay(`Another process has rebuilt ${name} meanwhile`);
        return request.id;
      },
      onSwapped: ({ durationMs, events }) =>
        end({ type: 'ProjectionRebuilt', data: { at: now(), events, durationMs } }),
    });
  } catch (error) {
    const data = { at: now(), reason: describeRebuildFailure(error) };
    if (!(error instanceof RebuildUnderWay)) await end({ type: 'ProjectionRebuildFailed', data });
    throw error;
  }
}

/** The same for the projections role: what goes wrong is in the log. Throws EventStoreUnavailable. */
export async function rebuildAsRequested(options: Omit<RecordedRebuild, 'onProgress'>): Promise<void> {
  try {
    await rebuildOnRecord({ ...options, onProgress: () => undefined });
  } catch (error) {
    if (error instanceof RebuildUnderWay) return;
    if (error instanceof EventStoreUnavailable) throw error;
    const about = { projection: options.projection.name, reason: describeRebuildFailure(error) };
    options.log.error(about, 'a rebuild failed; the old tables stay in use');
  }
}

/** The event of a request that has not ended, or null. */
export async function openRequest(eventStore: Pick<EventStore, 'load'>, name: string) {
  const { events, state } = await loadRequests(eventStore, name);
  if (state.requestedAt === null) return null;
  return events.findLast(({ type }) => type === 'ProjectionRebuildRequested') ?? null;
}

export function causedBy(
  request: RecordedEvent,
  runtime: Pick<Runtime, 'uuid'>,
  actor = 'reactor:rebuilds',
): Cause {
  return {
    commandId: runtime.uuid(),
    correlationId: metadataText(request, '$correlationId') ?? request.id,
    causationId: request.id,
    actor,
  };
}

/** Why a rebuild failed, without personal data. */
export function describeRebuildFailure(error: unknown): string {
  if (error instanceof RebuildRefused || error instanceof RebuildInterrupted) return error.message;
  if (error instanceof EventStoreUnavailable) return error.message;
  if (isConnectionFailure(error)) return 'PostgreSQL does not answer';
  if (isPostgresError(error, 'readOnly')) return 'PostgreSQL takes no writes at present';
  return describeFailure(error);
}
