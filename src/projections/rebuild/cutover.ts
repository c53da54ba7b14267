/**
 * Puts shadow tables in the place of those that serve, in one transaction: readers see the old ones or the new ones, and
 * always one of them.
 */
import type { Knex } from 'knex';
import { isAfter } from '../../eventstore/position.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { isPostgresError } from '../../postgres/error-codes.ts';
import { discard, holdCheckpoint, lockTables } from '../runtime/checkpoints.ts';
import type { Projection } from '../runtime/projection.ts';
import { copyGrants } from './grants.ts';
import type { ShadowTables } from './shadow-tables.ts';

/** The serving tables have changed, so that the shadow tables are not like them any more and must be made again. */
export class ShadowTablesOutdated extends Error {
  override name = 'ShadowTablesOutdated';
}

/** Where the tables that served before stay until nobody reads them any more. */
const retiredSchema = ({ name }: Pick<Projection, 'name'>) => `${name}_old`;

/**
 * Holds the runner of the serving tables, feeds the shadow tables up to where it stands, and lets it continue on them.
 * They must not be far behind, since the runner waits. Throws ShadowTablesOutdated.
 */
export async function cutOver(
  db: Knex,
  { projection, shadow, schema }: { projection: Projection; shadow: ShadowTables; schema: string },
): Promise<void> {
  const { name } = projection;
  await db.transaction(async (trx) => {
    // The runner waits for us meanwhile: better to begin again.
    await trx.raw(`set local lock_timeout = '5s'`);
    await lockTables(trx);
    const serving = await holdCheckpoint(trx, name);
    if (serving?.position && isAfter(serving.position, shadow.position()))
      await shadow.feed(serving.position);
    const { rows } = await trx.raw('select to_regnamespace(?) is not null as exists', [name]);
    if (rows[0].exists) {
      await trx.raw('set local search_path to ??', [schema]);
      const isSameVersion = serving?.version === projection.version;
      if (projection.carryOver && !(await projection.carryOver(trx, { schema: name, isSameVersion })))
        throw new ShadowTablesOutdated(`The tables of ${name} have changed`);
      await trx.raw('set local search_path to default');
      await copyGrants(trx, name, schema);
      await trx.raw('alter schema ?? rename to ??', [name, retiredSchema(projection)]);
    }
    await trx.raw('alter schema ?? rename to ??', [schema, name]);
    // In place: a runner that waits for the row finds it where it left it, and continues.
    await trx.raw(
      `insert into checkpoints (name, version, commit_position, prepare_position, events)
       select ?, version, commit_position, prepare_position, events from checkpoints where name = ?
       on conflict (name) do update set
         version = excluded.version, commit_position = excluded.commit_position,
         prepare_position = excluded.prepare_position, events = excluded.events, updated_at = now(), fault = null`,
      [name, schema],
    );
    await trx.raw('delete from checkpoints where name = ?', [schema]);
  });
}

const retryMs = 500;

/**
 * Drops the tables that served before, as soon as nobody reads them any more. Never waits for a lock for long: readers of
 * several tables could wait for each other through it. Stops trying when the signal aborts.
 */
export async function dropRetired(
  db: Knex,
  {
    projection,
    runtime,
    signal,
  }: { projection: Projection; runtime: Pick<Runtime, 'sleep'>; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await discard(db, retiredSchema(projection), { lockTimeoutMs: 300 });
      return;
    } catch (error) {
      if (!isPostgresError(error, 'lockNotAvailable')) throw error;
      await runtime.sleep(retryMs, signal);
    }
  }
}
