/** The projects, as GET /api/v1/projects lists them. */
import { readProjectEvent } from '../../events/codec.ts';
import { evolveProject, type Project, projectStreamPrefix } from '../../events/project.ts';
import { listProjection } from '../runtime/list-projection.ts';

export const projects = listProjection({
  name: 'projects',
  version: 3,
  streamPrefix: projectStreamPrefix,
  evolve: (state: Project | null, event) => evolveProject(state, readProjectEvent(event)),
});
