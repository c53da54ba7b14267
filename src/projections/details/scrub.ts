/** Erases personal data from the tables of details: the rows stay, with what is not personal. */
import { quoteIdentifier } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import {
  allAgencyTables,
  type DetailsTable,
  personalColumns,
  sharedTable,
  standardColumns,
  writeAccepted,
} from './tables.ts';

/** Throws if an agency's table does not even let a row move: the data must not stay there unnoticed. */
export async function scrub(transactionIds: readonly string[], db: Knex.Transaction): Promise<void> {
  if (transactionIds.length === 0) return;
  await scrubTable(db, { name: sharedTable, columns: [] }, transactionIds);
  for (const table of await allAgencyTables(db)) {
    const scrubSome = (trx: Knex.Transaction, ids: readonly string[]) => scrubTable(trx, table, ids);
    // Rows that the table refuses move, like those that it never took, for example because a value is missing.
    await moveScrubbed(db, table.name, await writeAccepted(db, transactionIds, scrubSome));
  }
}

/** An agency's own columns go back to their default: what they hold comes from `extra`. */
async function scrubTable(db: Knex, { name, columns }: DetailsTable, transactionIds: readonly string[]) {
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
  if (transactionIds.length === 0) return;
  const kept = standardColumns.filter((column) => !personalColumns.some((each) => each === column));
  const list = kept.join(', ');
  await db.raw(
    `with moved as (delete from ${quoteIdentifier(table)} where transaction_id = any(?) returning ${list})
     insert into ${quoteIdentifier(sharedTable)} (${list}, extra) select ${list}, '{}' from moved`,
    [[...transactionIds]],
  );
}
