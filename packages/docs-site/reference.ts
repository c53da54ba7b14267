/** What /reference shows an OpenAPI document with: Swagger UI, as koa2-swagger-ui starts it, in the colours of the site. */
import { readFileSync } from 'node:fs';
import { type Answer, addImmutable } from '@ledger/web/answers.ts';
import { switchableStyle } from '@ledger/web/design-tokens.ts';
import type { Context } from 'koa';
import { koaSwagger } from 'koa2-swagger-ui';
import { view } from './assets.ts';

const fileOf = (name: string) =>
  readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)), 'utf8');

/** Adds the files to `answers` and returns their paths. */
export function addReferenceAssets(answers: Map<string, Answer>) {
  const add = (name: string, type: string, content: string) =>
    addImmutable(answers, `/reference/assets/${name}`, type, content);
  return {
    referenceStyles: [
      add('swagger-ui.css', 'text/css', fileOf('swagger-ui.css')),
      add('reference.css', 'text/css', switchableStyle(view('reference.css'))),
    ],
    referenceScripts: [
      ...['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js'].map((name) =>
        add(name, 'text/javascript', fileOf(name)),
      ),
      add('reference.js', 'text/javascript', view('reference.js')),
    ],
  };
}

/** The inline scripts of the page that koa2-swagger-ui makes, without the page: ours has the frame of the site. */
export function referenceScripts(): string[] {
  const page = { path: '/reference', body: '' };
  const showPage = koaSwagger({
    routePrefix: '/reference',
    hideTopbar: true,
    swaggerOptions: {
      url: '/openapi.json',
      layout: 'BaseLayout',
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: false,
      // koa2-swagger-ui writes it into the page's script verbatim.
      plugins: 'ReferencePlugin',
      // Its colours would be inline styles, and too faint.
      syntaxHighlight: { activated: false },
      tryItOutEnabled: true,
      validatorUrl: null,
    },
  });
  showPage(page as unknown as Context, async () => {});
  return Array.from(page.body.matchAll(/<script>(.*?)<\/script>/gs), ([, text = '']) => text);
}
