/** How far the rebuilds are, whoever runs them: it stands in the checkpoints of the copies. */
import type { Knex } from 'knex';
import type { Position } from '../../eventstore/event-store.ts';

export type RebuildStanding = {
  /** The projection. */
  name: string;
  events: number;
  position: Position | null;
};

const suffix = '_rebuild';
/** The table, or the count of events in it, is not made before a projection first runs. */
const notMadeYet = ['42P01', '42703'];

/** The copies that there are, under way or left by an interrupted rebuild. Rejects within a few seconds when Postgres is down. */
export async function rebuildStandings(db: Knex): Promise<RebuildStanding[]> {
  try {
    const { rows } = await db
      .raw(
        `select left(name, ?) as name, events, commit_position::text as commit, prepare_position::text as prepare
         from checkpoints where right(name, ?) = ?`,
        [-suffix.length, suffix.length, suffix],
      )
      .timeout(2_000);
    return rows.map(
      ({
        name,
        events,
        commit,
        prepare,
      }: Record<'name' | 'commit' | 'prepare', string> & { events: number }) => ({
        name,
        events,
        position: commit === null ? null : { commit: BigInt(commit), prepare: BigInt(prepare) },
      }),
    );
  } catch (error) {
    if (error instanceof Error && notMadeYet.includes(Reflect.get(error, 'code'))) return [];
    throw error;
  }
}
