/** What auditors ask of the looks that were recorded. */
import type { Knex } from 'knex';
import type { LookedAt } from '../../events/session.ts';
import { findable } from '../../postgres/indexable.ts';
import { looks } from './projection.ts';

export type RecordedLook = {
  /** In the log, as text: it is 64 bits wide. */
  position: string;
  at: Date;
  userId: string;
  what: LookedAt;
  transactionId: string | null;
  detail: string;
};

const columns = ['at', 'what', 'detail', { userId: 'user_id', transactionId: 'transaction_id' }] as const;

/** The newest first; those before the position `before`, which is text. Rejects when Postgres is down. */
export async function listLooks(
  db: Knex,
  { userId, transactionId }: { userId: string | null; transactionId: string | null },
  { limit, before }: { limit: number; before: string | null },
): Promise<RecordedLook[]> {
  const query = db
    .withSchema(looks.name)
    .from('looks')
    .select(...columns, db.raw('position::text as position'))
    .orderBy('looks.position', 'desc')
    .limit(limit)
    .timeout(5_000);
  if (userId !== null) query.where('user_id', findable(userId));
  if (transactionId !== null) query.where('transaction_id', findable(transactionId));
  if (before !== null) query.where('looks.position', '<', before);
  return await query;
}
