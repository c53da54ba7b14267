/** The HTTP role as a Koa application. Read `createApp` for the order in which a request passes through. */
import { METHODS } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { createQuarantine } from '../commands/unmatched.ts';
import { createConsoleParts } from './console/frame/parts.ts';
import { addConsoleRoutes } from './console/routes.ts';
import { addDocsRoutes } from './content/docs/routes.ts';
import { addContentRoutes } from './content/routes.ts';
import type { RequestState } from './context.ts';
import type { Dependencies } from './dependencies.ts';
import { createErrorAnswers } from './errors.ts';
import { addGenericRoutes } from './generic/routes.ts';
import { createHome } from './home.ts';
import { addLandregRoutes } from './landreg/routes.ts';
import { createViews } from './pages/views.ts';
import { createRequestLog } from './request-log.ts';
import { createSecurityHeaders } from './security-headers.ts';
import { createVerify } from './verify.ts';

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
  const consoleParts = createConsoleParts(dependencies);
  addConsoleRoutes(router, consoleParts);

  const app = new Koa<RequestState>();
  app.use(createRequestLog(log));
  app.use(createSecurityHeaders(config));
  app.use(createViews());
  app.use(createErrorAnswers({ baseUrl: config.baseUrl, log, showInConsole: consoleParts.frame.show }));
  app.use(router.routes());
  app.use(router.allowedMethods());
  // What fails outside all of these: a connection that breaks, an error page that cannot be drawn.
  app.on('error', (err: unknown) => log.warn({ err }, 'answer failed'));
  return app;
}
