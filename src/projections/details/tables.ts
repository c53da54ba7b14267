/**
 * The tables of request details: `generic_details`, and `<merchant code>_details` for each agency that has one. See
 * content/docs/details-tables.md.
 */
import { isPostgresError, isRefusal } from '@ledger/postgres/error-codes.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { quoteIdentifier } from '@ledger/postgres/table.ts';
import type { ComparedRows } from '@ledger/projections/runtime/projection.ts';
import { actAsOwner, lockTables } from '@ledger/projections/runtime/tables.ts';
import type { Knex } from 'knex';
import tables from '../../../content/tables/details.json' with { type: 'json' };
import { sqlOf } from '../../common/sql.ts';

/** Named like the projection that fills them. */
export const detailsSchema = 'details';

/** Money is in RM, since agencies read these tables. */
export const sharedDetails = tables.generic;

export const sharedTable = sharedDetails.name;

export type StandardColumn = Exclude<keyof typeof sharedDetails.columns, 'extra'>;

/** The columns that every table of details has, `extra` aside. */
export const standardColumns = Object.keys(sharedDetails.columns).filter((column) => column !== 'extra');

/** The columns that hold personal data, beside `extra` and whatever an agency's own columns take from it. */
export const { personalColumns } = sharedDetails;

/** A column that an agency added, and its type as Postgres writes it. */
type OwnColumn = { name: string; type: string };

export type DetailsTable = { name: string; columns: readonly OwnColumn[] };

/**
 * Writes to an agency's table, and returns the items that it refuses. What an agency added to its table, such as a
 * constraint, must not block the details of all others, so a savepoint protects the transaction.
 */
export async function writeAccepted<Item>(
  db: Knex.Transaction,
  items: readonly Item[],
  write: (savepoint: Knex.Transaction, items: readonly Item[]) => Promise<void>,
): Promise<Item[]> {
  try {
    await db.transaction((savepoint) => write(savepoint, items));
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  if (items.length === 1) return [...items];
  const middle = Math.floor(items.length / 2);
  const first = await writeAccepted(db, items.slice(0, middle), write);
  return [...first, ...(await writeAccepted(db, items.slice(middle), write))];
}

/**
 * The table for a merchant's details, if it exists. Its name contains the code unchanged, so that two merchants never
 * share one; null for an unusual code, or one that would exceed Postgres' 63 bytes.
 */
export function detailsTableOf(merchantCode: string): string | null {
  return /^[A-Za-z0-9._-]{1,55}$/.test(merchantCode) ? `${merchantCode}_details` : null;
}

/** Makes an agency's table like the shared one; false when it exists. Throws when the projection has never run. */
export async function createDetailsTable(db: Knex, table: string): Promise<boolean> {
  try {
    await db.transaction(async (trx) => {
      // Otherwise it could be created in a schema that a cutover is retiring.
      await lockTables(trx);
      await actAsOwner(trx, detailsSchema);
      await trx.raw(
        `create table ${detailsSchema}.${quoteIdentifier(table)} (like ${detailsSchema}.${sharedTable} including all)`,
      );
    });
    return true;
  } catch (error) {
    if (isPostgresError(error, 'duplicateTable')) return false;
    throw error;
  }
}

/** The named tables that exist in the current schema, with the columns that keys of `extra` may fill. */
export async function findAgencyTables(
  db: Knex.Transaction,
  names: readonly string[],
): Promise<DetailsTable[]> {
  const bindings = [Object.keys(sharedDetails.columns), [...names]];
  const { rows } = await prepared<{ rows: DetailsTable[] }>(db, sqlOf('agency-tables'), bindings);
  return rows;
}

/** Every agency's table in the current schema. */
export async function allAgencyTables(db: Knex.Transaction): Promise<DetailsTable[]> {
  const { rows } = await db.raw<{ rows: { schema: string }[] }>('select current_schema() as schema');
  return await findAgencyTables(db, await agencyTables(db, rows[0]?.schema ?? ''));
}

/** Creates the agencies' tables in a schema that a rebuild fills, like those in the serving schema. */
export async function copyAgencyTables(db: Knex.Transaction): Promise<void> {
  for (const name of await agencyTables(db, detailsSchema))
    await db.raw(
      `create table ${quoteIdentifier(name)} (like ${detailsSchema}.${quoteIdentifier(name)} including all)`,
    );
}

/**
 * Whether the agencies' tables in the current schema match those in another, where an agency may have created or
 * altered one since. Those cannot be altered before the transaction ends.
 */
export async function haveSameAgencyTables(db: Knex.Transaction, schema: string): Promise<boolean> {
  for (const name of await agencyTables(db, schema))
    await db.raw(
      `lock table ${quoteIdentifier(schema)}.${quoteIdentifier(name)} in share row exclusive mode`,
    );
  const { rows } = await db.raw<{ rows: unknown[] }>(sqlOf('different-agency-tables'), {
    schema,
    sharedTable,
  });
  return rows.length === 0;
}

async function agencyTables(db: Knex.Transaction, schema: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select tablename as name from pg_tables
     where schemaname = ? and tablename <> ? and right(tablename, 8) = '_details'`,
    [schema, sharedTable],
  );
  return rows.map(({ name }) => name);
}

/**
 * The details of all payments, from all tables. Which table has a row depends on when the agency's table was created, and
 * so does what is in an agency's own columns and in `extra`, which is compared only where the agency has no table.
 */
export async function allDetails(db: Knex.Transaction, schema: string): Promise<ComparedRows[]> {
  const tables = [sharedTable, ...(await agencyTables(db, schema))];
  // The row is read as JSON, so that a table may lack a column.
  const fields = standardColumns.map((column) => `row ->> '${column}' as ${column}`).join(', ');
  const agencies = `select tablename from pg_tables where schemaname = '${schema}'`;
  const extra = `case when row ->> 'merchant_code' || '_details' <> all (array(${agencies})) then row ->> 'extra' end as extra`;
  const queries = tables.map(
    (table) =>
      `select ${fields}, ${extra} from ${quoteIdentifier(schema)}.${quoteIdentifier(table)} as t, lateral (select to_jsonb(t) as row offset 0)`,
  );
  const columns = [...standardColumns, 'extra'];
  return [{ table: 'details', key: ['transaction_id'], columns, sql: queries.join(' union all ') }];
}
