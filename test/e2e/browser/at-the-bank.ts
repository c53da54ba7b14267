// A payer in a real browser, from our page to the sandbox's bank and back.
import type { Page } from 'playwright-core';
import type { Visitor } from './chromium.ts';
import { gatewayUrl } from './service.ts';

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

export async function decideAtBank({ page }: Visitor, decision: string, scripts: boolean): Promise<void> {
  await goOnTo(page, new RegExp(`^${gatewayUrl}/orders/`), scripts);
  await page.getByRole('button', { name: decision }).first().click();
  await goOnTo(page, /\/(generic|landreg)\/receipt\//, scripts);
}
