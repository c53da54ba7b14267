/** A projection that forgives nothing: an event taken twice is two rows, one left out is none. */
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';

export const eventCounts: Projection = {
  name: 'event_counts',
  version: 1,
  streamPrefixes: ['payment-'],
  async createTables(db) {
    await db.raw('create table seen (stream text not null, revision integer not null)');
  },
  async project(events, db) {
    const rows = events.map(({ streamName, revision }) => ({ stream: streamName, revision }));
    await db.raw(
      'insert into seen select * from jsonb_to_recordset(?::jsonb) as row (stream text, revision integer)',
      [JSON.stringify(rows)],
    );
  },
};

/** What it has seen, `<stream> <revision>`, in order. */
export async function seen(db: Knex): Promise<string[]> {
  const rows = await db.withSchema('event_counts').from('seen').orderBy(['stream', 'revision']);
  return rows.map(({ stream, revision }) => `${stream} ${revision}`);
}
