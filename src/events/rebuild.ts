/** The rebuilds of a projection's tables that staff asked for. Decisions: src/commands/rebuild.ts. */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { integer, min, object, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

const count = min(integer(), 0);

export const rebuildEvents = {
  /** The actor is the member of staff who asked. */
  ProjectionRebuildRequested: object({ at: utc, projection: string() }),
  /** The new tables, made from this many events, now serve. */
  ProjectionRebuilt: object({ at: utc, events: count, durationMs: count }),
  /** The previous tables stay in use. The reason holds no personal data. */
  ProjectionRebuildFailed: object({ at: utc, reason: string() }),
};

export type RebuildEvent = EventOf<typeof rebuildEvents>;

export type Rebuilds = {
  /** When the rebuild was requested that has not ended; null if there is none. */
  requestedAt: string | null;
  last:
    | { outcome: 'rebuilt'; at: string; events: number; durationMs: number }
    | { outcome: 'failed'; at: string; reason: string }
    | null;
};

export const rebuildFold: Fold<Rebuilds, RebuildEvent> = {
  prefix: 'projection-',
  initial: { requestedAt: null, last: null },
  read: readerOf(rebuildEvents),
  evolve(state, { type, data }) {
    if (type === 'ProjectionRebuildRequested') return { ...state, requestedAt: data.at };
    if (type === 'ProjectionRebuilt') return { requestedAt: null, last: { outcome: 'rebuilt', ...data } };
    return { requestedAt: null, last: { outcome: 'failed', ...data } };
  },
};
export const projectionStream = (name: string) => `${rebuildFold.prefix}${name}`;
