/** The tables of the keys of personal data as lines of JSON: what PostgreSQL holds and the log cannot bring back. */
import { pagesOf } from '@ledger/kernel/pages.ts';
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';
import { keySchema, keyTablesSql } from './key-tables.ts';

const keyColumns = { key_blocks: 'id', erasures: 'transaction_id' } as const;
type Table = keyof typeof keyColumns;
const tables = Object.keys(keyColumns) as Table[];
const pageSize = 200;
type Row = { key: string; row: string };

/** The rows that are not in `known`, to which their keys are added. The keys in them are encrypted under the wrapping key. */
export async function* readKeyTables(db: Knex, known: Set<string>): AsyncGenerator<string> {
  for (const table of tables) {
    const column = keyColumns[table];
    const load = (last: Row | null) =>
      emptyIfUndefined(
        db.raw<{ rows: Row[] }>(
          `select ${column} as key, to_json(each)::text as row from ${keySchema}.${table} each
           where ${column} > ? order by ${column} limit ${pageSize}`,
          [last?.key ?? ''],
        ),
      );
    for await (const page of pagesOf(pageSize, load))
      for (const { key, row } of page) {
        const name = `${table} ${key}`;
        if (known.has(name)) continue;
        known.add(name);
        yield `{"table":"${table}","row":${row}}\n`;
      }
  }
}

/** If it throws, nothing was written. */
export async function writeKeyTables(db: Knex, lines: AsyncIterable<string>): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw(keyTablesSql);
    for await (const line of lines) {
      const { table, row } = JSON.parse(line);
      const known = tables.find((each) => each === table);
      if (!known) throw new Error('A backup of keys names a table that is not known');
      const target = `${keySchema}.${known}`;
      await trx.raw(`insert into ${target} select * from json_populate_record(null::${target}, ?::json)`, [
        JSON.stringify(row),
      ]);
    }
  });
}
