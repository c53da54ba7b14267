/** Compares a projection's rows with rows freshly made from the log, at the same position. Changes nothing. */
import type { Knex } from 'knex';
import { reasonOf } from '../../kernel/reason-of.ts';
import { retry } from '../../kernel/retry.ts';
import { quoteIdentifier } from '../../postgres/identifiers.ts';
import { tryWithLeaderLock } from '../../postgres/leader-lock.ts';
import { connectPostgres } from '../../postgres/pool.ts';
import { discard, holdCheckpoint } from '../runtime/checkpoints.ts';
import type { ComparedRows, Projection } from '../runtime/projection.ts';
import {
  isFinal,
  longestStatementMs,
  RebuildInterrupted,
  type RebuildOptions,
  RebuildRefused,
  RebuildUnderWay,
} from './rebuild.ts';
import { fewEvents, openShadowTables } from './shadow-tables.ts';

/** No values: they may be personal data. */
export type RowDifference = {
  table: string;
  /** The columns of the primary key, with a space between. Empty when it is the table itself that differs. */
  key: string;
  /** Missing where it should be, there although no event says so, or other than the events say. */
  kind: 'missing' | 'extra' | 'changed';
  /** Those that differ, of a row that is changed. */
  columns: readonly string[];
};

export type Comparison = {
  /** How many rows were compared. */
  rows: number;
  /** At most `limit`. */
  differences: RowDifference[];
  /** How many differences there are beside those. */
  more: number;
};

const maxFailures = 3;

const compareSchema = ({ name }: Pick<Projection, 'name'>) => `${name}_compare`;

/**
 * Makes a projection's tables from the first event on, up to where the serving ones stand, and compares them row by row.
 * The runner is held still only while the last events are taken and both sides are in one snapshot. The new tables are
 * dropped in any case.
 *
 * A store that is away for a moment is come back to. Throws RebuildUnderWay, RebuildRefused, RebuildInterrupted,
 * ProjectionHalted for an event that cannot be folded, and the database's and the event store's own errors.
 */
export async function compareWithFresh(options: RebuildOptions & { limit: number }): Promise<Comparison> {
  const { projection, log, runtime, signal } = options;
  let failures = 0;
  try {
    return await retry(() => compareOnce(options), {
      runtime,
      signal,
      firstMs: 500,
      shouldRetry: (error) => !isFinal(error) && failures < maxFailures,
      onFailure(error) {
        failures += 1;
        const reason = reasonOf(error);
        log.warn(
          { projection: projection.name, reason, failures },
          'comparison interrupted; it begins again',
        );
      },
    });
  } catch (error) {
    if (signal.aborted) throw new RebuildInterrupted(`The comparison of ${projection.name} was interrupted`);
    throw error;
  }
}

async function compareOnce(options: RebuildOptions & { limit: number }): Promise<Comparison> {
  const { projection, databaseUrl, db, log, runtime, signal } = options;
  const schema = compareSchema(projection);
  const patient = connectPostgres({ url: databaseUrl, log, longestQueryMs: longestStatementMs });
  let comparison: Comparison | undefined;
  try {
    await tryWithLeaderLock({ databaseUrl, name: schema, runtime, signal }, async (leading) => {
      await discard(db, schema);
      try {
        comparison = await compareLocked({ ...options, patient, signal: leading });
      } finally {
        await discard(patient, schema);
      }
    });
  } finally {
    await patient.destroy();
  }
  if (!comparison) throw new RebuildUnderWay(`${projection.name} is being compared already`);
  return comparison;
}

async function compareLocked(
  options: RebuildOptions & { limit: number; patient: Knex },
): Promise<Comparison> {
  const { projection, db, patient, limit } = options;
  const { name } = projection;
  const schema = compareSchema(projection);
  const copy = await openShadowTables({ ...options, schema });
  let taken: number;
  do {
    const { position } = await db.transaction((trx) => servingCheckpoint(trx, projection));
    taken = position ? await copy.feed(position) : 0;
  } while (taken > fewEvents);

  const snapshot = await patient.transaction(undefined, {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
  try {
    const serving = await db.transaction(async (trx) => {
      const { position } = await servingCheckpoint(trx, projection);
      if (position) await copy.feed(position);
      // The first query takes the snapshot.
      await snapshot.raw('select 1');
      return await schemaId(trx, name);
    });
    const comparison = await compareSchemas(snapshot, projection, { serving: name, fresh: schema, limit });
    if ((await schemaId(db, name)) !== serving)
      throw new Error('Other tables took the place of those that were compared');
    return comparison;
  } finally {
    await snapshot.rollback();
  }
}

/** A rebuild that puts new tables in the place of the old gives the name to another schema, of rows not in the snapshot. */
async function schemaId(db: Knex, name: string): Promise<unknown> {
  const { rows } = await db.raw('select to_regnamespace(?)::oid as id', [name]);
  return rows[0]?.id;
}

async function servingCheckpoint(trx: Knex.Transaction, { name, version }: Projection) {
  const serving = await holdCheckpoint(trx, name);
  if (!serving) throw new RebuildRefused(`The projection ${name} has never run`);
  if (serving.version === version) return serving;
  throw new RebuildRefused(
    `The tables of ${name} are of version ${serving.version}, and this program knows ${version}`,
  );
}

async function compareSchemas(
  trx: Knex.Transaction,
  projection: Projection,
  { serving, fresh, limit }: { serving: string; fresh: string; limit: number },
): Promise<Comparison> {
  const there = new Map((await comparedRows(trx, projection, serving)).map((rows) => [rows.table, rows]));
  const comparison: Comparison = { rows: 0, differences: [], more: 0 };
  for (const rows of await comparedRows(trx, projection, fresh)) {
    const { table } = rows;
    const twin = there.get(table);
    there.delete(table);
    const lost = rows.columns.filter((column) => !twin?.columns.includes(column));
    if (!twin || lost.length > 0) {
      comparison.differences.push({ table, key: '', kind: 'missing', columns: lost });
      continue;
    }
    const found = await compareTable(trx, twin, rows, Math.max(0, limit - comparison.differences.length));
    comparison.rows += found.rows;
    comparison.differences.push(...found.differences);
    comparison.more += found.more;
  }
  for (const table of there.keys())
    comparison.differences.push({ table, key: '', kind: 'extra', columns: [] });
  return comparison;
}

/** Every table of a schema, by its primary key, without the columns in which rows may rightly differ. */
async function comparedRows(
  trx: Knex.Transaction,
  { comparedIn, notDerived = {} }: Projection,
  schema: string,
): Promise<readonly ComparedRows[]> {
  if (comparedIn) return await comparedIn(trx, schema);
  const { rows } = await trx.raw<{ rows: TableOfSchema[] }>(tablesOfSchema, [schema]);
  return rows.map(({ table, key, columns }) => {
    const derived = columns.filter((column) => !notDerived[table]?.includes(column));
    const from = `from ${quoteIdentifier(schema)}.${quoteIdentifier(table)} as t`;
    if (key)
      return {
        table,
        key,
        columns: derived,
        sql: `select ${derived.map(quoteIdentifier).join(', ')} ${from}`,
      };
    // Without a key, the same row may be there more than once.
    const digest = 'md5(t::text)';
    const sql = `select ${digest} as row, row_number() over (partition by ${digest}) as number ${from}`;
    return { table, key: ['row', 'number'], columns: ['row', 'number'], sql };
  });
}

type TableOfSchema = { table: string; columns: string[]; key: string[] | null };

const tablesOfSchema = `
  select relname as "table",
    (select json_agg(attname order by attnum) from pg_attribute
     where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
    (select json_agg(attname order by attnum) from pg_index join pg_attribute on attrelid = indrelid
     where indrelid = pg_class.oid and indisprimary and attnum = any(indkey)) as key
  from pg_class
  where relnamespace = to_regnamespace(?) and relkind in ('r', 'p')
  order by relname`;

/** In one pass over both, which Postgres does with bounded memory; values never leave it. */
async function compareTable(
  trx: Knex.Transaction,
  serving: ComparedRows,
  { table, key, columns, sql }: ComparedRows,
  limit: number,
): Promise<Comparison> {
  const same = key
    .map((column) => `serving.${quoteIdentifier(column)} = fresh.${quoteIdentifier(column)}`)
    .join(' and ');
  const others = columns.filter((column) => !key.includes(column));
  const differing = others.map(
    (column) =>
      `case when serving.${quoteIdentifier(column)}::text is distinct from fresh.${quoteIdentifier(column)}::text then '${column}' end`,
  );
  const either = key.map(
    (column) => `coalesce(serving.${quoteIdentifier(column)}, fresh.${quoteIdentifier(column)})::text`,
  );
  const first = quoteIdentifier(key[0] ?? '');
  const { rows: counted } = await trx.raw(`select count(*) from (${serving.sql}) as serving`);
  const { rows } = await trx.raw<{ rows: (Omit<RowDifference, 'table'> & { total: number })[] }>(
    `select key, kind, columns, count(*) over () as total from (
       select concat_ws(' ', ${either.join(', ')}) as key,
         case when serving.${first} is null then 'missing' when fresh.${first} is null then 'extra' else 'changed' end
           as kind,
         array_remove(array[${differing.join(', ')}]::text[], null) as columns
       from (${serving.sql}) as serving full join (${sql}) as fresh on ${same}
     ) as compared
     where kind <> 'changed' or cardinality(columns) > 0
     order by key
     limit ?`,
    [Math.max(limit, 1)],
  );
  const differences = rows.slice(0, limit).map(({ key: rowKey, kind, columns: differ }) => ({
    table,
    key: rowKey,
    kind,
    columns: kind === 'changed' ? differ : [],
  }));
  const total = rows[0]?.total ?? 0;
  return { rows: counted[0].count, differences, more: total - differences.length };
}
