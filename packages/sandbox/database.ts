/** SQLite files of the sandbox. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Opens `file`, creating it and its folder if necessary, and applies `schema`. `all` trusts that rows match `Row`. */
export function openDatabase(file: string, schema: string) {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec(schema);
  const all = <Row>(sql: string, ...values: (string | number)[]) =>
    database.prepare(sql).all(...values) as unknown as Row[];
  return { database, all };
}
