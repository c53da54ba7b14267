/** /docs, /reference and what programs read of them: which content the documentation site of the ledger has. */
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import { createAnswers, paths } from '@ledger/docs-site/routes.ts';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Config } from '../config/config.ts';
import { commandPages } from './command-pages.ts';
import { createDescription, type DescribedConfig } from './openapi.ts';
import type { RequestState } from './server/context.ts';

const contentFolder = fileURLToPath(new URL('../../content/docs/', import.meta.url));

type Options = {
  config: DescribedConfig & { gateway: Pick<Config['gateway'], 'url'> };
  log: Log;
  runtime: Pick<Runtime, 'monotonicMs'>;
};

/** In development, changed files are looked for no more often than this. */
const lookAgainMs = 1_000;

/** In production, rejects with a ConfigError if the content has faults. */
export async function addDocsRoutes(
  router: Router<RequestState>,
  { config, log, runtime }: Options,
): Promise<void> {
  const answer = await createAnswers({
    ...siteOf(config),
    log,
    runtime,
    lookAgainMs: config.production ? null : lookAgainMs,
  });
  router.get(paths, answer);
}

/** What the site is made of; where it is served, its examples lead to. */
export function siteOf(config: Options['config']) {
  const { baseUrl, gateway, sandbox } = config;
  return {
    folder: contentFolder,
    folderName: 'content/docs',
    name: 'Payment ledger',
    about: 'An event-sourced payment ledger that public agencies put in front of their payment gateway.',
    categories: ['Tutorials', 'How-to guides', 'Reference', 'Commands', 'Explanation', 'Decisions'],
    // The examples of the files are for a development machine; the sandbox is where its gateway is.
    addresses: {
      'http://localhost:5173': baseUrl,
      ...(sandbox.enabled && { 'http://localhost:5174': gateway.url }),
    },
    generated: commandPages(),
    baseUrl,
    describe: () => createDescription(config),
  };
}
