// /reference in a real browser, under its policy: it contacts no other host, stores no key, and its requests work.
import test from 'ava';
import { colours, openBrowser, seriousFaults, skippedWithoutBrowser } from '../e2e/browser/chromium.ts';
import { until } from '../embedded/helpers.ts';
import { startApp } from '../support/app.ts';
import { ownContent } from './served.ts';

test('samples in three languages, and a request that is tried on the page, without complaints by the browser', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const app = await startApp({ config: { apiKeys: ['an-api-key'] } });
  t.teardown(app.close);
  const { page, complaints } = await openBrowser(t, { colorScheme: 'dark' });
  const hosts = new Set<string>();
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.goto(`${app.url}/reference#/Projects/listProjects`);
  t.is(await page.evaluate('document.documentElement.className'), 'dark-mode', 'as the documentation is');
  await page.getByLabel('Theme').selectOption('light');
  t.is(await page.evaluate('document.documentElement.className'), '');
  await page.getByLabel('Theme').selectOption('system');
  t.is(await page.locator('.servers').count(), 0, 'its policy refuses other servers');
  const samples = page.getByRole('region', { name: 'Samples' });
  for (const [label, beginning] of [
    ['curl', `curl -X GET '${app.url}/api/v1/projects?limit=20'`],
    ['JavaScript', 'const response = await fetch('],
    ['PHP', '<?php'],
  ] as const) {
    await samples.getByRole('button', { name: label }).click();
    t.true((await samples.locator('code').innerText()).startsWith(beginning));
  }

  const operation = page.locator('#operations-Users-createUser');
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('button.authorization__btn').click();
  const dialog = page.locator('.dialog-ux');
  await dialog.locator('input').fill('an-api-key');
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const status = operation.locator('.live-responses-table .response-col_status').last();
  t.regex(await status.innerText(), /^201/);
  await page.locator('#operations-Generic_payments-genericRequest .opblock-summary-control').click();
  t.deepEqual(await seriousFaults(page), [], 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  // Swagger UI fades from one colour to the other.
  await page.waitForTimeout(500);
  await until(async () => (await page.evaluate('document.getAnimations().length')) === 0);
  t.deepEqual(await seriousFaults(page, { runOnly: colours }), [], 'light');
  t.deepEqual([...hosts], [new URL(app.url).host]);
  t.deepEqual(complaints, []);
  const kept = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  );
  t.is(kept, '[{},{},""]');
});

test('without scripts the same document can be read: payments first, every schema', async (t) => {
  const html = await (await fetch(`${ownContent}/reference`)).text();
  const plain = /<noscript>(.*)<\/noscript>/s.exec(html)?.[1] ?? '';
  const headings = Array.from(plain.matchAll(/<h2 id="([^"]*)"/g), ([, id]) => id);
  t.deepEqual(headings, [
    'generic-payments',
    'land-registry',
    'test-pages',
    'health',
    'users',
    'projects',
    'schemas',
  ]);
  const ids = new Set(Array.from(plain.matchAll(/ id="([^"]*)"/g), ([, id]) => id));
  const links = Array.from(plain.matchAll(/<a href="#([^"]*)"/g), ([, id]) => id);
  t.true(links.length > 100);
  t.deepEqual(
    links.filter((id) => !ids.has(id)),
    [],
  );
  const text = await (await fetch(`${ownContent}/reference.md`)).text();
  t.regex(text, /### Start a payment\n\n```http\nPOST \/generic\/request\n```/);
  t.regex(text, /\| `trans_id`, required \| string/);
  t.regex(text, /\| `data\.payment_url`, required \| string, uri \|/, 'fields of fields');
  t.regex(text, /\| `data\.deliveries\[\]\.attempts\[\]\.answer_status`, required \| integer or null \|/);
  t.regex(
    text,
    /Sample answer \(200\):\n\n```json\n\{\n {2}"status": true,\n {2}"message": "Connection successful"/,
  );
});
