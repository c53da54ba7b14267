/** The access log: a row for each time that staff saw personal data, as their sessions record it. */
import { readSessionEvent } from '../../events/codec.ts';
import { sessionStreamPrefix } from '../../events/session.ts';
import { indexable } from '../../postgres/indexable.ts';
import type { Projection } from '../runtime/projection.ts';

export const accessLog: Projection = {
  name: 'access_log',
  formerName: 'looks',
  version: 1,
  streamPrefixes: [sessionStreamPrefix],

  async createTables(db) {
    await db.raw(`
      create table access_log (
        position bigint primary key,
        at timestamptz not null,
        user_id text not null,
        what text not null,
        transaction_id text,
        detail text not null
      )`);
    await db.raw('create index access_log_by_user on access_log (user_id, position)');
    await db.raw('create index access_log_by_payment on access_log (transaction_id, position)');
  },

  async project(events, db) {
    const rows = events.flatMap((event) => {
      const read = readSessionEvent(event);
      if (read.type !== 'PersonalDataViewed') return [];
      const { at, userId, what, transactionId, detail } = read.data;
      return {
        position: event.position.commit.toString(),
        at,
        user_id: userId,
        what,
        transaction_id: transactionId,
        detail: indexable(detail),
      };
    });
    if (rows.length === 0) return;
    await db.raw(
      `insert into access_log select * from json_to_recordset(?) as added (
         position bigint, at timestamptz, user_id text, what text, transaction_id text, detail text
       )
       on conflict (position) do nothing`,
      [JSON.stringify(rows)],
    );
  },
};
