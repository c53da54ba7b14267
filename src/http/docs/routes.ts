/** /docs and everything below it, /llms.txt and /sitemap.xml: look-ups in the rendered documentation. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Context, RequestState } from '../server/context.ts';
import { send } from '../server/static-files.ts';
import { createSite, type Site } from './site.ts';

const contentFolder = fileURLToPath(new URL('../../../content/docs/', import.meta.url));

type Options = {
  config: { baseUrl: string; production: boolean };
  log: Log;
  runtime: Pick<Runtime, 'monotonicMs'>;
  /** The content; tests have their own. */
  folder?: string | undefined;
  /** In development: how long to wait before looking for changed files again. */
  lookAgainMs?: number;
};

/**
 * In production, content is rendered now, and the promise rejects with a ConfigError if it has faults. In development it is
 * rendered when it is first read, and again when it has changed.
 */
export async function addDocsRoutes(
  router: Router<RequestState>,
  { config, log, runtime, folder = contentFolder, lookAgainMs = 1_000 }: Options,
): Promise<void> {
  const create = () => createSite({ folder, baseUrl: config.baseUrl });
  // Rendering blocks the process: in production no request may wait for it.
  const rendered = config.production ? await create() : null;
  const site = rendered ? async () => rendered : reloaded(create, { folder, log, runtime, lookAgainMs });

  router.get('/docs/search', async (ctx: Context) => {
    const { q = '' } = ctx.query;
    return send(ctx, (await site()).search(String(q)));
  });
  router.get(['/docs', '/docs/', '/docs/*path', '/llms.txt', '/sitemap.xml'], async (ctx: Context) => {
    const { answers, notFound } = await site();
    const answer = answers.get(ctx.path);
    const unslashed = ctx.path.replace(/\/$/, '');
    if (!answer && answers.has(unslashed)) {
      ctx.status = 308;
      ctx.redirect(unslashed);
      return;
    }
    // Search engines may index the documentation.
    if (answer) ctx.remove('X-Robots-Tag');
    return send(ctx, answer ?? notFound);
  });
}

/** Creates the site when it is first asked for, and after files have changed; while one has a fault, keeps the last good site. */
function reloaded(
  create: () => Promise<Site>,
  { folder, log, runtime, lookAgainMs }: Omit<Options, 'config'> & { folder: string; lookAgainMs: number },
): () => Promise<Site> {
  let site: Promise<Site> | undefined;
  let version = '';
  let lookedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (site && runtime.monotonicMs() - lookedAt < lookAgainMs) return site;
    lookedAt = runtime.monotonicMs();
    const found = versionOf(folder);
    if (!site || found !== version) {
      const lastGood = site;
      version = found;
      site = create().catch((err) => {
        log.warn({ err }, 'the documentation could not be loaded');
        if (!lastGood) throw err;
        return lastGood;
      });
    }
    return site;
  };
}

function versionOf(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`).join('\n');
}
