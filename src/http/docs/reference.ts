/** /openapi.json, and /reference, which shows it with Swagger UI; every file of it is served from here. */
import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import type { Next } from 'koa';
import { koaSwagger } from 'koa2-swagger-ui';
import type { Context, RequestState } from '../server/context.ts';
import { sourceHash } from '../server/inline-style.ts';
import { contentPolicy } from '../server/security-headers.ts';
import { type Answer, createAnswer, immutable, send } from '../server/static-files.ts';

const fileOf = (name: string) =>
  readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)), 'utf8');
const view = (name: string) =>
  readFileSync(new URL(`../../../views/reference/${name}`, import.meta.url), 'utf8');

/** The description is made when it is first requested. */
export function addReferenceRoutes(router: Router<RequestState>, createDocument: () => object): void {
  let description: Answer | undefined;
  router.get('/openapi.json', (ctx: Context) => {
    description ??= createAnswer('application/json', JSON.stringify(createDocument()), {
      // Tools on other origins read it, and it is public.
      headers: { 'Access-Control-Allow-Origin': '*' },
    });
    return send(ctx, description);
  });

  const { version } = JSON.parse(fileOf('package.json')) as { version: string };
  const folder = `/reference/${version}`;
  const file = (type: string, name: string) => createAnswer(type, fileOf(name), { headers: immutable });
  const assets = {
    'reference.js': createAnswer('text/javascript', view('reference.js')),
    // The name that the page of koa2-swagger-ui requests.
    'swagger-ui.min.css': file('text/css', 'swagger-ui.css'),
    'swagger-ui-bundle.js': file('text/javascript', 'swagger-ui-bundle.js'),
    'swagger-ui-standalone-preset.js': file('text/javascript', 'swagger-ui-standalone-preset.js'),
  };
  for (const [name, answer] of Object.entries(assets))
    router.get(`${folder}/${name}`, (ctx: Context) => send(ctx, answer));

  const swaggerPage = koaSwagger({
    title: 'API reference – Payment ledger',
    routePrefix: '/reference',
    swaggerCdnUrl: '/reference',
    swaggerVersion: version,
    hideTopbar: true,
    favicon: 'data:,',
    customCSS: view('reference.css'),
    swaggerOptions: {
      url: '/openapi.json',
      layout: 'BaseLayout',
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: false,
      // koa2-swagger-ui writes it into the page's script verbatim.
      plugins: 'SamplesPlugin',
      tryItOutEnabled: true,
      validatorUrl: null,
    },
  });
  router.get('/reference/', (ctx: Context) => {
    ctx.status = 308;
    ctx.redirect('/reference');
  });
  router.get('/reference', withinPolicy(`${folder}/reference.js`), swaggerPage);
}

/** Koa middleware around the page of koa2-swagger-ui: replaces what a strict policy would block, and sets that policy. */
function withinPolicy(scriptUrl: string) {
  const beforeScripts = `<a class="to-docs" href="/docs">Documentation</a><div id="swagger-ui"></div><script src="${scriptUrl}"></script>`;
  return async (ctx: Context, next: Next): Promise<void> => {
    await next();
    const page = String(ctx.body)
      .replace(/<link href="https:[^>]*>/, '')
      .replace(/(<svg [^>]*) style="[^"]*"/, '$1 width="0" height="0"')
      .replace('<div id="swagger-ui"></div>', beforeScripts);
    const hashes = (element: 'script' | 'style') =>
      Array.from(page.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs')), ([, text = '']) =>
        sourceHash(text),
      ).join(' ');
    const policy = contentPolicy({
      'script-src': `'self' ${hashes('script')}`,
      'style-src': `'self' ${hashes('style')}`,
      'img-src': "'self' data:",
      'connect-src': "'self'",
    });
    ctx.body = page;
    ctx.set('Content-Security-Policy', policy);
  };
}
