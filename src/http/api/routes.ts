/** /api/v1, the content service's own interface: one file per endpoint in this folder. */
import type Router from '@koa/router';
import { NewUser } from '../../commands/user.ts';
import { jsonBody, validate } from '../server/body.ts';
import type { RequestState } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createApiKeyCheck } from './authenticate.ts';
import { Project, presentUser, User } from './bodies.ts';
import { createCreateUser } from './create-user.ts';
import { createHealth } from './health.ts';
import { createList } from './list.ts';
import { createShowUser } from './show-user.ts';

export function addApiRoutes(router: Router<RequestState>, dependencies: Dependencies): void {
  const { config, projects, users } = dependencies;
  const checkKey = createApiKeyCheck(config.apiKeys);
  const listUsers = createList(dependencies, users, User, presentUser);
  const listProjects = createList(dependencies, projects, Project, (project) => project);

  router.get('/api/v1/health', createHealth(dependencies));
  router.get('/api/v1/users', checkKey, listUsers);
  router.post('/api/v1/users', checkKey, jsonBody, validate(NewUser), createCreateUser(dependencies));
  router.get('/api/v1/users/:id', checkKey, createShowUser(dependencies));
  router.get('/api/v1/projects', checkKey, listProjects);
}
