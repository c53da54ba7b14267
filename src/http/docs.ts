/** /docs, /reference and what programs read of them: which content the documentation site of the ledger has. */
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import { createAnswers, paths } from '@ledger/docs-site/routes.ts';
import commands from '../../content/commands.json' with { type: 'json' };
import { renderText } from '../common/templates.ts';
import { createDescription, type DescribedConfig } from './openapi.ts';
import type { RequestState } from './server/context.ts';
import type { Dependencies } from './server/dependencies.ts';

const contentFolder = fileURLToPath(new URL('../../content/docs/', import.meta.url));

/** In production, rejects with a ConfigError if the content has faults; in development, looks for changes. */
export async function addDocsRoutes(
  router: Router<RequestState>,
  { config, log, runtime }: Dependencies,
): Promise<void> {
  const lookAgainMs = config.production ? null : 1_000;
  const answer = await createAnswers({ ...siteOf(config), log, runtime, lookAgainMs });
  router.get('/openapi.json', answer);
  router.all(paths, answer);
}

/** What the site is made of. The addresses in its examples are those at which it is served. */
export function siteOf(config: DescribedConfig & { gateway: { url: string } }) {
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
    // A page for each command, made of what its help is made of and in the same order.
    generated: Object.entries(commands).map(([name, command], order) => ({
      file: `commands/${name}.md`,
      source: renderText('command.md', { name, order, ...command }),
    })),
    baseUrl,
    describe: () => createDescription(config),
  };
}
