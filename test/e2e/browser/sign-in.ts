// Staff in a real browser: they sign in by the link of an email in the sandbox's mailbox.
import type { Page } from 'playwright-core';
import { until } from '../../embedded/helpers.ts';
import { baseUrl, gatewayUrl } from './service.ts';

/** Signs in as people do who have no passkey, on the way to `path`. Needs no scripts. */
export async function signIn(page: Page, email: string, path = '/console'): Promise<void> {
  await openLink(page, email, path);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${baseUrl}${path}`);
}

/** Asks for a link on the way to `path`, and opens it as soon as its email is in the mailbox. */
export async function openLink(page: Page, email: string, path = '/console'): Promise<void> {
  const before = (await emailsTo(email)).length;
  await page.goto(`${baseUrl}${path}`);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByText('an email with a link is on its way').waitFor();
  const newest = await until(async () => {
    const emails = await emailsTo(email);
    return emails.length > before && emails[0];
  });
  const html = await (await fetch(`${gatewayUrl}${newest}/html`)).text();
  const [, link = ''] = /href="([^"]+\/console\/sign-in\/[^"]+)"/.exec(html) ?? [];
  await page.goto(link);
  await page.getByText(email).waitFor();
}

/** Where the mailbox has the emails to an address, newest first. */
async function emailsTo(email: string): Promise<string[]> {
  const list = await (await fetch(`${gatewayUrl}/mailbox`)).text();
  const rows = list.matchAll(/<td><a href="([^"]+)".*<\/td>\s*<td>(.*)<\/td>/g);
  return Array.from(rows).flatMap(([, path = '', to]) => (to === email ? [path] : []));
}
