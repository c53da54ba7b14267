/** Read models that are lists: one row per stream, in the order in which the streams began, with its state as JSON. */
import type { RecordedEvent } from '../eventstore/event-store.ts';
import type { Projection } from './projection.ts';

/**
 * Makes the projection `name` of the streams that begin with `streamPrefix`; its one table is called like itself. The
 * state is that after the first event: `begin` reads it, and throws on what is no beginning.
 */
export function catalogue({
  name,
  streamPrefix,
  begin,
}: {
  name: string;
  streamPrefix: string;
  begin: (event: RecordedEvent) => unknown;
}): Projection {
  return {
    name,
    version: 1,
    streamPrefixes: [streamPrefix],

    async createTables(db) {
      // The state is json, not jsonb, which refuses U+0000 and half a surrogate pair.
      await db.raw(
        `create table ?? (
          id text primary key,
          created_position bigint not null unique,
          state json not null
        )`,
        [name],
      );
    },

    async project(events, db) {
      const rows = events.map((event) => ({
        id: event.streamName.slice(streamPrefix.length),
        created_position: event.position.commit.toString(),
        state: JSON.stringify(begin(event)),
      }));
      await db.raw(
        `insert into ?? select id, created_position, state::json
         from json_to_recordset(?) as added (id text, created_position bigint, state text)
         on conflict (id) do nothing`,
        [name, JSON.stringify(rows)],
      );
    },
  };
}
