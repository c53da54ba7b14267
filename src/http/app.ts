/** The HTTP role as a Koa application. Read `createApp` for the order in which a request passes through. */
import { METHODS } from 'node:http';
import Router from '@koa/router';
import { codeOf } from '@ledger/kernel/reason-of.ts';
import Koa, { type Next } from 'koa';
import { isApiPath, presentApiError } from './api/errors.ts';
import { addApiRoutes } from './api/routes.ts';
import { consoleHeaders, isConsolePath } from './console/frame/addresses.ts';
import { createLanguageChoice } from './console/frame/language.ts';
import { createPageDependencies } from './console/frame/page.ts';
import { createPresentConsoleError } from './console/frame/present-error.ts';
import { addConsoleRoutes } from './console/routes.ts';
import { texts } from './console/texts.ts';
import { addDocsRoutes } from './docs.ts';
import { addGenericRoutes } from './generic/routes.ts';
import { createHome } from './home.ts';
import { addLandregRoutes } from './landreg/routes.ts';
import { createPresentError } from './pay/present-error.ts';
import { texts as payTexts } from './pay/texts.ts';
import { createVerify } from './pay/verify-receipt.ts';
import { createRefuseCostly } from './server/connection-limits.ts';
import type { Context, RequestState } from './server/context.ts';
import type { Dependencies } from './server/dependencies.ts';
import { createErrorAnswers } from './server/errors.ts';
import { createRateLimits } from './server/rate-limits.ts';
import { createRequestLog } from './server/request-log.ts';
import { createSecurityHeaders } from './server/security-headers.ts';
import { createViews } from './server/views.ts';

/** Rejects with a ConfigError if, in production, the documentation has faults. */
export async function createApp(dependencies: Dependencies): Promise<Koa<RequestState>> {
  const { config, log, runtime } = dependencies;
  // One address per page, because what is logged and how errors look depend on the path.
  // The router must know all methods to answer an unknown one with 405 (it would say 501), or 404 where there is no path.
  const router = new Router<RequestState>({ sensitive: true, strict: true, methods: METHODS });
  router.get('/', createHome(config));
  const verify = createVerify(dependencies);
  router.get('/verify/:receiptNo', verify.confirm);
  router.get('/verify/:receiptNo/proof', verify.prove);
  router.get('/verify/:receiptNo/proof.jsonl', verify.prove);
  addGenericRoutes(router, dependencies);
  addLandregRoutes(router, dependencies);
  addApiRoutes(router, dependencies);
  await addDocsRoutes(router, dependencies);
  const consoleDependencies = createPageDependencies(dependencies);
  addConsoleRoutes(router, consoleDependencies);

  const presentConsoleError = createPresentConsoleError(consoleDependencies);
  const presentError = createPresentError(config.baseUrl);
  const presenterOf = (path: string) => {
    if (isConsolePath(path)) return presentConsoleError;
    return isApiPath(path) ? presentApiError : presentError;
  };

  const { rateLimits, trustedProxies } = config;
  // Koa takes the last `maxIpsCount` addresses of X-Forwarded-For, and the first of these is the source.
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.use(createRequestLog(dependencies));
  app.use(createSecurityHeaders(config));
  const chooseLanguage = createLanguageChoice(config.baseUrl);
  app.use((ctx: Context, next: Next) => {
    if (!isConsolePath(ctx.path)) return next();
    ctx.set(consoleHeaders);
    return chooseLanguage(ctx, next);
  });
  app.use(createViews({ t: payTexts, texts }, config.footer));
  app.use(createErrorAnswers(dependencies, presenterOf));
  app.use(createRefuseCostly(runtime));
  app.use(createRateLimits(rateLimits));
  app.use(router.routes());
  app.use(router.allowedMethods());
  // What fails outside the error answers, such as an error page that cannot be rendered. A caller who leaves is no fault.
  app.on('error', (err: unknown, { req }: Context) => {
    const hasLeft = err === req.socket.errored || codeOf(err) === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) log.warn({ err }, 'answer failed');
  });
  return app;
}
