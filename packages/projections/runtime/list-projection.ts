/** Read models that are lists: one row per stream, in the order in which the streams were created; and their queries. */
import type { Knex } from 'knex';
import type { Projection } from './projection.ts';
import { type StreamOptions, streamProjection } from './stream-projection.ts';

export function listProjection<State, Event>(
  options: Pick<StreamOptions<State, Event, never>, 'name' | 'version' | 'fold'>,
): Projection {
  return streamProjection({
    ...options,
    table: { columns: { created_position: 'bigint not null unique', updated_at: 'timestamptz not null' } },
    constantColumns: ['created_position'],
    // 64 bits wide: it travels as text.
    columnsOf: ({ first, last }) => ({
      created_position: first.position.commit.toString(),
      updated_at: last.created,
    }),
  });
}

type FoundEntry<Entry> = { revision: number; state: Entry; updatedAt: Date };

/** Every query rejects within a few seconds when Postgres is down. */
export function createListQueries<Entry>(db: Knex, projectionName: string) {
  const rows = () =>
    db<{ id: string; revision: number; state: Entry }>(`${projectionName}.${projectionName}`);
  const has = async (id: string) => (await rows().where({ id }).first('id').timeout(2_000)) !== undefined;

  return {
    has,

    /**
     * An entry as far as it has been projected, null when there is no row (yet). `updatedAt` is the time of its last event,
     * by the event store's clock.
     */
    async find(id: string): Promise<FoundEntry<Entry> | null> {
      const query = rows().where({ id }).first('revision', 'state', { updatedAt: 'updated_at' });
      return ((await query.timeout(2_000)) as FoundEntry<Entry> | undefined) ?? null;
    },

    /**
     * At most `limit` entries in order of creation, starting after the entry `after` or with the first. Null when there
     * is no entry `after`.
     */
    async list({ limit, after }: { limit: number; after: string | null }): Promise<Entry[] | null> {
      if (after !== null && !(await has(after))) return null;
      const page = rows().orderBy('created_position').limit(limit);
      if (after !== null)
        page.where('created_position', '>', rows().select('created_position').where({ id: after }));
      return (await page.pluck('state').timeout(2_000)) as Entry[];
    },
  };
}

export type ListQueries<Entry> = ReturnType<typeof createListQueries<Entry>>;
