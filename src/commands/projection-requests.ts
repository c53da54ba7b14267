/** Decisions about what staff request of a projection. The events are in src/events/projection-requests.ts. */
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

type ProjectionRequestCommand =
  | { type: 'RequestRebuild'; at: string; projection: string }
  | { type: 'CompleteRebuild'; at: string; events: number; durationMs: number }
  | { type: 'FailRebuild'; at: string; reason: string }
  | { type: 'RequestRetry'; at: string; stream: string }
  | { type: 'CompleteRetry'; at: string; stream: string; reason: string | null };

const decider: Decider<ProjectionRequests, ProjectionRequestCommand, ProjectionRequestEvent> = {
  ...projectionRequestFold,
  /** A request that is open already changes nothing, and neither does the end of what is not under way. */
  decide(command, { requestedAt, retries }) {
    const isUnderWay = 'stream' in command ? retries.includes(command.stream) : requestedAt !== null;
    const isRequest = command.type === 'RequestRebuild' || command.type === 'RequestRetry';
    if (isRequest === isUnderWay) return [];
    const { at } = command;
    switch (command.type) {
      case 'RequestRebuild':
        return [{ type: 'ProjectionRebuildRequested', data: { at, projection: command.projection } }];
      case 'CompleteRebuild': {
        const { durationMs, events } = command;
        return [{ type: 'ProjectionRebuilt', data: { at, events, durationMs } }];
      }
      case 'FailRebuild':
        return [{ type: 'ProjectionRebuildFailed', data: { at, reason: command.reason } }];
      case 'RequestRetry':
        return [{ type: 'ParkedStreamRetryRequested', data: { at, stream: command.stream } }];
      case 'CompleteRetry': {
        const { reason, stream } = command;
        return [{ type: 'ParkedStreamRetried', data: { at, stream, reason } }];
      }
    }
  },
};

/** The function returned executes a command about the projection of this name. */
export function createExecuteRequest(eventStore: Pick<EventStore, 'append' | 'load'>) {
  const execute = createExecute({ eventStore, decider });
  return (projection: string, command: ProjectionRequestCommand, cause: Cause) =>
    execute(projectionStream(projection), command, cause);
}

/** What is requested of the projection of this name, and the events that say so. */
export async function loadRequests(eventStore: Pick<EventStore, 'load'>, projection: string) {
  const events = await eventStore.load(projectionStream(projection));
  return { events, state: headOf(events, decider).state };
}
