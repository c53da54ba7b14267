/** Erases personal data from the tables of details: the rows stay, with what is not personal. */
import type { Knex } from 'knex';
import { isRefusal } from '../../postgres/error-codes.ts';
import { quoteIdentifier } from '../../postgres/table.ts';
import { allAgencyTables, type OwnColumn, personalColumns, sharedTable, standardColumns } from './tables.ts';

/** Throws when an agency's table refuses even that a row moves, because the data must not stay there unnoticed. */
export async function scrub(transactionIds: readonly string[], db: Knex.Transaction): Promise<void> {
  if (transactionIds.length === 0) return;
  await scrubTable(db, { name: sharedTable, columns: [] }, transactionIds);
  for (const [name, columns] of await allAgencyTables(db))
    await scrubOrMove(db, { name, columns }, transactionIds);
}

/** Rows that the table refuses move, like those that it does not take in the first place, such as for want of a value. */
async function scrubOrMove(
  db: Knex.Transaction,
  table: Table,
  transactionIds: readonly string[],
): Promise<void> {
  try {
    await db.transaction((savepoint) => scrubTable(savepoint, table, transactionIds));
    return;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  if (transactionIds.length === 1) return await moveScrubbed(db, table.name, transactionIds);
  const middle = Math.floor(transactionIds.length / 2);
  await scrubOrMove(db, table, transactionIds.slice(0, middle));
  await scrubOrMove(db, table, transactionIds.slice(middle));
}

type Table = { name: string; columns: readonly OwnColumn[] };

/** An agency's own columns go back to their default: what they hold comes from `extra`. */
async function scrubTable(db: Knex, { name, columns }: Table, transactionIds: readonly string[]) {
  const cleared = [
    ...personalColumns.map((column) => `${column} = null`),
    `extra = '{}'`,
    ...columns.map((column) => `${quoteIdentifier(column.name)} = default`),
  ];
  await db.raw(`update ${quoteIdentifier(name)} set ${cleared.join(', ')} where transaction_id = any(?)`, [
    [...transactionIds],
  ]);
}

async function moveScrubbed(db: Knex, table: string, transactionIds: readonly string[]): Promise<void> {
  const kept = standardColumns.filter((column) => !personalColumns.some((each) => each === column));
  const list = kept.join(', ');
  await db.raw(
    `with moved as (delete from ${quoteIdentifier(table)} where transaction_id = any(?) returning ${list})
     insert into ${quoteIdentifier(sharedTable)} (${list}, extra) select ${list}, '{}' from moved`,
    [[...transactionIds]],
  );
}
