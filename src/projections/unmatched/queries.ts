/** Queries on the projection `unmatched`. */
import { unlessUndefined } from '@ledger/postgres/error-codes.ts';
import type { Knex } from 'knex';
import { unmatched } from './projection.ts';

/**
 * Ids of at most `limit` results of which nothing was erased yet, in order, from after the id `after`. With `before`, only
 * those that were received before that time and that staff have resolved. A row may be behind its stream.
 */
export async function findUnmatchedHolding(
  db: Knex,
  { before, after, limit }: { before: Date | null; after: string; limit: number },
): Promise<string[]> {
  const query = db(`${unmatched.name}.unmatched`).whereNull('erased_at').limit(limit);
  if (before) query.where('at', '<', before).whereNotNull('resolved_at');
  query.whereRaw('id collate "C" > ?', [after]).orderByRaw('id collate "C"');
  return await unlessUndefined(query.pluck('id').timeout(10_000), []);
}
