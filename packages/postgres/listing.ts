/** Lists that people sort and page through: by one of their columns, then by the ids of a row, so that none is missed. */
import type { Knex } from 'knex';

export type Listing = {
  /** By name, the first being the usual one: an SQL expression that is never null, and its type. */
  sorts: Readonly<Record<string, { sql: string; type: 'timestamptz' | 'bigint' | 'text' }>>;
  /** Columns that identify a row together. */
  ids: readonly string[];
};

/** `cursor` leads to the rows after this one. */
export type Listed<Row> = Row & { cursor: string };

export type ListPage = {
  limit: number;
  /** The last row of the page before. */
  after: { cursor: string } | null;
  /** A name of the listing, with `-` before it for the largest first; absent: the usual one, largest first. */
  sort?: string | null;
};

/** The rows of a query, sorted and limited to a page. Each has its `cursor`, as `isCursor` checks it. */
export function paged(
  db: Knex,
  query: Knex.QueryBuilder,
  { ids, sorts }: Listing,
  { after, limit, sort }: ListPage,
): Knex.QueryBuilder {
  const name = sort ?? `-${Object.keys(sorts)[0]}`;
  const by = sorts[name.replace('-', '')];
  if (!by) throw new Error(`The list is not sorted by ${name}`);
  const isDescending = name.startsWith('-');
  const columns = [by.sql, ...ids];
  if (after) {
    const row = `(?::${by.type}${', ?'.repeat(ids.length)})`;
    query.whereRaw(`(${columns.join(', ')}) ${isDescending ? '<' : '>'} ${row}`, JSON.parse(after.cursor));
  }
  const order = columns.map((column) => `${column} ${isDescending ? 'desc' : 'asc'}`).join(', ');
  const cursor = db.raw(`json_build_array(${columns.map((column) => `(${column})::text`).join(', ')})::text`);
  return query.orderByRaw(order).limit(limit).select({ cursor });
}

/** Whether the text can be the cursor of a row. */
export function isCursor(text: string, { ids }: Listing): boolean {
  try {
    const values: unknown = JSON.parse(text);
    const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0');
    return Array.isArray(values) && values.length === ids.length + 1 && values.every(isText);
  } catch {
    return false;
  }
}

export type Totals = { count: number; sumSen: bigint };

/** How many rows a query has, and the sum of a column; null if Postgres does not find out within three seconds. */
export async function totalsOf(db: Knex, query: Knex.QueryBuilder, column = '0'): Promise<Totals | null> {
  const columns = { count: db.raw('count(*)'), sum: db.raw(`coalesce(sum(${column}), 0)::text`) };
  try {
    const [found] = await query.select(columns).timeout(3_000, { cancel: true });
    return { count: found.count, sumSen: BigInt(found.sum) };
  } catch (error) {
    if (error instanceof Error && error.name === 'KnexTimeoutError') return null;
    throw error;
  }
}
