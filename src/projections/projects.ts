/** The projects, as GET /api/v1/projects lists them. */
import { evolveProject, type Project, projectStreamPrefix } from '../events/project.ts';
import { readProjectEvent } from '../events/recorded.ts';
import { catalogue } from './catalogue.ts';

export const projects = catalogue({
  name: 'projects',
  version: 2,
  streamPrefix: projectStreamPrefix,
  evolve: (state: Project | null, event) => evolveProject(state, readProjectEvent(event)),
});
