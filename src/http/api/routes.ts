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
  const { config, content, eventStore, heads, log, runtime } = dependencies;
  const { baseUrl } = config;
  const { users, projects } = content;
  const checkKey = createApiKeyCheck(config.apiKeys);
  const listUsers = createList({ entries: users, struct: User, present: presentUser, baseUrl, log });
  const listProjects = createList({
    entries: projects,
    struct: Project,
    present: (project) => project,
    baseUrl,
    log,
  });

  const createUser = createCreateUser({ config, users, executeUser: content.executeUser, log, runtime });

  router.get('/api/v1/health', createHealth({ ...content, eventStore, log, runtime }));
  router.get('/api/v1/users', checkKey, listUsers);
  router.post('/api/v1/users', checkKey, jsonBody, validate(NewUser), createUser);
  router.get('/api/v1/users/:id', checkKey, createShowUser({ eventStore, heads, log, users }));
  router.get('/api/v1/projects', checkKey, listProjects);
}
