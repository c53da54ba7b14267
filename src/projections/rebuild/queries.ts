/** How far the rebuilds are, whoever runs them: it stands in the checkpoints of the copies. */
import type { Knex } from 'knex';
import type { Position } from '../../eventstore/event-store.ts';
import { emptyIfUndefined } from '../../postgres/error-codes.ts';

export type RebuildStanding = {
  /** The projection. */
  name: string;
  events: number;
  position: Position | null;
};

const suffix = '_rebuild';
/** The copies that there are, under way or left by an interrupted rebuild. Rejects within a few seconds when Postgres is down. */
export async function rebuildStandings(db: Knex): Promise<RebuildStanding[]> {
  const query = db.raw<{ rows: Row[] }>(
    `select left(name, ?) as name, events, commit_position::text as commit, prepare_position::text as prepare
     from checkpoints where right(name, ?) = ?`,
    [-suffix.length, suffix.length, suffix],
  );
  const rows = await emptyIfUndefined(query.timeout(2_000));
  return rows.map(({ name, events, commit, prepare }) => ({
    name,
    events,
    position:
      commit === null || prepare === null ? null : { commit: BigInt(commit), prepare: BigInt(prepare) },
  }));
}

type Row = { name: string; events: number; commit: string | null; prepare: string | null };
