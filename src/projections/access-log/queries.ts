/** The access log as auditors read it. */
import { matching } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { AccessKind } from '../../events/session.ts';
import { accessLog } from './projection.ts';

type AccessLogEntry = {
  /** The position in the log, as text because it has 64 bits. */
  position: string;
  at: Date;
  userId: string;
  what: AccessKind;
  transactionId: string | null;
  detail: string;
};

/** Newest first, from before the position `before`. Rejects when Postgres is down. */
export async function listAccessLog(
  db: Knex,
  { userId, transactionId }: { userId: string | null; transactionId: string | null },
  { limit, before }: { limit: number; before: string | null },
): Promise<AccessLogEntry[]> {
  const query = db
    .withSchema(accessLog.name)
    .from('access_log')
    .select('at', 'what', 'detail', { userId: 'user_id', transactionId: 'transaction_id' })
    .select(db.raw('position::text as position'))
    .orderBy('access_log.position', 'desc')
    .limit(limit)
    .timeout(5_000);
  matching(query, { user_id: userId, transaction_id: transactionId });
  if (before !== null) query.where('access_log.position', '<', before);
  return await query;
}
