/** The projects, as GET /api/v1/projects lists them. */
import { listProjection } from '@ledger/projections/runtime/list-projection.ts';
import { type Project, projectFold } from '../../events/project.ts';

export const projects = listProjection({
  name: 'projects',
  version: 3,
  streamPrefix: projectFold.prefix,
  evolve: (state: Project | null, event) => projectFold.evolve(state, projectFold.read(event)),
});
