/** The projects, as GET /api/v1/projects lists them. */
import { evolveProject, projectStreamPrefix } from '../events/project.ts';
import { readProjectEvent } from '../events/recorded.ts';
import { catalogue } from './catalogue.ts';

export const projects = catalogue({
  name: 'projects',
  streamPrefix: projectStreamPrefix,
  begin: (event) => evolveProject(null, readProjectEvent(event)),
});
