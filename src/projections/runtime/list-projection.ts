/** Read models that are lists: one row per stream, in the order in which the streams began, with its state as JSON. */
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { type Projection, ProjectionFault } from './projection.ts';

/**
 * Makes the projection `name` of the streams that begin with `streamPrefix`; its one table is called like itself.
 * `evolve` folds an event as it was recorded into the state, null before the first, and throws on what it cannot read.
 */
export function listProjection<State extends { id: string }>({
  name,
  version,
  streamPrefix,
  evolve,
}: {
  name: string;
  version: number;
  streamPrefix: string;
  evolve: (state: State | null, event: RecordedEvent) => State | null;
}): Projection {
  return {
    name,
    version,
    streamPrefixes: [streamPrefix],

    async createTables(db) {
      // The state is json, not jsonb, which refuses U+0000 and half a surrogate pair.
      await db.raw(
        `create table ?? (
          id text primary key,
          revision integer not null,
          created_position bigint not null unique,
          state json not null
        )`,
        [name],
      );
    },

    async project(events, db) {
      const idOf = ({ streamName }: RecordedEvent) => streamName.slice(streamPrefix.length);
      const { rows: stored } = await db.raw<{ rows: Row<State>[] }>(
        'select id, revision, created_position::text, state from ?? where id = any(?)',
        [name, [...new Set(events.map(idOf))]],
      );
      const rows = new Map(stored.map((row) => [row.id, row]));
      for (const event of events) {
        const id = idOf(event);
        const row = rows.get(id) ?? null;
        if (row && event.revision <= row.revision) continue;
        const state = evolve(row?.state ?? null, event);
        if (!state) throw new ProjectionFault('The stream does not begin with a beginning');
        const created_position = row?.created_position ?? event.position.commit.toString();
        rows.set(id, { id, revision: event.revision, created_position, state });
      }
      const written = Array.from(rows.values(), (row) => ({ ...row, state: JSON.stringify(row.state) }));
      await db.raw(
        `insert into ?? select id, revision, created_position, state::json
         from json_to_recordset(?) as changed (id text, revision integer, created_position bigint, state text)
         on conflict (id) do update set revision = excluded.revision, state = excluded.state`,
        [name, JSON.stringify(written)],
      );
    },
  };
}

/** The position is 64 bits wide: it travels as text. */
type Row<State> = { id: string; revision: number; created_position: string; state: State };
