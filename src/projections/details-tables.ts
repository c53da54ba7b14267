/**
 * The tables of request details: `generic_details` for everybody, and `<merchant code>_details` for an agency that
 * has one. What is in them, and how an agency gets one, is in content/docs/details-tables.md.
 */
import type { Knex } from 'knex';

export const sharedTable = 'generic_details';

/** Where the tables live, as the projection that fills them is called. */
export const detailsSchema = 'details';

/** The columns that every table of details has, `extra` aside. Money in RM, since agencies read these. */
export const standardColumns = [
  'transaction_id',
  'merchant_code',
  'trans_id',
  'amount',
  'service',
  'description',
  'callback_url',
  'redirect_url',
  'name',
  'email',
  'ic_no',
  'address_1',
  'address_2',
  'city',
  'postcode',
  'state',
  'phone_no',
  'requested_at',
] as const;

/** A column of an agency's own, beside the standard ones, and its type as Postgres writes it. */
export type OwnColumn = { name: string; type: string };

/**
 * The table that a merchant's details go to when it exists. The code stands in it as it is, quoted, so that two
 * merchants never share one; null for a code that would be cut by Postgres's 63 bytes or is none.
 */
export function detailsTableOf(merchantCode: string): string | null {
  return /^[A-Za-z0-9._-]{1,55}$/.test(merchantCode) ? `${merchantCode}_details` : null;
}

/** An identifier that may be put into the text of a raw query. Knex's own `??` would split it at a dot. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""').replaceAll('?', '\\?')}"`;
}

/**
 * Makes an agency's table in the shape of the shared one; false when it is there already. Throws Postgres's own
 * error when the projection has never run.
 */
export async function createDetailsTable(db: Knex, table: string): Promise<boolean> {
  try {
    await db.raw(
      `create table ${detailsSchema}.${quoted(table)} (like ${detailsSchema}.${sharedTable} including all)`,
    );
    return true;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === duplicateTable) return false;
    throw error;
  }
}

const duplicateTable = '42P07';

/** Of the tables named, those that exist in the current schema, with the columns that keys of `extra` may fill. */
export async function findAgencyTables(
  db: Knex.Transaction,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly OwnColumn[]>> {
  const { rows } = await db.raw<{ rows: { table: string; columns: OwnColumn[] }[] }>(
    `select c.relname as "table", coalesce(json_agg(json_build_object(
         'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)
       ) order by a.attnum) filter (where a.attname <> all(?)), '[]') as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid
     where n.nspname = current_schema() and c.relkind in ('r', 'p') and c.relname = any(?)
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
     group by c.relname`,
    [[...standardColumns, 'extra'], [...names]],
  );
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

/** In a schema that a rebuild fills: the agencies' tables once more, as they are in the one that serves. */
export async function copyAgencyTables(db: Knex.Transaction): Promise<void> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select tablename as name from pg_tables
     where schemaname = ? and schemaname <> current_schema() and tablename <> ? and right(tablename, 8) = '_details'`,
    [detailsSchema, sharedTable],
  );
  for (const { name } of rows)
    await db.raw(`create table ${quoted(name)} (like ${detailsSchema}.${quoted(name)} including all)`);
}
