// The documentation in a real browser: what scripts add, what readers see, and axe's findings for every page.
import test from 'ava';
import type { Page } from 'playwright-core';
import { colours, openBrowser, seriousFaults, skippedWithoutBrowser } from '../e2e/browser/chromium.ts';
import { base, code, ownContent } from './served.ts';

const drawn = (page: Page) => page.locator('figure.diagram[data-drawn]');

/** One document with what each page of the project's own documentation has in its `main`. Opening 80 pages takes a minute. */
async function allPages(own: string): Promise<{ paths: string[]; html: string }> {
  const textAt = async (path: string) => (await fetch(own + path)).text();
  const index = await textAt('/sitemap.xml');
  const paths = index.match(/(?<=pay\.example).*?(?=<\/loc>)/g) ?? [];
  const pages = await Promise.all(paths.map(textAt));
  const main = /(?<=<main[^>]*>).*(?=<\/main>)/s;
  const mains = pages.map(
    (page, at) => `<section data-path="${paths[at]}">${main.exec(page)?.[0]}</section>`,
  );
  return { paths, html: (pages[0] ?? '').replace(main, () => mains.join('\n')) };
}

test.serial('axe finds no serious fault on any page, light or dark', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { page, complaints } = await openBrowser(t, {
    colorScheme: 'light',
    viewport: { width: 1280, height: 900 },
  });
  const all = await allPages(ownContent);
  await page.route('**/docs/all', (route) => route.fulfill({ contentType: 'text/html', body: all.html }));
  // Our pages differ in their texts and in the order of their parts. What has colours, and what the script draws, is on
  // the page of everything, below: a diagram of ours would differ from its diagram in texts and lines.
  await page.route('**/docs.*.js', (route) => route.abort());
  await page.goto(`${ownContent}/docs/all`);
  t.is(await page.locator('main h1').count(), all.paths.length);
  const withoutColours = Object.fromEntries(colours.map((rule) => [rule, { enabled: false }]));
  t.deepEqual(await seriousFaults(page, { rules: withoutColours }), []);
  t.is(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
  await page.unroute('**/docs.*.js');
  t.is(complaints.splice(0).length, 1, 'the script that was not loaded');
  for (const url of [`${ownContent}/docs/search?q=callback`, `${base}/docs/everything`]) {
    await page.goto(url);
    t.deepEqual(await seriousFaults(page), [], url);
    t.is(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, url);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  t.deepEqual(await seriousFaults(page, { runOnly: colours }), [], 'dark');
  t.deepEqual(complaints, []);
});

test.serial('nothing is wider than a phone, and axe finds no serious fault there', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { page, complaints } = await openBrowser(t, { viewport: { width: 360, height: 740 } });
  await page.goto(`${base}/docs/everything`);
  await drawn(page).waitFor();
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 360);
  t.deepEqual(await seriousFaults(page), []);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Callbacks', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Callbacks' }).waitFor();
  t.deepEqual(complaints, []);
});

test.serial('the search works by keyboard alone', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { page, complaints } = await openBrowser(t, {});
  await page.goto(`${base}/docs/plain`);
  for (const keys of ['/', 'Control+k']) {
    await page.keyboard.press(keys);
    t.is(await page.evaluate("document.activeElement.matches('dialog[open] input')"), true, keys);
    await page.keyboard.type('x');
    await page.keyboard.press('Escape');
    // The browser removes the focus from the hidden dialog a moment later.
    await page.locator('dialog input:focus').waitFor({ state: 'detached' });
  }
  await page.keyboard.press('/');
  await page.keyboard.type('calback');
  await page.locator('dialog .hits a').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${base}/docs/other`);
  await page.keyboard.press('/');
  await page.keyboard.type('retr/');
  await page.locator('dialog .hits a[href$="#retries"]').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${base}/docs/other#retries`);
  t.is(await page.locator('dialog[open]').count(), 0);
  await page.keyboard.press('/');
  await page.locator('dialog input').fill('<xylophone>');
  await page.getByText('Nothing here matches “<xylophone>”.').waitFor();
  t.deepEqual(complaints, []);
});

test.serial('code is copied exactly', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { page, context } = await openBrowser(t, {});
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${base}/docs/plain`);
  await page.getByRole('button', { name: 'Copy the code' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  t.is(await page.evaluate('navigator.clipboard.readText()'), code);
});

test.serial(
  'the theme follows the system until one is chosen, and a chosen theme applies before the first paint',
  async (t) => {
    if (skippedWithoutBrowser(t)) return;
    const { page } = await openBrowser(t, { colorScheme: 'dark' });
    const url = `${base}/docs/other`;
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    await page.goto(url);
    const dark = await background();
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await background();
    t.not(light, dark);
    await page.getByLabel('Theme').selectOption('dark');
    t.is(await background(), dark);
    // The script in the head alone must be enough.
    await page.route('**/docs.*.js', (route) => route.abort());
    await page.reload();
    t.is(await background(), dark);
    await page.unroute('**/docs.*.js');
    await page.reload();
    await page.getByLabel('Theme').selectOption('system');
    await page.reload();
    t.is(await background(), light);
  },
);

test.serial('diagrams follow the theme; an invalid one stays text', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { page, complaints } = await openBrowser(t, { colorScheme: 'light' });
  await page.goto(`${base}/docs/everything`);
  await drawn(page).waitFor();
  const fill = () =>
    page.frames().at(1)?.evaluate<string>("getComputedStyle(document.querySelector('.node rect')).fill");
  const light = await fill();
  t.is(
    light,
    'rgb(239, 246, 255)',
    'a colour of the theme, not the black of a drawing whose styles were blocked',
  );
  const redrawn = page.frameLocator('figure.diagram[data-drawn] iframe').locator('#drawing-2');
  await page.getByLabel('Theme').selectOption('dark');
  await redrawn.waitFor();
  t.not(await fill(), light);
  t.is(await drawn(page).count(), 1);
  t.true(await page.getByText('no diagram').isVisible());
  const undrawn = "document.querySelector('figure.diagram:not([data-drawn])')";
  t.is(await page.evaluate(`${undrawn}.scrollHeight - ${undrawn}.clientHeight`), 0, 'no empty room below it');
  t.deepEqual(complaints, []);
});

test.serial('without scripts everything can be read and searched', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { page } = await openBrowser(t, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
  await page.goto(`${base}/docs/everything`);
  t.true(await page.getByText('flowchart LR').isVisible());
  t.is(await page.getByLabel('Theme').isVisible(), false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Callbacks', exact: true }).click();
  await page.getByRole('link', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('retrys');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: 'Callbacks › Retries' }).click();
  await page.waitForURL(`${base}/docs/other#retries`);
  t.pass();
});
