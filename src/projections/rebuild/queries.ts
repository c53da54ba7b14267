/** How far the rebuilds are, whichever process runs them. */
import type { Knex } from 'knex';
import { type ProjectionStatus, projectionStatus } from '../runtime/checkpoints.ts';

const suffix = '_rebuild';

/** Where the new tables of a projection are made. */
export const rebuildSchema = (name: string) => `${name}${suffix}`;

/** A rebuild under its projection's name. */
export type RebuildStanding = Pick<ProjectionStatus, 'name' | 'events' | 'position'>;

/** Rebuilds that are under way or were interrupted. Rejects within a few seconds when Postgres is down. */
export async function rebuildStandings(db: Knex): Promise<RebuildStanding[]> {
  const rebuilds = (await projectionStatus(db)).filter(({ name }) => name.endsWith(suffix));
  return rebuilds.map((status) => ({ ...status, name: status.name.slice(0, -suffix.length) }));
}
