// A real browser, where the machine has one. Tests that need it say so when they are skipped.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { wholeProcess } from '../../support/whole-file.ts';

/** The same engine without the parts of a desktop browser takes half the CPU. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = process.env.CHROMIUM ?? installed.find(existsSync) ?? '/usr/bin/chromium';

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

let browser: Promise<Browser> | undefined;

async function launch(): Promise<Browser> {
  // Playwright would catch the signal by which ava ends a test file that hangs, and the file would go on.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const launched = await chromium.launch({ executablePath, args: quiet, ...signals });
  wholeProcess.teardown(() => launched.close());
  return launched;
}

/** A page of a visitor whom the site has not seen before, gone with the test; the browser is the test file's one. */
export async function openBrowser(t: ExecutionContext, options: BrowserContextOptions): Promise<Visitor> {
  browser ??= launch();
  const context = await (await browser).newContext(options);
  t.teardown(() => context.close());
  const page = await context.newPage();
  // Longer than a slow machine takes.
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, context, complaints };
}

/** The rules of axe that depend on the theme. */
export const colours: readonly string[] = ['color-contrast', 'link-in-text-block'];

/** A violation is as grave as its rule: the others, which take a third of the time, have nothing to say here. */
const withoutMinorRules = `axe.configure({
  rules: axe._audit.rules
    .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
    .map(({ id }) => ({ id, enabled: false })),
})`;

const axe = async () =>
  `${await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')};${withoutMinorRules};`;

/** For tests that ask axe about most pages they open: to send it to a page takes three times what it takes to load it with one. */
export async function loadAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: await axe() });
}

/** The serious and critical violations that axe finds, on the page and in its frames. */
export async function seriousFaults(page: Page, options: object = {}): Promise<string[]> {
  for (const frame of page.frames())
    if (!(await frame.evaluate("'axe' in globalThis"))) await frame.evaluate(await axe());
  const found = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
    `axe.run(${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
