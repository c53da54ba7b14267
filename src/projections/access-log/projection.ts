/** The access log: one row for each time that staff saw personal data, as their sessions record it. */
import { readSessionEvent } from '../../events/codec.ts';
import { sessionStreamPrefix } from '../../events/session.ts';
import { createTables, indexable, type Table, upsert } from '../../postgres/table.ts';
import type { Projection } from '../runtime/projection.ts';

const table = {
  name: 'access_log',
  columns: {
    position: 'bigint',
    at: 'timestamptz not null',
    user_id: 'text not null',
    what: 'text not null',
    transaction_id: 'text',
    detail: 'text not null',
  },
  primaryKey: ['position'],
} satisfies Table;

export const accessLog: Projection = {
  name: 'access_log',
  formerName: 'looks',
  version: 1,
  streamPrefixes: [sessionStreamPrefix],
  createTables: (db) => createTables(db, table),
  indexes: [
    'access_log_by_user on access_log (user_id, position)',
    'access_log_by_payment on access_log (transaction_id, position)',
  ],

  async project(events, db) {
    const rows = events.flatMap((event) => {
      const { type, data } = readSessionEvent(event);
      if (type !== 'PersonalDataViewed') return [];
      return [
        {
          position: event.position.commit.toString(),
          at: data.at,
          user_id: data.userId,
          what: data.what,
          transaction_id: data.transactionId,
          detail: indexable(data.detail),
        },
      ];
    });
    await upsert(db, table, rows);
  },
};
