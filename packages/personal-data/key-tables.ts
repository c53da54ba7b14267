/** The schema and the tables that hold data keys. A process creates them when it first needs them. */
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { answerOf, isPostgresError } from '@ledger/postgres/error-codes.ts';
import { sqlIn } from '@ledger/postgres/sql.ts';
import type { Knex } from 'knex';

/** The schema that no rebuild touches. */
export const keySchema = 'personal_data';

const sqlOf = sqlIn(new URL('./', import.meta.url));
export const keyTablesSql = sqlOf('key-tables');
/** The same, unless the schema is missing where the table has rows: then it raises an error. */
export const keyTablesUnlessDropped = (madeWithKeys: string) =>
  `${sqlOf('dropped-keys', { madeWithKeys })}\n${keyTablesSql}`;

export type KeyTables = ReturnType<typeof createKeyTables>;

export function createKeyTables(db: Knex, madeWithKeys: string) {
  let made: Promise<void> | null = null;
  let wereMade = false;
  return {
    /** Resolves when they are there. Throws ConfigError if the schema was dropped. */
    ready(): Promise<void> {
      made ??= createTables(db, madeWithKeys, wereMade).then(
        () => {
          wereMade = true;
        },
        (error) => {
          made = null;
          throw error;
        },
      );
      return made;
    },
    /** Somebody may drop the tables while this process runs. Throws the error again. */
    lookAgain(error: unknown): never {
      if (isPostgresError(error, 'undefinedTable')) made = null;
      throw error;
    },
  };
}

/**
 * `if not exists` alone fails when two processes create the same thing at once. If `wereMade`, only somebody who has created
 * the schema again says that there is no backup.
 */
async function createTables(db: Knex, madeWithKeys: string, wereMade: boolean): Promise<void> {
  const { rows } = await db
    .raw('select to_regclass(?) is not null as exists, to_regnamespace(?) is null as "isDropped"', [
      `${keySchema}.erasures`,
      keySchema,
    ])
    .timeout(2_000);
  if (rows[0]?.exists) return;
  if (wereMade && rows[0]?.isDropped)
    throw new ConfigError([`DATABASE_URL: the schema ${keySchema} is missing: restore it from its backup`]);
  try {
    await db.transaction(async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [keySchema]);
      await trx.raw(keyTablesUnlessDropped(madeWithKeys));
    });
  } catch (error) {
    throw isPostgresError(error, 'configFile')
      ? new ConfigError([`DATABASE_URL: ${answerOf(error)}`])
      : error;
  }
}
