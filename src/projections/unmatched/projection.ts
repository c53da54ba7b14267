/** The quarantine: a row for each gateway result that matches no payment, how staff resolved it, when it was erased. */
import { createTables, givenRows, indexesOf, type Row, upsert } from '@ledger/postgres/table.ts';
import { type Projection, ProjectionFault } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import tables from '../../../content/tables/unmatched.json' with { type: 'json' };
import { quarantineFold, unmatchedFold, unmatchedIdOf, unmatchedStream } from '../../events/unmatched.ts';

export const unmatched: Projection = {
  name: 'unmatched',
  version: 3,
  streamPrefixes: [unmatchedStream, unmatchedFold.prefix],
  createTables: (db) => createTables(db, tables.unmatched),
  indexes: indexesOf(tables.unmatched),

  async project(events, db) {
    const received = events
      .filter(({ streamName }) => streamName.startsWith(unmatchedStream))
      .map((event) => {
        const { at, channel, reason, verified } = quarantineFold.read(event).data;
        return { id: unmatchedIdOf(event), at, channel, reason, verified };
      });
    await upsert(db, tables.unmatched, received);
    const handled = events.filter(({ streamName }) => streamName.startsWith(unmatchedFold.prefix));
    const resolutions: Row<'id' | 'resolution' | 'resolved_at'>[] = [];
    const erasures: Row<'id' | 'erased_at'>[] = [];
    for (const event of handled) {
      const id = event.streamName.slice(unmatchedFold.prefix.length);
      const { type, data } = unmatchedFold.read(event);
      if (type === 'PersonalDataErased') erasures.push({ id, erased_at: data.at });
      else resolutions.push({ id, resolution: data.resolution, resolved_at: data.at });
    }
    const { resolution, resolved_at, erased_at } = tables.unmatched.moreColumns;
    await write(resolutions, { resolution, resolved_at }, db);
    await write(erasures, { erased_at }, db);
  },
};

/** What is there stays, as in the fold. */
async function write(
  rows: readonly Row<'id'>[],
  columns: Readonly<Record<string, string>>,
  db: Knex,
): Promise<void> {
  if (rows.length === 0) return;
  const values = Object.keys(columns).map((name) => `${name} = coalesce(unmatched.${name}, given.${name})`);
  const { rowCount } = await db.raw(
    `update unmatched set ${values.join(', ')} from ${givenRows({ id: 'text', ...columns })}
     where unmatched.id = given.id`,
    [JSON.stringify(rows)],
  );
  if (rowCount !== rows.length)
    throw new ProjectionFault('It concerns an unmatched result that does not exist');
}
