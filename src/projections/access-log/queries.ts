/** The access log as auditors read it. */
import { matching } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { AccessKind } from '../../events/session.ts';
import { accessLog } from './projection.ts';

export type AccessLogEntry = {
  at: Date;
  userId: string;
  what: AccessKind;
  transactionId: string | null;
  detail: string;
};

/** All entries of a user and about a payment; null for any. */
export function accessesOf(db: Knex, user: string | null, payment: string | null): Knex.QueryBuilder {
  const query = db(`${accessLog.name}.access_log`);
  matching(query, { user_id: user, transaction_id: payment });
  return query;
}
