// Each page of the console in English and in Malay: nothing that it says is left in the other language.
import test from 'ava';
import { texts } from '../../../src/http/console/texts.ts';
import { loadAxe, openBrowser, seriousFaults, skippedWithoutBrowser } from '../../e2e/browser/chromium.ts';
import { gatewayCsv } from '../../reconciliation/helpers.ts';
import { startApp } from '../../support/app.ts';
import { addUser, type Member, memberOf, signIn } from '../../support/console.ts';
import { createDatabase } from '../../support/postgres.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { startEverything, upload } from './everything.ts';

/** One console for the tests of the file, which change nothing that another looks at. */
const everything = await startEverything(wholeFile, await createDatabase());

const copied = /<(code|pre|style|script)\b[\s\S]*?<\/\1>|<table class="evidence">[\s\S]*?<\/table>/g;

/** What a page says: its texts, and those of its attributes. What was recorded elsewhere and is shown as it is stays out. */
function saidIn(html: string): Set<string> {
  const page = html.replace(copied, '');
  const attributes = page.matchAll(/\s(?:title|aria-label|placeholder|alt)="([^"]*)"/g);
  const texts = page.replace(/<[^>]*>/g, '\n').split('\n');
  const all = [...texts, ...Array.from(attributes, ([, text = '']) => text)];
  return new Set(all.map((text) => text.trim()).filter((text) => /\p{L}{2}/u.test(text)));
}

/** Words that the languages share, and what the test data are called. */
const same = new Set([
  ...['Bank', 'CSV', 'Debit', 'DuitNow QR', 'Format', 'Import', 'PDF', 'Status'],
  ...[
    'Staff, admin',
    'Staff, admin,',
    'Staff, member',
    'Staff, viewer',
    'Former staff',
    'council',
    'Example City Council',
    'Assessment tax',
  ],
  ...['State Land Office (state-land)', 'District Land Office (district-land)'],
  ...['Example City Council (council)', 'Museum &lt;of&gt; &quot;Ships&quot; &amp; Sails (museum)'],
  ...[
    'Aminah binti Ismail',
    'AMINAH BINTI ISMAIL',
    'aminah ismail',
    '1 Jalan Contoh, 30000 Ipoh, Perak',
    'Second half of 2026',
  ],
  ...['Example City Council, 2026-11-20', 'account_no', 'a row differs', 'INV', 'ZZZ'],
  // Of what the merchant is called in the program: channels, projections, deliveries.
  ...['(council, generic)', 'generic', 'journal', 'payments', 'users', 'email', 'bank'],
]);

/** Amounts, numbers, accounts, addresses, and types of events. */
const named =
  /^(?:RM [\d,.]+|\S*[\d@:/]\S*|gateway-unmatched-\S+ 0|\S+\.example|[A-Z][a-z]+(?:[A-Z][a-z]+)+)$/;

type Answers = { english: Response; malay: Response };

/** Texts of the Malay answer that are also in the English one. */
async function leftIn({ english, malay }: Answers): Promise<string[]> {
  const said = saidIn(await english.text());
  const html = await malay.text();
  if (!html.includes('<html lang="ms">')) return ['the language of the page'];
  return [...saidIn(html)].filter((text) => said.has(text) && !same.has(text) && !named.test(text));
}

const inMalay = ({ cookie, id }: Member, url: string) => memberOf(url, id, `${cookie}; console-language=ms`);

test.serial('every page says in Malay what it says in English', async (t) => {
  t.timeout(300_000);
  const { admin, app, pages } = everything;
  const others = /\.(csv|json|pdf)$|\/(live|receipt|download|find|by-payer)$/;
  const shown = app.consoleRoutes.filter(({ method, path }) => method === 'get' && !others.test(path));
  t.deepEqual(shown.map(({ path }) => path).toSorted(), Object.keys(pages).toSorted());
  const member = inMalay(admin, app.url);
  for (const path of Object.values(pages).flat()) {
    const answers = { english: await admin.get(path), malay: await member.get(path) };
    t.deepEqual([answers.english.status, answers.malay.status], [200, 200], path);
    t.deepEqual(await leftIn(answers), [], path);
  }
});

test.serial('so do the answers to forms, and what is refused', async (t) => {
  t.timeout(300_000);
  const { admin, app, ids } = everything;
  const member = inMalay(admin, app.url);
  const refund = { chargeNo: '1', amount: '10.00', gatewayReference: 'RF-1', reason: 'R-9' };
  const exception = `/console/exceptions/payment/${ids.twice}/2`;
  const together = '/console/exceptions/resolve?kind=difference';
  const forms: readonly [path: string, fields: Record<string, string>, status: number][] = [
    ['/console/payments/by-payer', { payer: 'aminah ismail' }, 200],
    [`/console/payments/${ids.paid}/refund`, { ...refund, confirmed: '' }, 200],
    [`/console/payments/${ids.paid}/refund`, { ...refund, amount: '100.00', confirmed: '' }, 200],
    [`/console/payments/${ids.paid}/refund`, { ...refund, amount: '' }, 400],
    [`/console/payments/${ids.paid}/refund`, { ...refund, amount: '500.00' }, 409],
    [`/console/payments/${ids.paid}/notes`, { note: '' }, 400],
    [exception, { resolution: 'refunded', note: 'R-9', confirmed: '' }, 200],
    [exception, { resolution: 'explained', note: '' }, 400],
    ['/console/export', { from: '', to: '', format: 'csv' }, 400],
    [`/console/payments/${ids.paid}/send-again`, { delivery: 'x' }, 404],
    ['/console/deliveries/send-again', { state: 'abandoned', count: '0' }, 409],
    [together, { resolution: 'explained', note: 'R-9', count: '1', atOnce: '1', confirmed: '' }, 200],
    [together, { resolution: 'explained', note: 'R-9', count: '99' }, 409],
    ['/console/exceptions/resolve', {}, 400],
    ['/console/sign-out', { token: 'x' }, 403],
  ];
  for (const [path, fields, status] of forms) {
    const answers = { english: await admin.post(path, fields), malay: await member.post(path, fields) };
    t.deepEqual([answers.english.status, answers.malay.status], [status, status], path);
    t.deepEqual(await leftIn(answers), [], `${path} ${JSON.stringify(fields)}`);
  }
  const files: readonly [path: string, csv: string, fields: Record<string, string>][] = [
    ['/console/reconciliation', 'a,b\n1,2\n', {}],
    [
      '/console/reconciliation',
      gatewayCsv([{ TRANS_ID: ids.paid, PAYMENT_TRANS_ID: 'P1', AMOUNT: '98.00' }, { AMOUNT: 'x' }]),
      { dry: '1' },
    ],
    ['/console/settlements', 'REFERENCE,SETTLED_ON,TOTAL,TRANS_ID,PAYMENT_MODE,AMOUNT,FEE\n!,,,,,,\n', {}],
  ];
  for (const [path, csv, fields] of files) {
    const english = await upload(everything, admin, path, csv, fields);
    t.deepEqual(
      await leftIn({ english, malay: await upload(everything, member, path, csv, fields) }),
      [],
      path,
    );
  }
  for (const query of [
    'payments/x',
    'payments?day=x',
    'payments?least=x',
    'journal?at=x',
    'nowhere',
    'staff?after=x',
  ]) {
    const [english, malay] = [await admin.get(`/console/${query}`), await member.get(`/console/${query}`)];
    t.true(english.status >= 400, query);
    t.deepEqual(await leftIn({ english, malay }), [], query);
  }
  for (const notice of Object.keys(texts.en.notices)) {
    const path = `/console/own-account?notice=${notice}`;
    t.deepEqual(await leftIn({ english: await admin.get(path), malay: await member.get(path) }), [], notice);
  }
});

test.serial(
  'the language is chosen before signing in, kept, and that of the email with the link',
  async (t) => {
    const app = await startApp();
    t.teardown(app.close);
    const { email } = await addUser(app.eventStore, 'viewer');
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${app.url}${path}`, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });
    const page = await (await get('/console/sign-in?notice=link-requested')).text();
    t.regex(
      page,
      /<a class="language" href="\?notice=link-requested&amp;lang=ms" lang="ms" hreflang="ms">Bahasa Melayu<\/a>/,
    );
    t.regex(
      await (await get('/console/sign-in', { 'accept-language': 'ms-MY,ms;q=0.9' })).text(),
      /<html lang="ms">/,
    );

    const chosen = await get('/console/sign-in?notice=link-requested&lang=ms');
    t.is(chosen.status, 303);
    t.is(
      chosen.headers.get('location'),
      '/console/sign-in?notice=link-requested',
      'no link keeps the parameter',
    );
    const [cookie = ''] = chosen.headers.getSetCookie();
    t.regex(cookie, /^console-language=ms; Path=\/console; HttpOnly; SameSite=Lax; Max-Age=31536000$/);
    const kept = { cookie: 'console-language=ms' };
    const signInPage = await (await get('/console/sign-in?notice=link-requested', kept)).text();
    t.regex(
      signInPage,
      /<html lang="ms">[\s\S]*Log masuk[\s\S]*href="\?notice=link-requested&amp;lang=en" lang="en"/,
    );
    t.regex(
      await (await get('/console/sign-in', { cookie: 'console-language=xx' })).text(),
      /<html lang="en">/,
    );
    t.is((await get('/console/sign-in?lang=xx')).status, 200);

    const before = app.mails.length;
    await fetch(`${app.url}/console/sign-in`, {
      method: 'POST',
      headers: kept,
      body: new URLSearchParams({ email }),
    });
    while (app.mails.length === before) await new Promise((resolve) => setTimeout(resolve, 10));
    const mail = app.mails.at(-1);
    t.is(mail?.subject, 'Log masuk ke lejar bayaran');
    t.regex(mail?.text ?? '', /Pautan ini boleh digunakan sekali sahaja, dalam tempoh 15 minit\./);
    t.regex(mail?.html ?? '', /<html lang="ms">[\s\S]*>Log masuk<\/a>/);
    t.notRegex(mail?.text ?? '', /sign in to the/i);
  },
);

test.serial(
  'the answer to a form leads to the first page in the other language, a statement has its own',
  async (t) => {
    const app = await startApp();
    t.teardown(app.close);
    const admin = await signIn(app, 'admin');
    const refused = await (await admin.post('/console/export', {})).text();
    t.true(refused.includes('href="/console?lang=ms"'));
    const pdf = await admin.get('/console/statements/collection.pdf?lang=ms');
    t.not(pdf.status, 303);
  },
);

test.serial('pages in Malay fit a phone, and axe finds no serious fault', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  t.timeout(600_000);
  const { admin, app, pages } = everything;
  const { context, page } = await openBrowser(t, { viewport: { width: 360, height: 780 } });
  await loadAxe(context);
  const [name = '', value = ''] = admin.cookie.split('=');
  await context.addCookies([
    { name, value, url: app.url },
    { name: 'console-language', value: 'ms', url: app.url },
  ]);
  await page.goto(`${app.url}/console/own-account`);
  for (const path of Object.values(pages).flat()) {
    // As a link of the console: pages with personal data open in no other way.
    await Promise.all([page.waitForEvent('load'), page.evaluate(`location.assign(${JSON.stringify(path)})`)]);
    t.deepEqual(await seriousFaults(page), [], path);
    t.is(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      0,
      `${path} scrolls sideways`,
    );
    const isAside =
      '[...document.querySelectorAll(".notice ul")].some((list) => list.getBoundingClientRect().top < list.previousElementSibling.getBoundingClientRect().bottom)';
    t.false(await page.evaluate(isAside), `${path} has a list beside its sentence`);
    const isOutOfSight =
      '[...document.querySelectorAll("nav [aria-current=page]")].some((link) => link.getBoundingClientRect().left < 0 || link.getBoundingClientRect().right > innerWidth)';
    t.false(await page.evaluate(isOutOfSight), `${path} does not show its own entry of the menu`);

    // On a tablet, everything that can be pressed or filled in is within the frame of its table.
    await page.setViewportSize({ width: 768, height: 1024 });
    const isCutOff =
      '[...document.querySelectorAll(".table > table")].flatMap((table) => [...table.querySelectorAll("td :is(button, input, select)")].filter((control) => control.checkVisibility() && control.getBoundingClientRect().right > table.parentElement.getBoundingClientRect().right).map((control) => control.outerHTML))';
    t.deepEqual(await page.evaluate(isCutOff), [], `${path} is wider than a tablet`);
    await page.setViewportSize({ width: 360, height: 780 });
  }
});

test.serial('a heading that sorts is printed as text, without its button and arrow', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  const { admin, app } = everything;
  const { context, page } = await openBrowser(t, {});
  const [name = '', value = ''] = admin.cookie.split('=');
  await context.addCookies([{ name, value, url: app.url }]);
  await page.goto(`${app.url}/console/projections`);
  const sort = page.getByRole('button', { name: 'Status' });
  await sort.click();
  const heading = page.locator('thead th').nth(1);
  t.is(await heading.innerText(), 'Status');
  await page.emulateMedia({ media: 'print' });
  t.false(await sort.isVisible());
  t.is(await heading.innerText(), 'Status');
});
