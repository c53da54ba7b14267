// The console in a real browser: staff who sign in by the link of an email in the sandbox's mailbox.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { freePort } from '../../packages/embedded/free-port.ts';
import { runLedger } from '../support/ledger.ts';
import { folderWithCluster } from '../support/postgres.ts';
import type { Owner } from '../support/whole-file.ts';
import { startRole } from './ledger.ts';

export type ConsoleService = {
  baseUrl: string;
  gatewayUrl: string;
  /** `ledger <args>` on the same data folder; resolves to what it printed. */
  ledger(...args: string[]): Promise<string>;
};

/** `npm start`, and a shell beside it, on ports and a folder of the test's own. */
export async function startConsole(t: Owner): Promise<ConsoleService> {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const environment = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: await folderWithCluster(t),
  };
  await startRole(t, ['serve'], environment, (output) => output.includes('is running'));
  return {
    baseUrl: `http://localhost:${port}`,
    gatewayUrl: `http://localhost:${sandboxPort}`,
    ledger: async (...args) => (await runLedger(args, environment)).stdout,
  };
}

/** Signs in as people do who have no passkey, on the way to `path`. Needs no scripts. */
export async function signIn(
  page: Page,
  service: ConsoleService,
  email: string,
  path = '/console',
): Promise<void> {
  await openLink(page, service, email, path);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${service.baseUrl}${path}`);
}

/** Asks for a link on the way to `path`, and opens the newest in the mailbox. */
export async function openLink(
  page: Page,
  { baseUrl, gatewayUrl }: ConsoleService,
  email: string,
  path = '/console',
): Promise<void> {
  const mail = page.getByRole('row', { name: email }).getByRole('link');
  await page.goto(`${gatewayUrl}/mailbox`);
  const before = await mail.count();
  await page.goto(`${baseUrl}${path}`);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByText('an email with a link is on its way').waitFor();
  do {
    await page.goto(`${gatewayUrl}/mailbox`);
  } while ((await mail.count()) === before);
  await mail.first().click();
  const link = page.frameLocator('iframe').getByRole('link', { name: 'Sign in' });
  await page.goto((await link.getAttribute('href')) ?? '');
  await page.getByText(email).waitFor();
}

/** What axe finds that keeps people from reading. */
export async function seriousFaults(page: Page): Promise<string[]> {
  const source = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  await page.evaluate(source);
  const found = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
    'axe.run().then(({ violations }) => violations)',
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
