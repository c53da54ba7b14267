/** /api/v1, the content service's own interface, and the reference of all: one file per endpoint beside this one. */
import type Router from '@koa/router';
import { userOf } from '../../events/user.ts';
import type { Dependencies } from '../dependencies.ts';
import { addReferenceRoutes } from '../docs/reference.ts';
import { jsonBody } from '../server/body.ts';
import type { RequestState } from '../server/context.ts';
import { createApiKeyCheck } from './authenticate.ts';
import { createCreateUser } from './create-user.ts';
import { createHealth } from './health.ts';
import { createList } from './list.ts';
import { createShowUser } from './show-user.ts';

export function addContentRoutes(router: Router<RequestState>, dependencies: Dependencies): void {
  const { config, content, log, clock = () => new Date() } = dependencies;
  const { baseUrl } = config;
  const parts = { ...dependencies, ...content, clock };
  const checkKey = createApiKeyCheck(config.apiKeys);

  router.get('/api/v1/health', createHealth(parts));
  router.get(
    '/api/v1/users',
    checkKey,
    createList({ entries: content.users, present: userOf, baseUrl, log }),
  );
  router.post('/api/v1/users', checkKey, jsonBody, createCreateUser(parts));
  router.get('/api/v1/users/:id', checkKey, createShowUser(parts));
  router.get(
    '/api/v1/projects',
    checkKey,
    createList({ entries: content.projects, present: (project) => project, baseUrl, log }),
  );
  addReferenceRoutes(router, dependencies);
}
