/** The tables of projections: how they are made, by whom, and that only one process changes them at a time. */
import type { Knex } from 'knex';
import type { Projection } from './projection.ts';

/**
 * Until the transaction ends, no other process makes, renames or drops tables: `if not exists` alone fails when two
 * processes create the same thing at once. Taken before the row of any checkpoint.
 */
export async function lockTables(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`select pg_advisory_xact_lock(hashtextextended('checkpoints', 0))`);
}

/** Makes the new tables next to the old ones, so that the projection can still read those, and swaps them. */
export async function createTables(
  trx: Knex.Transaction,
  projection: Projection,
  schema: string,
): Promise<void> {
  const next = `${schema}_being_made`;
  await actAsOwner(trx, projection.name);
  await trx.raw('create schema ??', [next]);
  await trx.raw('set local search_path to ??', [next]);
  await projection.createTables(trx);
  await createIndexes(trx, projection);
  await trx.raw('set local search_path to default');
  await trx.raw('set local role none');
  await trx.raw('drop schema if exists ?? cascade', [schema]);
  await trx.raw('alter schema ?? rename to ??', [next, schema]);
}

/**
 * Tables belong to the account that owns the schema, if there is one, whichever account makes them. An account that may
 * not act as the owner can still compare its tables with fresh ones, which are dropped afterwards.
 */
export async function actAsOwner(trx: Knex.Transaction, schema: string): Promise<void> {
  const { rows } = await trx.raw(
    `select pg_get_userbyid(nspowner) as owner from pg_namespace
     where nspname = ? and nspowner <> to_regrole(quote_ident(current_user)) and pg_has_role(nspowner, 'set')`,
    [schema],
  );
  if (rows[0]) await trx.raw('set local role ??', [rows[0].owner]);
}

/** A statement over all rows, such as making an index, may take this long. */
export const longestStatementMs = 60 * 60_000;

/** For tables that an earlier release made. Looked up first, because making an index waits for writers. */
export async function createMissingIndexes(
  trx: Knex.Transaction,
  { indexes = [] }: Projection,
  schema: string,
) {
  const { rows } = await trx.raw('select indexname as name from pg_indexes where schemaname = ?', [schema]);
  const found = new Set(rows.map(({ name }: { name: string }) => name));
  const missing = indexes.filter((index) => !found.has(index.split(' ')[0]));
  if (missing.length === 0) return;
  await trx.raw('set local search_path to ??', [schema]);
  await trx.raw(`set local statement_timeout = ${longestStatementMs}`);
  await createIndexes(trx, { indexes: missing });
}

export async function createIndexes(
  trx: Knex.Transaction,
  { indexes = [] }: Pick<Projection, 'indexes'>,
): Promise<void> {
  for (const index of indexes)
    await trx.raw(`create index if not exists ${index}`).options({ query_timeout: longestStatementMs });
}
