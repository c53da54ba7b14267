// Sessions of the console, from their beginning to signing out everywhere.
import { connectEventStore } from '@ledger/event-store/client.ts';
import { createExpiringSignatures } from '@ledger/kernel/expiring-signature.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { pino } from 'pino';
import { longestSessionMs } from '../../../src/http/console/frame/session.ts';
import { linkKeys, startApp } from '../../support/app.ts';
import {
  addUser,
  anyPage,
  askForLink,
  changeUser,
  cookieOf,
  memberOf,
  signIn,
} from '../../support/console.ts';
import { createPayment } from '../generic/helpers.ts';
import { press, startSignIn } from './sign-in-app.ts';

const { app, clock, now } = await startSignIn();
const minuteMs = 60_000;
// No limit is left from the test before.
test.beforeEach(() => {
  clock.ms += 60 * minuteMs;
});

test.serial('50 presses at once make one session', async (t) => {
  const { email } = await addUser(app.eventStore, 'member');
  const beside = await startApp({ clock: now, config: { baseUrl: app.url } }, app);
  const path = await askForLink(app, email);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => press(index % 2 ? app : beside, path)),
  );
  t.is(answers.filter(({ status }) => status === 303).length, 1);
  t.is(answers.filter(({ status }) => status === 410).length, 49);
  t.is(answers.filter(({ headers }) => headers.getSetCookie().length > 0).length, 1);
  await beside.close();
});

test.serial(
  'the cookie is out of reach of scripts and other sites, and over TLS bound to the host',
  async (t) => {
    const { email } = await addUser(app.eventStore, 'member');
    const [plain = ''] = (await press(app, await askForLink(app, email))).headers.getSetCookie();
    t.regex(plain, /^console=[\w.-]+; Path=\/console; HttpOnly; SameSite=Lax; Max-Age=1800$/);
    const tls = await startApp({ clock: now, config: { baseUrl: 'https://ledger.example' } }, app);
    const path = await askForLink({ url: tls.url, mails: tls.mails }, email);
    const [cookie = ''] = (await press(tls, path)).headers.getSetCookie();
    t.regex(cookie, /^__Host-console=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=1800$/);
    const [value = ''] = cookie.split(';');
    t.is((await memberOf(tls.url, '', value).get(anyPage)).status, 404, 'it is taken back');
    await tls.close();
  },
);

test.serial(
  'a session ends half an hour after its last use, and after twelve hours at the latest',
  async (t) => {
    const member = await signIn(app, 'member');
    const isIn = async (cookie: string) =>
      (await memberOf(app.url, member.id, cookie).get(anyPage)).status === 404;
    clock.ms += 4 * minuteMs;
    t.is((await member.get(anyPage)).headers.getSetCookie().length, 0, 'fresh enough');
    clock.ms += 2 * minuteMs;
    const byItself = await member.get(anyPage, { 'x-background': '1' });
    t.is(byItself.headers.getSetCookie().length, 0, 'an open page that looks for news is no use');
    const live = await member.get('/console/live');
    t.is(live.headers.getSetCookie().length, 0);
    await live.body?.cancel();
    let cookie = cookieOf(await member.get(anyPage));
    t.not(cookie, '');
    t.not(cookie, member.cookie);
    clock.ms += 24 * minuteMs;
    t.false(await isIn(member.cookie), 'the older value is dead');
    t.true(await isIn(cookie));
    const startedAt = clock.ms - 30 * minuteMs;
    cookie = cookieOf(await memberOf(app.url, member.id, cookie).get(anyPage));
    while (clock.ms < startedAt + (12 * 60 - 20) * minuteMs) {
      clock.ms += 20 * minuteMs;
      const answer = await memberOf(app.url, member.id, cookie).get(anyPage);
      t.is(answer.status, 404);
      cookie = cookieOf(answer) || cookie;
    }
    clock.ms = startedAt + 12 * 60 * minuteMs;
    t.false(await isIn(cookie), 'however it is used');
  },
);

test.serial('a cookie that was changed, or made for something else, is refused', async (t) => {
  const [one, other] = [await signIn(app, 'viewer'), await signIn(app, 'admin')];
  const [, value = ''] = one.cookie.split('=');
  const parts = value.split('.');
  const otherParts = other.cookie.replace('console=', '').split('.');
  const swap = (index: number, by: string) => `console=${parts.with(index, by).join('.')}`;
  for (const cookie of [
    swap(0, otherParts[0] ?? ''),
    swap(1, otherParts[1] ?? ''),
    swap(2, String(Number(parts[2]) + 1)),
    swap(3, otherParts[3] ?? ''),
    `console=${[...parts.slice(0, 2), ...otherParts.slice(2)].join('.')}`,
    'console=',
    `console=${'.'.repeat(4000)}`,
    `__Host-console=${value}`,
  ])
    t.is((await memberOf(app.url, one.id, cookie).get(anyPage)).status, 303, cookie.slice(0, 40));
});

test.serial('a session ends when it was to end, even for who can sign cookies', async (t) => {
  const { cookie, id } = await signIn(app, 'viewer');
  const ticket = cookie.replace('console=', '').split('.').slice(0, 2).join('.');
  const endsAt = clock.ms + longestSessionMs;
  const signature = createExpiringSignatures(linkKeys, 'console session').sign(ticket, endsAt + minuteMs);
  const statusOf = async () =>
    (await memberOf(app.url, id, `console=${ticket}.${signature}`).get(anyPage)).status;
  clock.ms = endsAt - 1;
  t.is(await statusOf(), 404);
  clock.ms = endsAt;
  t.is(await statusOf(), 303);
});

test.serial('signed out is signed out everywhere', async (t) => {
  const member = await signIn(app, 'member');
  const elsewhere = memberOf(app.url, member.id, member.cookie);
  t.is((await elsewhere.get(anyPage)).status, 404);
  const answer = await member.post('/console/sign-out');
  t.is(answer.status, 303);
  t.regex(answer.headers.getSetCookie()[0] ?? '', /^console=; .*Max-Age=0$/);
  t.is((await elsewhere.get(anyPage)).headers.get('location'), '/console/sign-in');
  const token = 'of the session that has ended';
  const form = await elsewhere.post(`${anyPage}/notes`, { token });
  t.is(form.headers.get('location'), '/console/sign-in?notice=expired', 'nothing of it was done');
  const again = await elsewhere.post('/console/sign-out', { token });
  t.is(again.headers.get('location'), answer.headers.get('location'), 'what was asked for is so');
  t.regex(await elsewhere.read('/console/sign-in?notice=expired'), /What you sent was not recorded/);
});

test.serial('a new role and a deactivated account take effect at the next request', async (t) => {
  const member = await signIn(app, 'admin');
  t.is((await member.get('/console/staff')).status, 200);
  await changeUser(app.eventStore, member.id, { type: 'ChangeUserRole', role: 'viewer' });
  t.is((await member.get('/console/staff')).status, 403);
  await changeUser(app.eventStore, member.id, { type: 'DeactivateUser' });
  t.is((await member.get(anyPage)).status, 303);
  await changeUser(app.eventStore, member.id, { type: 'ReactivateUser' });
  t.is((await member.get(anyPage)).status, 303, 'let in again is to sign in again');
});

test.serial('while the event store is down nobody can sign in, and the page says so', async (t) => {
  const member = await signIn(app, 'admin');
  const unreachable = connectEventStore({
    url: 'esdb://127.0.0.1:9?tls=false',
    log: pino({ level: 'silent' }),
    callDeadlineMs: 200,
    runtime: systemRuntime,
  });
  const { load, loadLast } = unreachable;
  const down = await startApp({ clock: now, eventStore: { load, loadLast } }, app);
  const answer = await memberOf(down.url, member.id, member.cookie).get(anyPage);
  t.is(answer.status, 503);
  t.regex(await answer.text(), /not available at the moment/);
  const [sessionId = ''] = member.cookie.replace('console=', '').split('.');
  t.false(JSON.stringify(down.logged).includes(sessionId));
  await down.close();
  await unreachable.close();
});

test.serial('neither tokens nor sessions nor addresses are in the log', async (t) => {
  const { email, id } = await addUser(app.eventStore, 'admin');
  const path = await askForLink(app, email);
  await fetch(`${app.url}${path}`);
  const cookie = cookieOf(await press(app, path));
  const member = memberOf(app.url, id, cookie);
  await member.get(anyPage);
  await member.post('/console/sign-out');
  const log = JSON.stringify(app.logged);
  const token = path.split('/').at(-1) ?? '';
  const [sessionId = ''] = cookie.split('=')[1]?.split('.') ?? [];
  t.regex(sessionId, /^\w{26}$/);
  for (const secret of [token, sessionId, cookie, email, 'agency.example'])
    t.false(log.includes(secret), secret);
  t.true(log.includes('"/console/sign-in/:token"'));
});

test.serial('a prefetched page is refused, and no access recorded', async (t) => {
  const member = await signIn(app, 'viewer');
  const path = `/console/payments/${await createPayment(app)}/payer`;
  const before = await app.eventStore.head();
  for (const headers of [
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
  ] as Record<string, string>[])
    t.is((await member.get(path, headers)).status, 503, JSON.stringify(headers));
  t.deepEqual(await app.eventStore.head(), before);
});

test.serial(
  'no other site, mail or program makes a browser open personal data in the name of its user',
  async (t) => {
    const member = await signIn(app, 'viewer');
    const id = await createPayment(app);
    const before = await app.eventStore.head();
    for (const path of [`${id}/payer`, `${id}/events/0`, `${id}/history.json`])
      for (const site of ['cross-site', 'same-site', 'none', '']) {
        const refused = await member.get(`/console/payments/${path}`, { 'sec-fetch-site': site });
        t.is(refused.status, 403, `${path} ${site}`);
        t.true((await refused.text()).includes(`href="/console/payments/${path}"`), 'the page leads on');
      }
    t.deepEqual(await app.eventStore.head(), before);
    t.is((await member.get(`/console/payments/${id}/payer`)).status, 200);
    t.notDeepEqual(await app.eventStore.head(), before, 'opened from the console, it is recorded');
  },
);
