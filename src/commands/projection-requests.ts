/** Records what staff request of a projection, and the result. The events are in src/events/projection-requests.ts. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Cause } from '../events/envelope.ts';
import {
  type ProjectionRequestEvent,
  type ProjectionRequests,
  projectionRequestFold,
  projectionStream,
} from '../events/projection-requests.ts';
import type { Decider } from './decider.ts';
import { createExecute, headOf } from './execute.ts';

/** A command is the event that it adds. */
const decider: Decider<ProjectionRequests, ProjectionRequestEvent, ProjectionRequestEvent> = {
  ...projectionRequestFold,
  /** A request that is open already changes nothing, and neither does the end of what is not under way. */
  decide(event, { requestedAt, retries }) {
    const isUnderWay = 'stream' in event.data ? retries.includes(event.data.stream) : requestedAt !== null;
    const isRequest =
      event.type === 'ProjectionRebuildRequested' || event.type === 'ParkedStreamRetryRequested';
    return isRequest === isUnderWay ? [] : [event];
  },
};

/** The function returned adds an event about the projection of this name, if it changes anything. */
export function createExecuteRequest(eventStore: Pick<EventStore, 'append' | 'load'>) {
  const execute = createExecute({ eventStore, decider });
  return (projection: string, event: ProjectionRequestEvent, cause: Cause) =>
    execute(projectionStream(projection), event, cause);
}

/** What is requested of the projection of this name, and the events that say so. */
export async function loadRequests(eventStore: Pick<EventStore, 'load'>, projection: string) {
  const events = await eventStore.load(projectionStream(projection));
  return { events, state: headOf(events, decider).state };
}
