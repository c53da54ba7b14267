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
    const { type: _, ...data } = command;
    if ('projection' in data) return [{ type: 'ProjectionRebuildRequested', data }];
    if ('reason' in data) return [{ type: 'ProjectionRebuildFailed', data }];
    return [{ type: 'ProjectionRebuilt', data }];
  },
};
