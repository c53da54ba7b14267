/**
 * What staff request of a projection, and the result: to rebuild its tables, or to try a parked stream again.
 * Decisions: src/commands/projection-requests.ts.
 */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { integer, min, nullable, object, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

const count = min(integer(), 0);

export const projectionRequestEvents = {
  /** The actor is the member of staff who asked. */
  ProjectionRebuildRequested: object({ at: utc, projection: string() }),
  /** The new tables, made from this many events, are now in use. */
  ProjectionRebuilt: object({ at: utc, events: count, durationMs: count }),
  /** The previous tables stay in use. The reason holds no personal data. */
  ProjectionRebuildFailed: object({ at: utc, reason: string() }),
  /** The actor is the member of staff who asked. */
  ParkedStreamRetryRequested: object({ at: utc, stream: string() }),
  /** Why the stream is still parked, without personal data; null if it is not. */
  ParkedStreamRetried: object({ at: utc, stream: string(), reason: nullable(string()) }),
};

export const projectionRequestTypes = Object.keys(projectionRequestEvents);

export type ProjectionRequestEvent = EventOf<typeof projectionRequestEvents>;

export type ProjectionRequests = {
  /** When the rebuild was requested that has not ended; null if there is none. */
  requestedAt: string | null;
  last:
    | { outcome: 'rebuilt'; at: string; events: number; durationMs: number }
    | { outcome: 'failed'; at: string; reason: string }
    | null;
  /** The streams that are to be tried again. */
  retries: readonly string[];
};

export const projectionRequestFold: Fold<ProjectionRequests, ProjectionRequestEvent> = {
  prefix: 'projection-',
  initial: { requestedAt: null, last: null, retries: [] },
  read: readerOf(projectionRequestEvents),
  evolve(state, { type, data }) {
    switch (type) {
      case 'ProjectionRebuildRequested':
        return { ...state, requestedAt: data.at };
      case 'ProjectionRebuilt':
        return { ...state, requestedAt: null, last: { outcome: 'rebuilt', ...data } };
      case 'ProjectionRebuildFailed':
        return { ...state, requestedAt: null, last: { outcome: 'failed', ...data } };
      case 'ParkedStreamRetryRequested':
        return { ...state, retries: [...state.retries, data.stream] };
      case 'ParkedStreamRetried':
        return { ...state, retries: state.retries.filter((stream) => stream !== data.stream) };
    }
  },
};
export const projectionStream = (name: string) => `${projectionRequestFold.prefix}${name}`;
