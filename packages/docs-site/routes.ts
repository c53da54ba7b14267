/** Answers requests with the rendered site: each is a look-up. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { type Answer, createAnswer, send } from '@ledger/web/answers.ts';
import type { Context } from 'koa';
import type { Site, SiteOptions } from './site.ts';

type Options = SiteOptions & {
  log: Log;
  runtime: Pick<Runtime, 'monotonicMs' | 'yieldToIo'>;
  /** How often it looks for changed files, to render the site again. Null: renders it now, and never again. */
  lookAgainMs: number | null;
};

/** For a router: the paths of which every method is answered, beside `GET /openapi.json`. */
export const paths = [
  '/docs',
  '/docs/',
  '/docs.md',
  '/docs/*path',
  '/reference',
  '/reference/',
  '/reference/*path',
  '/reference.md',
  '/llms.txt',
  '/robots.txt',
  '/sitemap.xml',
];

/** Answers any method. Rejects with a ConfigError if the content has faults and is rendered now. */
export async function createAnswers({ log, lookAgainMs, runtime, ...options }: Options) {
  // Only readers need the Markdown parser, the search and the drawings.
  const create = async () => (await import('./site.ts')).createSite({ ...options, runtime });
  const { folder } = options;
  const site = reloaded(create, { folder, log, runtime, lookAgainMs: lookAgainMs ?? Infinity });
  // Rendering blocks the process: where files do not change, no request may wait for it.
  if (lookAgainMs === null) await site();

  let description: Answer | undefined;

  return async (ctx: Context): Promise<void> => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'HEAD, GET');
      return await send(ctx, (await site()).wrongMethod);
    }
    if (ctx.path === '/openapi.json') {
      description ??= createAnswer('application/json', JSON.stringify(options.describe()), {
        // Tools on other origins read it, and it is public.
        headers: { 'Access-Control-Allow-Origin': '*' },
      });
      return await send(ctx, description);
    }
    const { answers, notFound, search } = await site();
    if (ctx.path === '/docs/search') {
      const { q = '' } = ctx.query;
      return await send(ctx, await search(String(q)));
    }
    const answer = answers.get(ctx.path);
    const unslashed = ctx.path.replace(/\/$/, '');
    if (!answer && answers.has(unslashed)) {
      ctx.status = 308;
      ctx.redirect(unslashed);
      return;
    }
    // Search engines may index the documentation.
    if (answer) ctx.remove('X-Robots-Tag');
    await send(ctx, answer ?? notFound);
  };
}

/** Creates the site when it is first asked for and after files have changed; if one has a fault, the last one stays. */
function reloaded(
  create: () => Promise<Site>,
  {
    folder,
    log,
    runtime,
    lookAgainMs,
  }: Pick<Options, 'folder' | 'log' | 'runtime'> & { lookAgainMs: number },
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
