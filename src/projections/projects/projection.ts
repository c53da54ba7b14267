/** The projects, as GET /api/v1/projects lists them. */
import { listProjection } from '@ledger/projections/runtime/list-projection.ts';
import { projectFold } from '../../events/project.ts';

export const projects = listProjection({ name: 'projects', version: 3, fold: projectFold });
