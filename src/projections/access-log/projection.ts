/** The access log: one row for each time that staff saw personal data, as their sessions record it. */
import { createTables, indexable, indexesOf, upsert } from '@ledger/postgres/table.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import tables from '../../../content/tables/access-log.json' with { type: 'json' };
import { sessionFold } from '../../events/session.ts';

export const accessLog: Projection = {
  name: 'access_log',
  version: 1,
  streamPrefixes: [sessionFold.prefix],
  createTables: (db) => createTables(db, tables.accessLog),
  indexes: indexesOf(tables.accessLog),

  async project(events, db) {
    const rows = events.flatMap((event) => {
      const { type, data } = sessionFold.read(event);
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
    await upsert(db, tables.accessLog, rows);
  },
};
