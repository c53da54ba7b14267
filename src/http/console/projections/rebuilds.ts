/** The progress of rebuilds, for the page and for the browsers that watch it. */
import type { Position } from '@ledger/event-store/event-store.ts';
import { sharedAnswer } from '@ledger/kernel/shared-answer.ts';
import {
  createMeter,
  progressText,
  rebuildStatuses,
  shareDone,
} from '@ledger/projections/rebuild/progress.ts';
import type { ProjectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { loadRequests } from '../../../commands/projection-requests.ts';
import type { ProjectionRequests } from '../../../events/projection-requests.ts';
import type { Dependencies } from '../../server/dependencies.ts';

const freshForMs = 900;

/** The function returned rejects with EventStoreUnavailable, and when Postgres is down. */
export function createLookAtRebuilds(dependencies: Dependencies) {
  const { db, eventStore, projections, runtime } = dependencies;
  const names = projections.map(({ name }) => name);
  const meters = new Map<string, ReturnType<typeof createMeter>>();

  async function look() {
    const [found, head, ...requests] = await Promise.all([
      rebuildStatuses(db),
      eventStore.head(),
      ...names.map(async (name) => ({ name, ...(await loadRequests(eventStore, name)) })),
    ]);
    return requests.map(({ name, state }) => {
      const status = found.find((each) => each.name === name);
      if (!status) meters.delete(name);
      return viewOf(name, state, status, head);
    });
  }

  /** A waiting rebuild has no shadow tables yet; an interrupted one has them, but no open request. */
  function viewOf(
    name: string,
    { requestedAt, last }: ProjectionRequests,
    status: ProjectionStatus | undefined,
    head: Position | null,
  ) {
    const isRequested = requestedAt !== null;
    if (!status || !head)
      return { name, state: isRequested ? 'waiting' : 'none', percent: 0, text: '', last };
    const { events, position } = status;
    const meter = meters.get(name) ?? createMeter(runtime);
    meters.set(name, meter);
    /** Such as `1,284,000 events, 18,400/s, 1:12 left`. */
    const text = progressText({ events, position, head, eventsPerSecond: meter(events) });
    const percent = Math.floor(shareDone({ position, head }) * 100);
    return { name, state: isRequested ? 'running' : 'interrupted', percent, text, last };
  }

  return sharedAnswer(look, freshForMs, runtime);
}
