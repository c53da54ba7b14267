/** The access log as auditors read it. */
import { matching } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { SessionEvent } from '../../events/session.ts';
import { accessLog } from './projection.ts';

type Viewed = Extract<SessionEvent, { type: 'PersonalDataViewed' }>['data'];
export type AccessLogEntry = Omit<Viewed, 'at'> & { at: Date };

/** All entries of a user and about a payment; null for any. */
export function accessesOf(db: Knex, user: string | null, payment: string | null): Knex.QueryBuilder {
  const query = db(`${accessLog.name}.access_log`);
  matching(query, { user_id: user, transaction_id: payment });
  return query;
}
