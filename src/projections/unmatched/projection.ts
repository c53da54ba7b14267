/** The quarantine: gateway results that match no payment, a row each, with how staff resolved them and when they were erased. */
import type { Knex } from 'knex';
import { readUnmatchedEvent, readUnmatchedResult } from '../../events/codec.ts';
import { unmatchedIdOf, unmatchedStream, unmatchedStreamPrefix } from '../../events/unmatched.ts';
import { createTables, givenRows, type Row, type Table, upsert } from '../../postgres/table.ts';
import { type Projection, ProjectionFault } from '../runtime/projection.ts';

const resultColumns = {
  id: 'text',
  at: 'timestamptz not null',
  channel: 'text not null',
  reason: 'text not null',
  verified: 'boolean not null',
};
const resolutionColumns = { resolution: 'text', resolved_at: 'timestamptz' };
const erasureColumns = { erased_at: 'timestamptz' };
const results: Table = { name: 'unmatched', columns: resultColumns, primaryKey: ['id'] };

export const unmatched: Projection = {
  name: 'unmatched',
  version: 3,
  streamPrefixes: [unmatchedStream, unmatchedStreamPrefix],
  createTables: (db) =>
    createTables(db, { ...results, columns: { ...resultColumns, ...resolutionColumns, ...erasureColumns } }),
  indexes: ['unmatched_open on unmatched (at) where resolved_at is null'],

  async project(events, db) {
    const received = events
      .filter(({ streamName }) => streamName.startsWith(unmatchedStream))
      .map((event) => {
        const { at, channel, reason, verified } = readUnmatchedResult(event).data;
        return { id: unmatchedIdOf(event), at, channel, reason, verified };
      });
    await upsert(db, results, received);
    const handled = events.filter(({ streamName }) => streamName.startsWith(unmatchedStreamPrefix));
    const resolutions: Row<keyof typeof resolutionColumns | 'id'>[] = [];
    const erasures: Row<keyof typeof erasureColumns | 'id'>[] = [];
    for (const event of handled) {
      const id = event.streamName.slice(unmatchedStreamPrefix.length);
      const { type, data } = readUnmatchedEvent(event);
      if (type === 'PersonalDataErased') erasures.push({ id, erased_at: data.at });
      else resolutions.push({ id, resolution: data.resolution, resolved_at: data.at });
    }
    await write(resolutions, resolutionColumns, db);
    await write(erasures, erasureColumns, db);
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
