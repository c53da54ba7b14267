/** /docs and below, /llms.txt and /sitemap.xml: look-ups in what was made when the program started. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import type { Log } from '../../kernel/log.ts';
import type { Context, RequestState } from '../server/context.ts';
import { send } from '../server/static-files.ts';
import { createSite, type Site } from './site.ts';

const contentFolder = fileURLToPath(new URL('../../../content/docs/', import.meta.url));

type Options = {
  config: { baseUrl: string; production: boolean };
  log: Log;
  /** Where the content is; a test's own. */
  folder?: string;
  /** How long after one look for changes the next is taken, in development. */
  lookAgainMs?: number;
};

/** Throws ConfigError when the content is at fault. In development the content is read again when it has changed. */
export function addDocsRoutes(
  router: Router<RequestState>,
  { config, log, folder = contentFolder, lookAgainMs = 1_000 }: Options,
): void {
  const startedAt = performance.now();
  const create = () => createSite({ folder, baseUrl: config.baseUrl });
  const first = create();
  log.debug({ durationMs: Math.round(performance.now() - startedAt) }, 'documentation rendered');
  const site = config.production ? () => first : reloaded({ first, create, folder, log, lookAgainMs });

  router.get('/docs/search', (ctx: Context) => {
    const { q = '' } = ctx.query;
    return send(ctx, site().search(String(q)));
  });
  router.get(['/docs', '/docs/', '/docs/*path', '/llms.txt', '/sitemap.xml'], (ctx: Context) => {
    const { answers, notFound } = site();
    const answer = answers.get(ctx.path);
    const unslashed = ctx.path.replace(/\/$/, '');
    if (!answer && answers.has(unslashed)) {
      ctx.status = 308;
      ctx.redirect(unslashed);
      return;
    }
    // These pages are for everybody, search engines included.
    if (answer) ctx.remove('X-Robots-Tag');
    return send(ctx, answer ?? notFound);
  });
}

/** Makes the site again when a file is newer or others are there; keeps the last good one while one is at fault. */
function reloaded(options: {
  first: Site;
  create: () => Site;
  folder: string;
  log: Log;
  lookAgainMs: number;
}): () => Site {
  const { create, folder, log, lookAgainMs } = options;
  let site = options.first;
  let version = versionOf(folder);
  let lookedAt = performance.now();
  return () => {
    if (performance.now() - lookedAt < lookAgainMs) return site;
    lookedAt = performance.now();
    try {
      const found = versionOf(folder);
      if (found === version) return site;
      version = found;
      site = create();
    } catch (err) {
      log.warn({ err }, 'the documentation was not read again');
    }
    return site;
  };
}

function versionOf(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`).join('\n');
}
