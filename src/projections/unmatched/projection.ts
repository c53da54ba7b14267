/** The quarantine: gateway results that match no payment, a row each, with how staff resolved them. */
import { readUnmatchedEvent, readUnmatchedResult } from '../../events/codec.ts';
import { unmatchedIdOf, unmatchedStream, unmatchedStreamPrefix } from '../../events/unmatched.ts';
import { createTables, givenRows, type Table, upsert } from '../../postgres/table.ts';
import { type Projection, ProjectionFault } from '../runtime/projection.ts';

const resultColumns = {
  id: 'text',
  at: 'timestamptz not null',
  channel: 'text not null',
  reason: 'text not null',
  verified: 'boolean not null',
};
const resolutionColumns = { resolution: 'text', resolved_at: 'timestamptz' };
const results: Table = { name: 'unmatched', columns: resultColumns, primaryKey: ['id'] };

export const unmatched: Projection = {
  name: 'unmatched',
  version: 2,
  streamPrefixes: [unmatchedStream, unmatchedStreamPrefix],
  createTables: (db) => createTables(db, { ...results, columns: { ...resultColumns, ...resolutionColumns } }),
  indexes: ['unmatched_open on unmatched (at) where resolved_at is null'],

  async project(events, db) {
    const received = events
      .filter(({ streamName }) => streamName.startsWith(unmatchedStream))
      .map((event) => {
        const { at, channel, reason, verified } = readUnmatchedResult(event).data;
        return { id: unmatchedIdOf(event), at, channel, reason, verified };
      });
    await upsert(db, results, received);
    const resolutions = events
      .filter(({ streamName, revision }) => streamName.startsWith(unmatchedStreamPrefix) && revision === 0)
      .map((event) => {
        const { at, resolution } = readUnmatchedEvent(event).data;
        const id = event.streamName.slice(unmatchedStreamPrefix.length);
        return { id, resolution, resolved_at: at };
      });
    if (resolutions.length === 0) return;
    const { rowCount } = await db.raw(writeResolutions, [JSON.stringify(resolutions)]);
    if (rowCount !== resolutions.length)
      throw new ProjectionFault('It resolves an unmatched result that does not exist');
  },
};

const writeResolutions = `
  update unmatched set resolution = given.resolution, resolved_at = given.resolved_at
  from ${givenRows({ id: 'text', ...resolutionColumns })}
  where unmatched.id = given.id`;
