// Forms of other sites, other sessions or other sizes are refused; and the headers that every answer of the console has.
import test from 'ava';
import { sessionStream } from '../../../src/events/session.ts';
import { userStream } from '../../../src/events/user.ts';
import { startApp } from '../../support/app.ts';
import { addUser, anyPage, type Member, memberOf, signIn } from '../../support/console.ts';

const app = await startApp();
test.after.always(() => app.close());

/** Something that an admin can do to another user; the tests check whether it was done. */
const deactivate = (id: string) => `/console/staff/${id}/deactivate`;
const isActive = async (id: string) =>
  (await app.eventStore.loadLast(userStream(id)))?.type === 'UserCreated';

test('a form without the token of its own session changes nothing', async (t) => {
  const [admin, other] = [await signIn(app, 'admin'), await signIn(app, 'admin')];
  const { id } = await addUser(app.eventStore, 'member');
  const tokenOf = async (member: Member) =>
    /name="token" value="([^"]+)"/.exec(await (await member.get(anyPage)).text())?.[1] ?? '';
  const mine = await tokenOf(admin);
  for (const token of ['', 'x', await tokenOf(other), `${mine}x`, mine.slice(1), admin.cookie]) {
    const answer = await admin.post(deactivate(id), { token });
    t.is(answer.status, 403, token);
    t.regex(await answer.text(), /does not belong to your current session/);
  }
  const twice = await fetch(`${app.url}${deactivate(id)}`, {
    method: 'POST',
    headers: { cookie: admin.cookie, accept: 'text/html' },
    body: new URLSearchParams([
      ['token', mine],
      ['token', mine],
    ]),
  });
  t.is(twice.status, 403);
  t.true(await isActive(id));
  t.is((await admin.post(deactivate(id), { token: mine })).status, 303);
  t.false(await isActive(id));
});

test('deactivating somebody and removing their passkeys ask first', async (t) => {
  const admin = await signIn(app, 'admin');
  const { id } = await addUser(app.eventStore, 'member', 'Siti <b>');
  for (const [action, asks] of [
    ['deactivate', 'Deactivate Siti &lt;b&gt;'],
    ['remove-passkeys', 'Remove the passkeys of Siti &lt;b&gt;'],
  ] as const) {
    const path = `/console/staff/${id}/${action}`;
    const page = await (await admin.post(path, { confirmed: '' })).text();
    t.true(page.includes(`<h1>${asks}</h1>`), page);
    t.true(page.includes(`action="${path}"`) && page.includes('<a href="/console/staff">Cancel</a>'));
    t.false(page.includes('to the journal'));
  }
  t.true(await isActive(id));
  t.is((await admin.post(deactivate(id))).status, 303);
  t.false(await isActive(id));
});

test('a form of another site is refused before anything else is checked', async (t) => {
  const admin = await signIn(app, 'admin');
  const { id } = await addUser(app.eventStore, 'member');
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${app.url}.evil.example` },
    { origin: app.url, 'sec-fetch-site': 'cross-site' },
    { origin: app.url, 'sec-fetch-site': 'same-site' },
  ] as Record<string, string>[]) {
    const answer = await admin.post(deactivate(id), {}, headers);
    t.is(answer.status, 403, JSON.stringify(headers));
    t.regex(await answer.text(), /from another site/);
    // Otherwise it could sign somebody in under an account of its own.
    for (const path of ['/console/sign-in', '/console/sign-in/a-link'])
      t.is((await fetch(`${app.url}${path}`, { method: 'POST', headers })).status, 403, path);
  }
  t.true(await isActive(id));
  t.is((await admin.post(deactivate(id), {}, { 'sec-fetch-site': 'same-origin' })).status, 303);
});

test('admins cannot change their own account, an unknown one, or give a role that does not exist', async (t) => {
  const admin = await signIn(app, 'admin');
  const { id } = await addUser(app.eventStore, 'member');
  t.is((await admin.post(deactivate(admin.id))).status, 409);
  t.is((await admin.post(`/console/staff/${admin.id}/role`, { role: 'viewer' })).status, 409);
  t.true(await isActive(admin.id));
  t.is((await admin.post(`/console/staff/${id}/role`, { role: 'king' })).status, 400);
  t.is((await admin.post(`/console/staff/${id}/role`)).status, 400);
  t.is((await admin.post('/console/staff/0/role', { role: 'viewer' })).status, 404);
  t.is((await admin.post(deactivate('5M1SKTZWGWX0D8P81WNP17GSCQ'))).status, 404);
  t.is((await admin.post(`/console/staff/${id}/role`, { role: 'viewer' })).status, 303);
  const event = await app.eventStore.loadLast(userStream(id));
  t.like(event, { type: 'UserRoleChanged', data: { role: 'viewer' } });
  t.like(event?.metadata, { actor: `staff:${admin.id}` });
});

test('a body that is too large, or is not a form, is refused', async (t) => {
  const admin = await signIn(app, 'admin');
  t.is((await admin.post('/console/sign-out', { more: 'x'.repeat(70_000) })).status, 413);
  const notForm = await admin.post('/console/sign-out', {}, { 'content-type': 'application/json' });
  t.is(notForm.status, 415);
  t.regex(await notForm.text(), /Something in this request is wrong/);
  t.is((await admin.get(anyPage)).status, 404, 'still signed in');
  const nobody = await fetch(`${app.url}/console/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ email: 'x'.repeat(70_000) }),
  });
  t.is(nobody.status, 413);
});

test('pages of the console load only our own files, and are not cached', async (t) => {
  const admin = await signIn(app, 'admin');
  const answers = [
    await admin.get('/console'),
    await admin.get('/console/nothing'),
    await admin.get('/console/payments/0'),
    await fetch(`${app.url}/console/sign-in`),
  ];
  for (const { headers, url } of answers) {
    const policy = headers.get('content-security-policy') ?? '';
    t.regex(
      policy,
      /^default-src 'none'; style-src 'self'; script-src 'self';.*frame-ancestors 'none'$/,
      url,
    );
    t.notRegex(policy, /unsafe/);
    t.is(headers.get('cache-control'), 'no-store');
    t.is(headers.get('referrer-policy'), 'strict-origin');
  }
  const page = await (await admin.get(anyPage)).text();
  t.notRegex(page, /<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/);
  for (const [, path = ''] of page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)) {
    const asset = await fetch(`${app.url}${path}`);
    t.is(asset.status, 200);
    t.regex(asset.headers.get('cache-control') ?? '', /immutable/);
  }
});

test('an unknown address is a page of the console for people and JSON for programs', async (t) => {
  const admin = await signIn(app, 'admin');
  const page = await admin.get('/console/nothing');
  t.is(page.status, 404);
  t.regex(await page.text(), /<h1>Not found<\/h1>/);
  const json = await admin.get('/console/nothing', { accept: 'application/json' });
  t.deepEqual(await json.json(), { status: false, message: 'Not found' });
  const method = await admin.post('/console');
  t.is(method.status, 405);
  t.is((await admin.get('/console/')).headers.get('location'), '/console');
});

test('a page shows no text from its address', async (t) => {
  const admin = await signIn(app, 'admin');
  for (const path of [
    `${anyPage}?notice=<script>`,
    `${anyPage}?notice=constructor`,
    `${anyPage}?notice=toString`,
  ])
    t.notRegex(await (await admin.get(path)).text(), /class="notice|<script>/);
  t.regex(await (await admin.get(`${anyPage}?notice=role-changed`)).text(), /class="notice success"/);
});

test('the event that ends a session is its last', async (t) => {
  const admin = await signIn(app, 'admin');
  const [, value = ''] = admin.cookie.split('=');
  const [sessionId = ''] = value.split('.');
  const stale = memberOf(app.url, admin.id, admin.cookie);
  await stale.get(anyPage);
  await Promise.all([admin.post('/console/sign-out'), stale.post('/console/sign-out')]);
  const events = await app.eventStore.load(sessionStream(sessionId));
  t.deepEqual(
    events.map(({ type }) => type),
    ['SignInLinkIssued', 'SignedIn', 'SignedOut'],
  );
});
