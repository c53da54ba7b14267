/**
 * Tables whose columns are declared once, and whose rows are written many at a time: all in one parameter, as JSON, so
 * that a statement costs the same however many rows it writes. Also what queries share: names, texts, spans of time.
 */
import type { Knex } from 'knex';
import { prepared } from './prepared.ts';

export type Table<Column extends string = string> = {
  name: string;
  /** Each with its type and constraints, as in `create table`. */
  columns: Readonly<Record<Column, string>>;
  /** Further columns, which no row has when it is inserted. */
  moreColumns?: Readonly<Record<string, string>>;
  primaryKey: readonly string[];
  /** The indexes that queries need and writing does not, as `<name> on <table> …`. */
  indexes?: readonly string[];
};

export type Row<Column extends string> = Readonly<Record<Column, unknown>>;

/**
 * A text from outside in a form that a column can hold and index: at most 200 characters, with U+FFFD for what a text of
 * Postgres cannot contain. Only columns are changed like this; the state keeps the original.
 */
export function indexable(text: string): string {
  return text.slice(0, 200).toWellFormed().replaceAll('\0', '\ufffd');
}

/** Quotes a name for a raw query of Knex, whose own `??` would split it at a dot. */
export function quoteIdentifier(identifier: string): string {
  return `"${identifier.replaceAll('"', '""').replaceAll('?', '\\?')}"`;
}

/** Makes them with their columns and primary keys. Names no schema: the search path leads to the right one. */
export async function createTables(db: Knex, ...tables: readonly Table[]): Promise<void> {
  for (const { name, columns, moreColumns, primaryKey } of tables) {
    const definitions = Object.entries({ ...columns, ...moreColumns }).map((definition) =>
      definition.join(' '),
    );
    await db.raw(`create table ${name} (${definitions.join(', ')}, primary key (${primaryKey.join(', ')}))`);
  }
}

export const indexesOf = (...tables: readonly Table[]): readonly string[] =>
  tables.flatMap(({ indexes = [] }) => indexes);

/** Writes rows; in rows that exist already it sets the `updated` columns. */
export async function upsert<Column extends string>(
  db: Knex,
  table: Table<Column>,
  rows: readonly Row<Column>[],
  updated: readonly NoInfer<Column>[] = [],
): Promise<void> {
  if (rows.length === 0) return;
  await prepared(db, upsertGiven(table, updated), [JSON.stringify(rows)]);
}

/** The statement of `upsert`. */
export function upsertGiven<Column extends string>(
  table: Table<Column>,
  updated: readonly NoInfer<Column>[],
): string {
  const values = updated.map((column) => `${column} = excluded.${column}`);
  const action = values.length > 0 ? `update set ${values.join(', ')}` : 'nothing';
  return `${insertGiven(table)} on conflict (${table.primaryKey.join(', ')}) do ${action}`;
}

/** The beginning of a statement that inserts rows from one parameter of JSON. */
export function insertGiven({ name, columns }: Omit<Table, 'primaryKey'>): string {
  const names = Object.keys(columns);
  const values = Object.entries(columns).map(([column, definition]) =>
    isJson(definition) ? `${column}::json` : column,
  );
  return `insert into ${name} (${names.join(', ')}) select ${values.join(', ')} from ${givenRows(columns)}`;
}

/** Rows in one parameter of JSON, as a query may name them after `from`. A column of json holds the text of its value. */
export function givenRows(columns: Readonly<Record<string, string>>): string {
  const types = Object.entries(columns).map(([column, definition]) => {
    // Postgres reads none of the escapes of a text before it is json.
    const type = isJson(definition) ? 'text' : definition.split(' ')[0];
    return `${column} ${type}`;
  });
  return `json_to_recordset(?) as given (${types.join(', ')})`;
}

const isJson = (definition: string) => /^json\b/.test(definition);

/** Keeps only the rows whose columns have these texts, as `indexable` has them; null or absent for any. */
export function matching(
  query: Knex.QueryBuilder,
  texts: Readonly<Record<string, string | null | undefined>>,
): void {
  for (const [column, text] of Object.entries(texts)) if (text != null) query.where(column, indexable(text));
}

/** From `start` on and before `end`, both in UTC. */
export type TimeSpan = { start: string; end: string };

/** Keeps only the rows whose `column` is within the span; without a span, all rows. */
export function within(query: Knex.QueryBuilder, column: string, span: TimeSpan | null | undefined): void {
  if (span) query.where(column, '>=', span.start).where(column, '<', span.end);
}

/** Both included; null or absent where it is open. */
export type AmountRange = { least?: number | null; most?: number | null } | undefined;

/** Keeps only the rows whose `column` is within the range. */
export function between(query: Knex.QueryBuilder, column: string, { least, most }: AmountRange = {}): void {
  if (least != null) query.where(column, '>=', least);
  if (most != null) query.where(column, '<=', most);
}
