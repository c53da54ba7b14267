/** Tables that were left behind when a rebuild or a comparison was interrupted. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { emptyIfUndefined, isPostgresError } from '@ledger/postgres/error-codes.ts';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import type { Knex } from 'knex';
import { discard } from '../runtime/checkpoints.ts';
import type { Projection } from '../runtime/projection.ts';
import { comparedSchema } from './compare.ts';
import { retiredSchema } from './cutover.ts';
import { rebuildSchema } from './progress.ts';

/**
 * Drops them, because no erasure reaches them while they are not fed. Those of work that is under way are left alone,
 * and so are those that took events since `unlessSince`, from which a rebuild can continue. Resolves to false if some are
 * left because only the account of the projections role may drop them. Throws the database's error.
 */
export async function dropLeftovers(
  projections: readonly Pick<Projection, 'name'>[],
  {
    db,
    unlessSince = null,
    ...lock
  }: { db: Knex; databaseUrl: string; unlessSince?: Date | null; signal: AbortSignal; runtime: Runtime },
): Promise<boolean> {
  const locks = new Map(
    projections.flatMap(({ name }) => [
      [rebuildSchema(name), rebuildSchema(name)],
      [retiredSchema({ name }), rebuildSchema(name)],
      [comparedSchema(name), comparedSchema(name)],
    ]),
  );
  const found = await emptyIfUndefined<{ schema: string }>(
    db.raw(
      `select nspname as schema from pg_namespace left join checkpoints on name = nspname
       where nspname = any(?) and (updated_at is null or updated_at < coalesce(?, 'infinity'::timestamptz))`,
      [[...locks.keys()], unlessSince],
    ),
  );
  let isClean = true;
  for (const { schema } of found)
    await leadNow({ ...lock, name: locks.get(schema) ?? schema }, () =>
      discard(db, schema).catch((error: unknown) => {
        if (!isPostgresError(error, 'insufficientPrivilege')) throw error;
        isClean = false;
      }),
    );
  return isClean;
}
