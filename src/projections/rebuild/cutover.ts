/**
 * Replaces the serving tables by shadow tables, in one transaction: readers always see either the old tables or the new
 * ones.
 */
import type { Knex } from 'knex';
import { isAfter } from '../../eventstore/position.ts';
import { retry } from '../../kernel/retry.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { isPostgresError } from '../../postgres/error-codes.ts';
import { discard, holdCheckpoint, lockTables } from '../runtime/checkpoints.ts';
import type { Projection } from '../runtime/projection.ts';
import type { ShadowTables } from './shadow-tables.ts';

/** The serving tables have changed, so the shadow tables no longer match them and must be made again. */
export class ShadowTablesOutdated extends Error {
  override name = 'ShadowTablesOutdated';
}

/** Where the replaced tables stay until nobody reads them any more. */
export const retiredSchema = ({ name }: Pick<Projection, 'name'>) => `${name}_old`;

/**
 * Holds the runner of the serving tables, feeds the shadow tables up to its position, and lets it continue on them.
 * They must not be far behind, because the runner waits. Throws ShadowTablesOutdated.
 */
export async function cutOver(
  db: Knex,
  { projection, shadow, schema }: { projection: Projection; shadow: ShadowTables; schema: string },
): Promise<void> {
  const { name } = projection;
  await db.transaction(async (trx) => {
    // The runner is waiting, so starting again is better than a long wait for a lock.
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
    // Updates the row in place, so that a runner that waits for it finds its checkpoint and continues.
    await trx.raw(
      `insert into checkpoints (name, version, commit_position, prepare_position, last_event, events, parked)
       select ?, version, commit_position, prepare_position, last_event, events, parked from checkpoints where name = ?
       on conflict (name) do update set
         version = excluded.version, commit_position = excluded.commit_position,
         prepare_position = excluded.prepare_position, last_event = excluded.last_event, events = excluded.events,
         parked = excluded.parked, updated_at = now(), fault = null`,
      [name, schema],
    );
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
  const { rows } = await trx.raw<{ rows: { statement: string }[] }>(grantStatements, { from, to });
  for (const { statement } of rows) await trx.raw(statement.replaceAll('?', '\\?'));
}

// The owner needs no grant. Privileges on columns name the column.
const grantStatements = `
  select format('grant %s%s on %s to %s%s',
    privilege.privilege_type,
    case when attname is not null then format(' (%I)', attname) else '' end,
    case when relname is null then format('schema %I', cast(:to as text)) else format('%I.%I', cast(:to as text), relname) end,
    case privilege.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(privilege.grantee)) end,
    case when privilege.is_grantable then ' with grant option' else '' end
  ) as statement
  from (
    select cast(null as name) as relname, cast(null as name) as attname, nspacl as acl, nspowner as owner
    from pg_namespace where nspname = :from
    union all
    select relname, null, relacl, relowner
    from pg_class where relnamespace = to_regnamespace(:from) and relkind in ('r', 'p', 'v', 'm')
      and exists (
        select from pg_class twin where twin.relnamespace = to_regnamespace(:to) and twin.relname = pg_class.relname
      )
    union all
    select relname, attname, attacl, relowner
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = to_regnamespace(:from) and attacl is not null and not attisdropped
      and exists (
        select from pg_attribute twin join pg_class table_of_twin on table_of_twin.oid = twin.attrelid
        where table_of_twin.relnamespace = to_regnamespace(:to)
          and table_of_twin.relname = pg_class.relname and twin.attname = pg_attribute.attname
      )
  ) granted, aclexplode(granted.acl) privilege
  where privilege.grantee <> granted.owner`;
