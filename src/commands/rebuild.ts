/** Decisions about what staff asked of a projection. The events are in src/events/rebuild.ts. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { type RebuildEvent, type Rebuilds, rebuildFold } from '../events/rebuild.ts';
import type { Decider } from './decider.ts';
import { createExecute } from './execute.ts';

type RebuildCommand =
  | { type: 'RequestRebuild'; at: string; projection: string }
  | { type: 'CompleteRebuild'; at: string; events: number; durationMs: number }
  | { type: 'FailRebuild'; at: string; reason: string }
  | { type: 'RequestRetry'; at: string; stream: string }
  | { type: 'CompleteRetry'; at: string; stream: string; reason: string | null };

export const rebuildDecider: Decider<Rebuilds, RebuildCommand, RebuildEvent> = {
  ...rebuildFold,
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

export function createExecuteRebuild(eventStore: Pick<EventStore, 'append' | 'load'>) {
  return createExecute({ eventStore, decider: rebuildDecider });
}
