/** The sandbox's SQLite file. */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

const schema = readFileSync(new URL('schema.sql', import.meta.url), 'utf8');

export type Database = ReturnType<typeof openDatabase>;

/** Opens `file`, creating it and its folder if necessary. Throws an Error that names it. */
export function openDatabase(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file);
    database.exec(schema);
  } catch (cause) {
    throw new Error(`The sandbox cannot use ${file}: ${(cause as Error).message}`, { cause });
  }
  return {
    /** Trusts that rows match `Row`. */
    all: <Row>(sql: string, ...values: SQLInputValue[]) =>
      database.prepare(sql).all(...values) as unknown as Row[],

    run(sql: string, ...values: SQLInputValue[]): void {
      database.prepare(sql).run(...values);
    },

    insert(table: string, row: Readonly<Record<string, SQLInputValue>>): void {
      const names = Object.keys(row);
      const places = names.map((name) => `:${name}`);
      database.prepare(`insert into ${table} (${names}) values (${places})`).run(row);
    },

    /** All that `write` does, or nothing. */
    atOnce(write: () => void): void {
      database.exec('begin immediate');
      try {
        write();
        database.exec('commit');
      } catch (error) {
        database.exec('rollback');
        throw error;
      }
    },

    close: () => database.close(),
  };
}
