/** The projects, as GET /api/v1/projects lists them. */
import { listProjection } from '@ledger/projections/runtime/list-projection.ts';
import { readProjectEvent } from '../../events/codec.ts';
import { evolveProject, type Project, projectStreamPrefix } from '../../events/project.ts';

export const projects = listProjection({
  name: 'projects',
  version: 3,
  streamPrefix: projectStreamPrefix,
  evolve: (state: Project | null, event) => evolveProject(state, readProjectEvent(event)),
});
