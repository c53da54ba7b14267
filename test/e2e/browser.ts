// A real browser, where the machine has one. Tests that need it say so when they are skipped.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Chromium asks nobody on the network for anything. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** True when there is no browser; logs that the test is skipped, and passes it. */
export function skippedWithoutBrowser(t: ExecutionContext): boolean {
  if (existsSync(executablePath)) return false;
  t.log(`SKIPPED: there is no browser at ${executablePath}`);
  t.pass();
  return true;
}

export type Visitor = {
  page: Page;
  context: BrowserContext;
  /** What the browser complained about: console errors, uncaught faults, blocked requests. */
  complaints: string[];
};

/** A new browser with an empty profile, closed with the test. */
export async function openBrowser(t: ExecutionContext, options: BrowserContextOptions): Promise<Visitor> {
  const profile = await mkdtemp(join(tmpdir(), 'ledger-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: quiet,
    ...options,
  });
  t.teardown(async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, context, complaints };
}
