/** Compares a projection's rows with rows freshly made from the log, at the same position. Changes nothing. */
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { retry } from '@ledger/kernel/retry.ts';
import { quoteIdentifier } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import { discard, holdCheckpoint, projectionStatus } from '../runtime/checkpoints.ts';
import type { ParkedStream } from '../runtime/failures.ts';
import { parkedOnlyIn, projectOrPark } from '../runtime/parking.ts';
import type { ComparedRows, Projection } from '../runtime/projection.ts';
import { sqlOf } from '../sql.ts';
import { isFinal, RebuildInterrupted, type RebuildOptions, RebuildRefused, whileAlone } from './rebuild.ts';
import { openShadowTables } from './shadow-tables.ts';

/** No values: they may be personal data. */
export type RowDifference = {
  table: string;
  /** The columns of the primary key, with a space between. Null when the table itself differs. */
  key: string | null;
  /** Missing from the serving tables, extra in them, or different from what the events say. */
  kind: 'missing' | 'extra' | 'changed';
  /** The columns that differ, if the row is changed, or those that the table lacks. */
  columns: readonly string[];
};

export type Comparison = {
  rows: number;
  /** At most `limit`. */
  differences: RowDifference[];
  more: number;
};

/** Where the fresh rows are made; also the name of the lock on them. */
export const comparedSchema = (name: string) => `${name}_compare`;

type CompareOptions = RebuildOptions & { limit: number };
type LockedOptions = CompareOptions & { schema: string; patient: Knex };

/**
 * Makes shadow tables from the whole log, up to the position of the serving tables, and compares the two row by row.
 * The runner waits only while the last events are processed and a snapshot of both sides is taken. The shadow tables
 * are always dropped.
 *
 * A short outage is waited out. Throws RebuildUnderWay, RebuildRefused (also if both do not park the same streams),
 * RebuildInterrupted, ProjectionHalted if too many streams cannot be processed, and the stores' own errors.
 */
export async function compareWithFresh(options: CompareOptions): Promise<Comparison> {
  const { projection, log, runtime, signal } = options;
  try {
    return await retry(() => compareOnce(options), {
      runtime,
      signal,
      firstMs: 500,
      maxAttempts: 4,
      shouldRetry: (error) => !isFinal(error),
      onFailure: (error, failures) =>
        log.warn(
          { projection: projection.name, reason: reasonOf(error), failures },
          'comparison interrupted; it begins again',
        ),
    });
  } catch (error) {
    if (signal.aborted) throw new RebuildInterrupted(`The comparison of ${projection.name} was interrupted`);
    throw error;
  }
}

async function compareOnce(options: CompareOptions): Promise<Comparison> {
  const { projection, db } = options;
  const schema = comparedSchema(projection.name);
  return await whileAlone(options, schema, async (patient, leading) => {
    await discard(db, schema);
    try {
      return await compareLocked({ ...options, schema, patient, signal: leading });
    } finally {
      await discard(patient, schema);
    }
  });
}

async function compareLocked(options: LockedOptions): Promise<Comparison> {
  const { projection, db, patient, schema } = options;
  const shadow = await openShadowTables(options);
  await shadow.catchUp(async () => {
    const { position } = await db.transaction((trx) => servingCheckpoint(trx, projection));
    return position;
  });
  // Most of the rows that are ahead are made here, while the runner does not have to wait.
  const since = await oldestTransaction(db);
  await foldAhead(options, null, patient);

  const snapshot = await patient.transaction(undefined, {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
  try {
    // The transaction is idle while the last events are processed, however many there are.
    await snapshot.raw(`set local idle_in_transaction_session_timeout to '10min'`);
    const serving = await db.transaction(async (trx) => {
      const { parked, position } = await servingCheckpoint(trx, projection);
      if (position) await shadow.feed(position);
      const fresh = (await projectionStatus(db)).find(({ name }) => name === schema);
      assertParkedAlike(parked, fresh?.parked ?? []);
      await foldAhead(options, since, trx);
      // The first query takes the snapshot.
      await snapshot.raw('select 1');
      return await schemaId(trx, projection.name);
    });
    const comparison = await compareSchemas(snapshot, projection, { fresh: schema, limit: options.limit });
    if ((await schemaId(db, projection.name)) !== serving)
      throw new Error('A cutover replaced the tables that were compared');
    return comparison;
  } finally {
    await snapshot.rollback();
  }
}

/** The id before which every transaction has ended. */
async function oldestTransaction(db: Knex): Promise<string> {
  const { rows } = await db.raw('select pg_snapshot_xmin(pg_current_snapshot())::xid as oldest');
  return rows[0].oldest;
}

/** Leaves out events that cannot be folded: their rows will differ. */
async function foldAhead(options: LockedOptions, since: string | null, db: Knex): Promise<void> {
  const { patient, projection, schema } = options;
  for await (const events of projection.eventsAhead?.(db, schema, since) ?? [])
    await patient.transaction(async (trx) => {
      const parked = (await holdCheckpoint(trx, schema))?.parked ?? [];
      await projectOrPark(trx, options, events, parked);
    });
}

/** Otherwise rows of a stream that is parked on one side only would look like rows that somebody has changed. */
function assertParkedAlike(serving: readonly ParkedStream[], fresh: readonly ParkedStream[]): void {
  const parked = parkedOnlyIn(fresh, serving);
  if (parked) throw new RebuildRefused(`A fresh fold parks ${parked}, and the tables do not`);
  const unparked = parkedOnlyIn(serving, fresh);
  if (unparked)
    throw new RebuildRefused(`They have parked ${unparked}, and a fresh fold does not: try it again`);
}

/** A cutover gives the name to another schema, whose rows are not in the snapshot. */
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

/** Compares all rows, or those whose keys begin with a value that the query `chosen` has. */
export async function compareSchemas(
  trx: Knex.Transaction,
  projection: Projection,
  { fresh, limit, chosen = null }: { fresh: string; limit: number; chosen?: string | null },
): Promise<Comparison> {
  const rowsOf = async (schema: string) =>
    (await comparedRows(trx, projection, schema)).map((rows) =>
      chosen
        ? { ...rows, sql: `${rows.sql} where ${quoteIdentifier(rows.key[0] ?? '')} in (${chosen})` }
        : rows,
    );
  const serving = new Map((await rowsOf(projection.name)).map((rows) => [rows.table, rows]));
  const comparison: Comparison = { rows: 0, differences: [], more: 0 };
  const { differences } = comparison;
  for (const rows of await rowsOf(fresh)) {
    const { table } = rows;
    const twin = serving.get(table);
    serving.delete(table);
    const lost = rows.columns.filter((column) => !twin?.columns.includes(column));
    if (!twin || lost.length > 0) {
      differences.push({ table, key: null, kind: 'missing', columns: twin ? lost : [] });
      continue;
    }
    const found = await compareTable(trx, twin, rows, Math.max(0, limit - differences.length));
    comparison.rows += found.rows;
    differences.push(...found.differences);
    comparison.more += found.more;
  }
  for (const table of serving.keys()) differences.push({ table, key: null, kind: 'extra', columns: [] });
  return comparison;
}

/** Every table of a schema, by its primary key, without the columns that may legitimately differ. */
async function comparedRows(
  trx: Knex.Transaction,
  { comparedIn, notDerived = {} }: Projection,
  schema: string,
): Promise<readonly ComparedRows[]> {
  if (comparedIn) return await comparedIn(trx, schema);
  const { rows } = await trx.raw<{ rows: { table: string; columns: string[]; key: string[] | null }[] }>(
    sqlOf('tables-of-schema'),
    [schema],
  );
  return rows.map(({ table, key, columns: all }) => {
    const from = `from ${quoteIdentifier(schema)}.${quoteIdentifier(table)} as t`;
    if (key) {
      const columns = all.filter((column) => !notDerived[table]?.includes(column));
      return { table, key, columns, sql: `select ${columns.map(quoteIdentifier).join(', ')} ${from}` };
    }
    // Without a key, the same row may occur more than once.
    const digest = 'md5(t::text)';
    const sql = `select ${digest} as row, row_number() over (partition by ${digest}) as number ${from}`;
    return { table, key: ['row', 'number'], columns: ['row', 'number'], sql };
  });
}

/** In one pass over both, which Postgres does with bounded memory; values never leave it. */
async function compareTable(
  trx: Knex.Transaction,
  serving: ComparedRows,
  { table, key, columns, sql }: ComparedRows,
  limit: number,
): Promise<Comparison> {
  const ofServing = (column: string) => `serving.${quoteIdentifier(column)}`;
  const ofFresh = (column: string) => `fresh.${quoteIdentifier(column)}`;
  const same = key.map((column) => `${ofServing(column)} = ${ofFresh(column)}`);
  const differing = columns
    .filter((column) => !key.includes(column))
    .map(
      (column) =>
        `case when ${ofServing(column)}::text is distinct from ${ofFresh(column)}::text then '${column}' end`,
    );
  const either = key.map((column) => `coalesce(${ofServing(column)}, ${ofFresh(column)})::text`);
  const { rows: counted } = await trx.raw(`select count(*) from (${serving.sql}) as serving`);
  const { rows } = await trx.raw<{ rows: (Omit<RowDifference, 'table'> & { total: number })[] }>(
    sqlOf('compared-rows', {
      keys: either.join(', '),
      first: quoteIdentifier(key[0] ?? ''),
      differing: differing.join(', '),
      serving: serving.sql,
      fresh: sql,
      same: same.join(' and '),
    }),
    [Math.max(limit, 1)],
  );
  const total = rows[0]?.total ?? 0;
  const differences = rows.slice(0, limit).map(({ total: _, ...difference }) => ({ table, ...difference }));
  return { rows: counted[0].count, differences, more: total - differences.length };
}
