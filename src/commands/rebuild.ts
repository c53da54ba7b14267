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
    switch (command.type) {
      case 'RequestRebuild': {
        const { at, projection } = command;
        return [{ type: 'ProjectionRebuildRequested', data: { at, projection } }];
      }
      case 'CompleteRebuild': {
        const { at, events, durationMs } = command;
        return [{ type: 'ProjectionRebuilt', data: { at, events, durationMs } }];
      }
      case 'FailRebuild': {
        const { at, reason } = command;
        return [{ type: 'ProjectionRebuildFailed', data: { at, reason } }];
      }
    }
  },
};
