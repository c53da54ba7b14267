/**
 * How far each projection has come, and what stopped it. One row per schema of tables, moved in the very
 * transaction that writes the rows: neither can be ahead of the other.
 */
import type { Knex } from 'knex';
import type { Position } from '../../eventstore/event-store.ts';
import { emptyIfUndefined } from '../../postgres/error-codes.ts';
import type { Batch } from './batches.ts';
import type { Fault } from './failures.ts';
import type { Projection } from './projection.ts';

export type ProjectionStatus = {
  /** The projection's name, or the schema of a rebuild. */
  name: string;
  version: number;
  /** Null before the first event. */
  position: Position | null;
  updatedAt: Date;
  fault: Fault | null;
};

/** Somebody else moved the checkpoint since it was read: what was folded from it must not be written. */
export class CheckpointMoved extends Error {
  override name = 'CheckpointMoved';
}

type Row = {
  name: string;
  version: number;
  commit: string | null;
  prepare: string | null;
  updated_at: Date;
  fault: Fault | null;
};

// Positions are 64 bits wide: they travel as text, never through a number.
const columns = `name, version, commit_position::text as commit, prepare_position::text as prepare, updated_at, fault`;

/**
 * Makes the projection's schema, tables and checkpoint where they are missing or out of date; returns its status, and how
 * many events the tables have taken.
 */
export async function prepare(
  db: Knex,
  projection: Projection,
  schema: string,
): Promise<ProjectionStatus & { events: number }> {
  return await db.transaction(async (trx) => {
    await lockTables(trx);
    await makeCheckpoints(trx);
    // Tables of an older version are derived like any others: they are made again, from the first event on.
    const { rows: made } = await trx.raw(
      `insert into checkpoints (name, version) values (?, ?)
       on conflict (name) do update
         set version = excluded.version, commit_position = null, prepare_position = null, events = 0, fault = null
         where checkpoints.version < excluded.version
       returning name`,
      [schema, projection.version],
    );
    if (schema === projection.name && projection.formerName) await dropFormer(trx, projection.formerName);
    if (made.length > 0) await makeTables(trx, projection, schema);
    const { rows } = await trx.raw(`select ${columns}, events from checkpoints where name = ?`, [schema]);
    return { ...statusOf(rows[0]), events: rows[0].events };
  });
}

/**
 * Until the transaction ends, nobody else makes, swaps or drops tables: `if not exists` alone fails when two processes
 * create the same thing at the same time. Taken before any checkpoint's row.
 */
export async function lockTables(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`select pg_advisory_xact_lock(hashtextextended('checkpoints', 0))`);
}

async function makeCheckpoints(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    create table if not exists checkpoints (
      name text primary key,
      version integer not null,
      commit_position bigint,
      prepare_position bigint,
      updated_at timestamptz not null default now(),
      fault json
    )`);
  await addEventCount(trx);
}

/** To checkpoints that were made before events were counted. Asked first, because altering waits for all who read. */
async function addEventCount(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    do $$ begin
      if not exists (
        select from pg_attribute where attrelid = to_regclass('checkpoints') and attname = 'events'
      ) then
        alter table checkpoints add column events bigint not null default 0;
      end if;
    end $$`);
}

/** Only what a projection left there: a schema without a checkpoint is somebody else's. */
async function dropFormer(trx: Knex.Transaction, name: string): Promise<void> {
  const { rowCount } = await trx.raw('delete from checkpoints where name = ?', [name]);
  if (rowCount === 1) await trx.raw('drop schema if exists ?? cascade', [name]);
}

/** Made beside the old ones, which a projection may look at for what is not derived, and put in their place. */
async function makeTables(trx: Knex.Transaction, projection: Projection, schema: string): Promise<void> {
  const next = `${schema}_being_made`;
  await trx.raw('create schema ??', [next]);
  await trx.raw('set local search_path to ??', [next]);
  await projection.createTables(trx);
  await createIndexes(trx, projection);
  await trx.raw('set local search_path to default');
  await trx.raw('drop schema if exists ?? cascade', [schema]);
  await trx.raw('alter schema ?? rename to ??', [next, schema]);
}

/** Those that are missing, in the current schema. */
export async function createIndexes(trx: Knex.Transaction, { indexes = [] }: Projection): Promise<void> {
  for (const index of indexes) await trx.raw(`create index if not exists ${index}`);
}

/**
 * Moves the checkpoint over a batch and clears the fault. Holds the row until the transaction ends. Throws
 * CheckpointMoved, also when the tables are of another version by now.
 */
export async function advance(
  trx: Knex.Transaction,
  { projection, schema }: { projection: Pick<Projection, 'version'>; schema: string },
  from: Position | null,
  { events, position: to }: Batch,
): Promise<void> {
  const { rowCount } = await trx.raw(
    `update checkpoints
     set commit_position = ?, prepare_position = ?, events = events + ?, updated_at = now(), fault = null
     where name = ? and version = ?
       and commit_position is not distinct from ? and prepare_position is not distinct from ?`,
    [
      text(to.commit),
      text(to.prepare),
      events.length,
      schema,
      projection.version,
      text(from?.commit),
      text(from?.prepare),
    ],
  );
  if (rowCount !== 1) throw new CheckpointMoved(`The checkpoint of ${schema} was moved by another process`);
}

/** Keeps why the projection stands still, for health and the console, until it moves again. */
export async function recordFault(db: Knex, schema: string, fault: Fault): Promise<void> {
  await db.raw('update checkpoints set fault = ? where name = ?', [JSON.stringify(fault), schema]);
}

/** Where every projection stands; empty before the first ever ran. Rejects within a few seconds when Postgres is down. */
export async function projectionStatus(db: Knex): Promise<ProjectionStatus[]> {
  const query = db.raw<{ rows: Row[] }>(`select ${columns} from checkpoints order by name`).timeout(2_000);
  return (await emptyIfUndefined(query)).map(statusOf);
}

/** Where one checkpoint stands, null when there is none; whoever would move it waits until the transaction ends. */
export async function holdCheckpoint(trx: Knex.Transaction, name: string): Promise<ProjectionStatus | null> {
  const { rows } = await trx.raw(`select ${columns} from checkpoints where name = ? for update`, [name]);
  return rows[0] ? statusOf(rows[0]) : null;
}

/** Drops tables that do not serve, and their checkpoint. Fails when it would wait for those who read them longer than told. */
export async function discard(
  db: Knex,
  schema: string,
  { lockTimeoutMs = 10_000 }: { lockTimeoutMs?: number } = {},
): Promise<void> {
  await db.transaction(async (trx) => {
    await lockTables(trx);
    await trx.raw(`select set_config('lock_timeout', ?, true)`, [`${lockTimeoutMs}ms`]);
    await makeCheckpoints(trx);
    await trx.raw('drop schema if exists ?? cascade', [schema]);
    await trx.raw('delete from checkpoints where name = ?', [schema]);
  });
}

function statusOf({ name, version, commit, prepare, updated_at: updatedAt, fault }: Row): ProjectionStatus {
  const position =
    commit === null || prepare === null ? null : { commit: BigInt(commit), prepare: BigInt(prepare) };
  return { name, version, position, updatedAt, fault };
}

function text(position: bigint | undefined): string | null {
  return position?.toString() ?? null;
}
