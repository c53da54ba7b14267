/**
 * Replaces the serving tables by shadow tables, in one transaction: readers always see either the old tables or the new
 * ones.
 */
import { isAfter } from '@ledger/event-store/position.ts';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { emptyIfUndefined, isPostgresError } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';
import { discard, holdCheckpoint } from '../runtime/checkpoints.ts';
import type { Projection } from '../runtime/projection.ts';
import { lockTables } from '../runtime/tables.ts';
import { sqlOf } from '../sql.ts';
import type { ShadowTables } from './shadow-tables.ts';

/** The serving tables have changed, so the shadow tables no longer match them and must be made again. */
export class ShadowTablesOutdated extends Error {
  override name = 'ShadowTablesOutdated';
}

/** Where the replaced tables stay until nobody reads them any more. */
export const retiredSchema = ({ name }: Pick<Projection, 'name'>) => `${name}_old`;

/** The rebuild that made the serving tables, and the request for it; kept with their checkpoint. */
type LastRebuild = { request: string | null; durationMs: number; events: number };

/** Null if no rebuild has made them. */
export async function lastRebuild(db: Knex, { name }: Pick<Projection, 'name'>): Promise<LastRebuild | null> {
  const query = `select to_json(checkpoints) -> 'rebuilt' as rebuilt from checkpoints where name = ?`;
  const [row] = await emptyIfUndefined<{ rebuilt: LastRebuild | null }>(db.raw(query, [name]));
  return row?.rebuilt ?? null;
}

type Cutover = { projection: Projection; shadow: ShadowTables; schema: string } & Omit<LastRebuild, 'events'>;

/**
 * Holds the runner of the serving tables, feeds the shadow tables up to its position, and lets it continue on them.
 * They must not be far behind, because the runner waits. Throws ShadowTablesOutdated.
 */
export async function cutOver(db: Knex, { projection, shadow, schema, ...made }: Cutover): Promise<void> {
  const { name } = projection;
  await db.transaction(async (trx) => {
    // The runner is waiting, so starting again is better than a long wait for a lock.
    await trx.raw(`set local lock_timeout = '5s'`);
    await lockTables(trx);
    const serving = await holdCheckpoint(trx, name);
    if (serving?.position && isAfter(serving.position, shadow.position()))
      await shadow.feed(serving.position);
    const fed = await holdCheckpoint(trx, schema);
    if (!fed || isAfter(shadow.position(), fed.position))
      throw new Error(
        `The tables in ${schema} were begun anew by another process, while this one stood still`,
      );
    const { rows } = await trx.raw('select to_regnamespace(?) is not null as exists', [name]);
    if (rows[0].exists) {
      await trx.raw('set local search_path to ??', [schema]);
      if ((await projection.stillMatches?.(trx, name)) === false)
        throw new ShadowTablesOutdated(`The tables of ${name} have changed`);
      await trx.raw('set local search_path to default');
      await copyGrants(trx, name, schema);
      await trx.raw('alter schema ?? rename to ??', [name, retiredSchema(projection)]);
    }
    await trx.raw('alter schema ?? rename to ??', [schema, name]);
    const rebuilt = JSON.stringify({ ...made, events: shadow.events() } satisfies LastRebuild);
    await trx.raw(sqlOf('cut-over-checkpoint'), { name, schema, rebuilt });
    await trx.raw('delete from checkpoints where name = ?', [schema]);
  });
}

/**
 * Drops the replaced tables as soon as nobody reads them any more. Each wait for a lock is short, because a longer one
 * could deadlock readers of several tables. Throws the signal's reason if it aborts first.
 */
export async function dropRetired(
  db: Knex,
  { projection, runtime, signal }: { projection: Projection; runtime: Runtime; signal: AbortSignal },
): Promise<void> {
  await retry(() => discard(db, retiredSchema(projection), 300), {
    runtime,
    signal,
    firstMs: 500,
    longestMs: 500,
    shouldRetry: (error) => isPostgresError(error, 'lockNotAvailable'),
  });
}

/** Copies the grants on a schema, its tables and columns to another schema, so that a rebuild locks no readers out. */
async function copyGrants(trx: Knex.Transaction, from: string, to: string): Promise<void> {
  const { rows } = await trx.raw<{ rows: { statement: string }[] }>(sqlOf('copied-grants'), { from, to });
  for (const { statement } of rows) await trx.raw(statement.replaceAll('?', '\\?'));
}
