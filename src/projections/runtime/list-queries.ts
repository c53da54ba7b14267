/** What is asked of the lists of catalogue.ts. */
import type { Knex } from 'knex';

export type ListQueries<Entry> = {
  /**
   * At most `limit` entries in the order of their creation, those after the entry `after` or from the first on.
   * Null when there is no entry `after`. Rejects within a few seconds when Postgres is down.
   */
  list(page: { limit: number; after: string | null }): Promise<Entry[] | null>;
  /** Whether the list holds the entry (yet). Rejects likewise. */
  has(id: string): Promise<boolean>;
};

/** `name` is that of the projection. */
export function createListQueries<Entry>(db: Knex, name: string): ListQueries<Entry> {
  const rows = () => db.withSchema(name).from<{ id: string }>(name);
  const has = async (id: string) => (await rows().where({ id }).first('id').timeout(2_000)) !== undefined;

  return {
    has,
    async list({ limit, after }) {
      if (after !== null && !(await has(after))) return null;
      const page = rows().orderBy('created_position').limit(limit);
      if (after !== null)
        page.where('created_position', '>', rows().select('created_position').where({ id: after }));
      return (await page.pluck('state').timeout(2_000)) as Entry[];
    },
  };
}
