/**
 * How far each projection has come, why it halted, and which streams it has parked. One row per schema of tables, updated
 * in the transaction that writes the tables' rows, so that neither can be ahead of the other.
 */
import type { LogMark, Position } from '@ledger/event-store/event-store.ts';
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import type { Knex } from 'knex';
import { sqlOf } from '../sql.ts';
import type { Batch } from './batches.ts';
import type { Fault, ParkedStream } from './failures.ts';
import type { Projection } from './projection.ts';
import { createMissingIndexes, createTables, lockTables } from './tables.ts';

export type ProjectionStatus = {
  /** The projection's name, or the schema of a rebuild. */
  name: string;
  version: number;
  /** How many events the tables have taken. */
  events: number;
  /** Null before the first event. */
  position: Position | null;
  /** An event up to the position, as near to it as is known, by which the log is recognised; null if none is. */
  lastEvent: LogMark | null;
  updatedAt: Date;
  fault: Fault | null;
  /** In the order in which they were parked. */
  parked: readonly ParkedStream[];
};

type StatusRow = Omit<ProjectionStatus, 'position' | 'lastEvent'> & {
  commit: string | null;
  prepare: string | null;
  lastEvent: { id: string; commit: string; prepare: string } | null;
};

// Positions are 64 bits wide: they travel as text, never as a number. The column `parked` is missing until a role that
// writes rows has run: http may be started before it.
const columns = `name, version, events, commit_position::text as commit, prepare_position::text as prepare,
  last_event as "lastEvent", updated_at as "updatedAt", fault,
  coalesce(to_json(checkpoints) -> 'parked', '[]') as parked`;

/** Makes the schema, tables and checkpoint where they are missing or of an older version; returns the status. */
export async function prepare(db: Knex, projection: Projection, schema: string): Promise<ProjectionStatus> {
  return await db.transaction(async (trx) => {
    await lockTables(trx);
    await trx.raw(checkpointsSql);
    const { rows: made } = await trx.raw(
      `insert into checkpoints (name, version) values (?, ?)
       on conflict (name) do update
         set version = excluded.version, commit_position = null, prepare_position = null, last_event = null, events = 0,
           fault = null, parked = '[]'
         where checkpoints.version < excluded.version or to_regnamespace(quote_ident(excluded.name)) is null
       returning name`,
      [schema, projection.version],
    );
    if (made.length > 0) await createTables(trx, projection, schema);
    const { rows } = await trx.raw(`select ${columns} from checkpoints where name = ?`, [schema]);
    const status = statusOf(rows[0]);
    if (status.version === projection.version) await createMissingIndexes(trx, projection, schema);
    return status;
  });
}

export const checkpointsSql = sqlOf('checkpoints');

const advanceSql = sqlOf('advance-checkpoint');

/**
 * Moves the checkpoint over a batch and clears the fault; resolves to the parked streams. For the rest of the transaction,
 * names of tables are those in the schema, and plans look up each row in an index, because they are kept while the tables
 * grow. Holds the row until the transaction ends. Throws when another process has moved it since it was read, or the
 * tables now have another version: what was folded must not be written.
 */
export async function advance(
  trx: Knex.Transaction,
  { projection, schema }: { projection: Pick<Projection, 'version'>; schema: string },
  from: Position | null,
  { events, position: to, last = events.at(-1) }: Batch,
): Promise<readonly ParkedStream[]> {
  const { rows } = await prepared<{ rows: Pick<ProjectionStatus, 'parked'>[] }>(trx, advanceSql, {
    commit: to.commit.toString(),
    prepare: to.prepare.toString(),
    events: events.length,
    lastEvent: lastEventOf(last),
    schema,
    version: projection.version,
    fromCommit: from?.commit.toString() ?? null,
    fromPrepare: from?.prepare.toString() ?? null,
  });
  if (!rows[0]) throw new Error(`The checkpoint of ${schema} was moved by another process`);
  return rows[0].parked;
}

/** Records why the projection halted, for health and the console, until it moves again. */
export async function recordFault(db: Knex, schema: string, message: string): Promise<void> {
  await db.raw('update checkpoints set fault = ? where name = ?', [JSON.stringify({ message }), schema]);
}

/** In the transaction that holds the checkpoint. */
export async function saveParked(
  trx: Knex.Transaction,
  schema: string,
  parked: readonly ParkedStream[],
): Promise<void> {
  await trx.raw('set local search_path to default');
  await trx.raw('update checkpoints set parked = ? where name = ?', [JSON.stringify(parked), schema]);
}

/** The status of every projection and rebuild that ever ran. Rejects within a few seconds when Postgres is down. */
export async function projectionStatus(db: Knex): Promise<ProjectionStatus[]> {
  const query = db.raw<{ rows: StatusRow[] }>(`select ${columns} from checkpoints order by name`);
  return (await emptyIfUndefined(query.timeout(2_000))).map(statusOf);
}

/** One status, null when there is none. The checkpoint cannot move until the transaction ends. */
export async function holdCheckpoint(trx: Knex.Transaction, name: string): Promise<ProjectionStatus | null> {
  const { rows } = await trx.raw(`select ${columns} from checkpoints where name = ? for update`, [name]);
  return rows[0] ? statusOf(rows[0]) : null;
}

/** Drops tables that do not serve, and their checkpoint. Fails when readers hold them for longer than `lockTimeoutMs`. */
export async function discard(db: Knex, schema: string, lockTimeoutMs = 10_000): Promise<void> {
  await db.transaction(async (trx) => {
    await lockTables(trx);
    await trx.raw(`select set_config('lock_timeout', ?, true)`, [`${lockTimeoutMs}ms`]);
    await trx.raw(checkpointsSql);
    await trx.raw('drop schema if exists ?? cascade', [schema]);
    await trx.raw('delete from checkpoints where name = ?', [schema]);
  });
}

function lastEventOf(event: LogMark | null | undefined): string | null {
  if (!event) return null;
  const { id, position } = event;
  return JSON.stringify({ id, commit: String(position.commit), prepare: String(position.prepare) });
}

function statusOf({ commit, prepare, lastEvent, ...status }: StatusRow): ProjectionStatus {
  const position =
    commit === null || prepare === null ? null : { commit: BigInt(commit), prepare: BigInt(prepare) };
  const mark = lastEvent && {
    id: lastEvent.id,
    position: { commit: BigInt(lastEvent.commit), prepare: BigInt(lastEvent.prepare) },
  };
  return { ...status, position, lastEvent: mark };
}
