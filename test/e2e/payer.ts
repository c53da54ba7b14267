// A payer in a real browser, and the service as `npm start` runs it.
import type { Page } from 'playwright-core';
import { freePort } from '../../packages/embedded/free-port.ts';
import { folderWithCluster } from '../support/postgres.ts';
import type { Owner } from '../support/whole-file.ts';
import type { Visitor } from './browser.ts';
import { startRole } from './ledger.ts';

export type Service = { baseUrl: string; gatewayUrl: string };

/** `npm start`, on ports and a folder of the test's own. */
export async function startService(t: Owner, more: Record<string, string> = {}): Promise<Service> {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const environment = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: await folderWithCluster(t),
    ...more,
  };
  await startRole(t, ['serve'], environment, (output) => output.includes('is running'));
  return { baseUrl: `http://localhost:${port}`, gatewayUrl: `http://localhost:${sandboxPort}` };
}

export async function payByFpx(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'FPX Online Banking (Individual)' }).check();
  await page.getByLabel('Bank', { exact: true }).first().selectOption('BIMB0340');
  await page.getByRole('button', { name: 'Continue to payment' }).click();
}

/** Without scripts every form that would send itself waits for the payer to press its button. */
async function goOnTo(page: Page, url: RegExp, scripts: boolean): Promise<void> {
  if (!scripts) await page.locator('form button').first().click();
  await page.waitForURL(url);
}

export async function decideAtBank(
  visitor: Visitor,
  service: Service,
  decision: string,
  scripts: boolean,
): Promise<void> {
  const { page } = visitor;
  await goOnTo(page, new RegExp(`^${service.gatewayUrl}/orders/`), scripts);
  await page.getByRole('button', { name: decision }).first().click();
  await goOnTo(page, /\/(generic|landreg)\/receipt\//, scripts);
}
