/** The gateway results that no payment took, a row each, with what staff said of them. What was received stays in the stream. */
import { readUnmatchedEvent, readUnmatchedResult } from '../../events/codec.ts';
import { unmatchedStream, unmatchedStreamPrefix } from '../../events/unmatched.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { type Projection, ProjectionFault } from '../runtime/projection.ts';

export const unmatched: Projection = {
  name: 'unmatched',
  version: 1,
  streamPrefixes: [unmatchedStream, unmatchedStreamPrefix],

  async createTables(db) {
    await db.raw(`
      create table unmatched (
        revision integer primary key,
        at timestamptz not null,
        channel text not null,
        reason text not null,
        verified boolean not null,
        resolution text,
        resolved_at timestamptz
      )`);
    await db.raw('create index unmatched_open on unmatched (at) where resolved_at is null');
  },

  async project(events, db) {
    const results = events.filter(({ streamName }) => streamName === unmatchedStream).map(resultRow);
    if (results.length > 0) await db.raw(insertResults, [JSON.stringify(results)]);
    const resolutions = events
      .filter(({ streamName, revision }) => streamName.startsWith(unmatchedStreamPrefix) && revision === 0)
      .map(resolutionRow);
    if (resolutions.length === 0) return;
    const { rowCount } = await db.raw(writeResolutions, [JSON.stringify(resolutions)]);
    if (rowCount !== resolutions.length)
      throw new ProjectionFault('It resolves an unmatched result that there is not');
  },
};

function resultRow(event: RecordedEvent) {
  const { at, channel, reason, verified } = readUnmatchedResult(event).data;
  return { revision: event.revision, at, channel, reason, verified };
}

function resolutionRow(event: RecordedEvent) {
  const { revision, at, resolution } = readUnmatchedEvent(event).data;
  return { revision, resolution, resolved_at: at };
}

const insertResults = `
  insert into unmatched (revision, at, channel, reason, verified)
  select revision, at, channel, reason, verified
  from json_to_recordset(?) as added (revision integer, at timestamptz, channel text, reason text, verified boolean)
  on conflict (revision) do nothing`;

const writeResolutions = `
  update unmatched set resolution = said.resolution, resolved_at = said.resolved_at
  from json_to_recordset(?) as said (revision integer, resolution text, resolved_at timestamptz)
  where unmatched.revision = said.revision`;
