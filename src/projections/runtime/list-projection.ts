/** Read models that are lists: one row per stream, in the order in which the streams were created. */
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import type { Projection } from './projection.ts';
import { streamProjection } from './stream-projection.ts';

/** The queries of such a list are in list-queries.ts. */
export function listProjection<State>(options: {
  name: string;
  version: number;
  streamPrefix: string;
  evolve(state: State | null, event: RecordedEvent): State | null;
}): Projection {
  return streamProjection({
    ...options,
    columns: { created_position: 'bigint not null unique' },
    constantColumns: ['created_position'],
    // 64 bits wide: it travels as text.
    columnsOf: ({ first }) => ({ created_position: first.position.commit.toString() }),
  });
}
