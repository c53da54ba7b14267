// Serves the documentation alone, with the security headers of the service and without stores.
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { pino } from 'pino';
import { createAnswers, paths } from '../../packages/docs-site/routes.ts';
import { siteOf } from '../../src/http/docs.ts';
import type { RequestState } from '../../src/http/server/context.ts';
import { createSecurityHeaders } from '../../src/http/server/security-headers.ts';
import { sen } from '../support/payments.ts';
import { testRuntime } from '../support/runtime.ts';
import type { Owner } from '../support/whole-file.ts';

/** Writes content files into a temporary folder that is removed after the test. */
export async function contentFolder(t: Owner, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-docs-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

/** What the documentation shows of a configuration. */
export const docsConfig = (production: boolean) => ({
  baseUrl: 'https://pay.example',
  production,
  maxAmountSen: sen(100_000_000),
  sandbox: { enabled: true },
  gateway: { url: 'https://sandbox.example' },
});

export const smallDescription = {
  info: { title: 'API', version: '1' },
  tags: [],
  paths: {},
  components: { schemas: {} },
};

/** Serves the documentation in `folder`, by default the project's own, and returns its address. */
export async function serveDocs(
  t: Owner,
  {
    folder,
    production = true,
    lookAgainMs = 0,
  }: { folder?: string; production?: boolean; lookAgainMs?: number } = {},
): Promise<string> {
  const site = siteOf(docsConfig(production));
  const answer = await createAnswers({
    ...site,
    ...(folder !== undefined && { folder, generated: [], describe: () => smallDescription }),
    log: pino({ level: 'silent' }),
    runtime: testRuntime(),
    lookAgainMs: production ? null : lookAgainMs,
  });
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  router.get(paths, answer);
  const app = new Koa<RequestState>();
  app.use(createSecurityHeaders({ baseUrl: 'https://pay.example', production }));
  app.use(router.routes());
  // A test that keeps the process busy for seconds would let a connection time out that the next one uses.
  const server = createServer({ keepAliveTimeout: 60_000 }, app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
