/** Who looked at what of people, a row for each look that staff's sessions record. Asked through looks-queries.ts. */
import { readSessionEvent } from '../../events/codec.ts';
import { sessionStreamPrefix } from '../../events/session.ts';
import { indexable } from '../../postgres/indexable.ts';
import type { Projection } from '../runtime/projection.ts';

export const looks: Projection = {
  name: 'looks',
  version: 1,
  streamPrefixes: [sessionStreamPrefix],

  async createTables(db) {
    await db.raw(`
      create table looks (
        position bigint primary key,
        at timestamptz not null,
        user_id text not null,
        what text not null,
        transaction_id text,
        detail text not null
      )`);
    await db.raw('create index looks_by_user on looks (user_id, position)');
    await db.raw('create index looks_by_payment on looks (transaction_id, position)');
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
      `insert into looks select * from json_to_recordset(?) as added (
         position bigint, at timestamptz, user_id text, what text, transaction_id text, detail text
       )
       on conflict (position) do nothing`,
      [JSON.stringify(rows)],
    );
  },
};
