/** The HTTP role as a Koa application. Read `createApp` for the order in which a request passes through. */
import { METHODS } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { createQuarantine } from '../commands/unmatched.ts';
import { addContentRoutes } from './api/routes.ts';
import { createConsoleDependencies } from './console/dependencies.ts';
import { addConsoleRoutes } from './console/routes.ts';
import type { Dependencies } from './dependencies.ts';
import { addDocsRoutes } from './docs/routes.ts';
import { addGenericRoutes } from './generic/routes.ts';
import { createHome } from './home.ts';
import { addLandregRoutes } from './landreg/routes.ts';
import { createVerify } from './pay/verify.ts';
import type { RequestState } from './server/context.ts';
import { createErrorAnswers } from './server/errors.ts';
import { createRequestLog } from './server/request-log.ts';
import { createSecurityHeaders } from './server/security-headers.ts';
import { createViews } from './server/views.ts';

export type { Dependencies } from './dependencies.ts';

export function createApp(dependencies: Dependencies): Koa<RequestState> {
  const { config, log } = dependencies;
  // One address per page: what may be logged and how errors look goes by the path.
  // With all methods known to it, the router says 405 where it would say 501, and 404 where there is no path.
  const router = new Router<RequestState>({ sensitive: true, strict: true, methods: METHODS });
  router.get('/', createHome(dependencies));
  router.get('/verify/:receiptNo', createVerify(dependencies));
  // One for both channels: their results meet in one stream.
  const quarantine = createQuarantine(dependencies.eventStore);
  addGenericRoutes(router, { ...dependencies, quarantine });
  addLandregRoutes(router, { ...dependencies, quarantine });
  addContentRoutes(router, dependencies);
  addDocsRoutes(router, dependencies);
  const { console: own, content, ...shared } = dependencies;
  const consoleDependencies = createConsoleDependencies({ ...shared, ...content, ...own });
  addConsoleRoutes(router, consoleDependencies);

  const app = new Koa<RequestState>();
  app.use(createRequestLog(log));
  app.use(createSecurityHeaders(config));
  app.use(createViews());
  app.use(createErrorAnswers({ baseUrl: config.baseUrl, log, showInConsole: consoleDependencies.show }));
  app.use(router.routes());
  app.use(router.allowedMethods());
  // What fails outside all of these: a connection that breaks, an error page that cannot be drawn.
  app.on('error', (err: unknown) => log.warn({ err }, 'answer failed'));
  return app;
}
