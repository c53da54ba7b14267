/** Decisions about a projection's rebuilds. The events are in src/events/rebuild.ts. */
import { type RebuildEvent, type Rebuilds, rebuildFold } from '../events/rebuild.ts';
import type { Decider } from './decider.ts';

type RebuildCommand =
  | { type: 'RequestRebuild'; at: string; projection: string }
  | { type: 'CompleteRebuild'; at: string; events: number; durationMs: number }
  | { type: 'FailRebuild'; at: string; reason: string };

export const rebuildDecider: Decider<Rebuilds, RebuildCommand, RebuildEvent> = {
  ...rebuildFold,
  /** A request during a rebuild changes nothing, and neither does the end of a rebuild that is not under way. */
  decide(command, { requestedAt }) {
    const isUnderWay = requestedAt !== null;
    if ((command.type === 'RequestRebuild') === isUnderWay) return [];
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
    }
  },
};
