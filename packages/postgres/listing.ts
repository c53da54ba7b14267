/** Lists that people sort and page through: by one of their columns, then by the ids of a row, so that none is missed. */
import { orElse } from '@ledger/kernel/or-else.ts';
import type { Knex } from 'knex';
import { unlessUndefined } from './error-codes.ts';

export type Listing = {
  /** SQL by the names of fields. */
  columns: Readonly<Record<string, string>>;
  /** SQL that is never null, by names; the first is the usual order. */
  sorts: Readonly<Record<string, string>>;
  /** Columns that identify a row together. */
  ids: readonly string[];
  /** What is added up. */
  sum: string;
  /** The column that says whose a row is; null in rows that are nobody's alone. */
  owner: string;
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

/** A page of a query's rows. None where the table has not been made yet; rejects when Postgres does not answer. */
export async function readPage<Row>(
  db: Knex,
  query: Knex.QueryBuilder,
  { columns, ids, sorts }: Listing,
  { after, limit, sort }: ListPage,
): Promise<Listed<Row>[]> {
  const name = sort ?? `-${Object.keys(sorts)[0]}`;
  const isDescending = name.startsWith('-');
  const key = [sorts[name.replace('-', '')] ?? 'no such order', ...ids];
  if (after) {
    const last: string[] = JSON.parse(after.cursor);
    const values = last.map(() => '?').join(', ');
    query.whereRaw(`(${key.join(', ')}) ${isDescending ? '<' : '>'} (${values})`, last);
  }
  for (const [field, sql] of Object.entries(columns)) query.select({ [field]: db.raw(sql) });
  const cursor = db.raw(`json_build_array(${key.map((column) => `(${column})::text`).join(', ')})::text`);
  const order = key.map((column) => `${column} ${isDescending ? 'desc' : 'asc'}`).join(', ');
  return await unlessUndefined(query.select({ cursor }).orderByRaw(order).limit(limit).timeout(10_000), []);
}

/** Whether the text can be the cursor of a row. */
export function isCursor(text: string, { ids }: Listing): boolean {
  const values: unknown = orElse(() => JSON.parse(text), null);
  const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0');
  return Array.isArray(values) && values.length === ids.length + 1 && values.every(isText);
}

export type Totals = { count: number; sumSen: bigint };

/** How many rows a query has, and their sum; null if Postgres does not find out within three seconds. */
export async function totalsOf(db: Knex, query: Knex.QueryBuilder, { sum }: Listing): Promise<Totals | null> {
  const columns = { count: db.raw('count(*)'), sum: db.raw(`coalesce(sum(${sum}), 0)::text`) };
  try {
    const counted = query.select(columns).timeout(3_000, { cancel: true });
    const [found] = await unlessUndefined(counted, [{ count: 0, sum: '0' }]);
    return { count: found.count, sumSen: BigInt(found.sum) };
  } catch (error) {
    if (error instanceof Error && error.name === 'KnexTimeoutError') return null;
    throw error;
  }
}
