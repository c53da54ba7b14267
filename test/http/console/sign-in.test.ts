// Signing in by a link of an email, from asking for one to signing out everywhere.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { pino } from 'pino';
import { connectEventStore } from '../../../src/eventstore/client.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import {
  addUser,
  anyPage,
  askForLink,
  changeUser,
  cookieOf,
  memberOf,
  signIn,
} from '../../support/console.ts';

let now = Date.now();
const clock = () => new Date(now);
const minuteMs = 60_000;
const app = await startApp({ clock });
test.after.always(() => app.close());
test.beforeEach(() => {
  now += 60 * minuteMs;
});

const press = ({ url }: Pick<TestApp, 'url'>, path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html', ...headers },
  });
const ask = (email: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/console/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ email }),
    redirect: 'manual',
    headers,
  });

test.serial('whoever is known gets a link, which a look does not use up, and a press does', async (t) => {
  const { email, id } = await addUser(app.eventStore, 'viewer', 'Siti <b>Auditor</b>');
  const path = await askForLink(app, email);
  const mail = app.mails.at(-1);
  t.is(mail?.to, email);
  t.is(mail?.attachment, undefined);
  t.true(mail?.html.includes('Siti &#60;b&#62;Auditor'));
  t.false(`${mail?.id} ${mail?.subject}`.includes(path.slice(-20)));
  for (let look = 1; look <= 3; look += 1) {
    const page = await fetch(`${app.url}${path}`);
    t.is(page.status, 200);
    t.deepEqual(page.headers.getSetCookie(), []);
    t.true((await page.text()).includes(email));
  }
  const answer = await press(app, path);
  t.is(answer.status, 303);
  t.is(answer.headers.get('location'), '/console');
  const member = memberOf(app.url, id, cookieOf(answer));
  const page = await (await member.get(anyPage)).text();
  t.true(page.includes('Siti &lt;b&gt;Auditor&lt;/b&gt;'));
  t.is((await press(app, path)).status, 410, 'it works once');
});

test.serial(
  'an unknown, a deactivated and a malformed address get the same answer, and no email',
  async (t) => {
    const known = await addUser(app.eventStore, 'member');
    const gone = await addUser(app.eventStore, 'member');
    await changeUser(app.eventStore, gone.id, { type: 'DeactivateUser' });
    const count = app.mails.length;
    const answers = [];
    for (const email of [
      'nobody@agency.example',
      gone.email,
      '',
      `${known.email}\r\nBcc: eve@example.org`,
      `${known.email},eve@example.org`,
      'a'.repeat(10_000),
      '\0',
      known.email.toUpperCase(),
    ]) {
      const { status, headers } = await ask(email);
      answers.push(`${status} ${headers.get('location')} ${headers.getSetCookie()}`);
    }
    t.is(new Set(answers).size, 1, answers.join('\n'));
    // The one that is known came last, so that by now the others would have come.
    while (app.mails.length === count) await sleep(10);
    t.deepEqual(
      app.mails.slice(count).map(({ to }) => to),
      [known.email],
    );
  },
);

test.serial('the answer does not wait for the stores', async (t) => {
  const { email } = await addUser(app.eventStore, 'member');
  const never = () => new Promise<never>(() => undefined);
  const stuck = await startApp({ eventStore: { load: never } }, app);
  const answer = await fetch(`${stuck.url}/console/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ email }),
    redirect: 'manual',
  });
  t.is(answer.status, 303);
  await stuck.close();
});

test.serial('links to one address are limited, and others are still sent', async (t) => {
  const [one, other] = [await addUser(app.eventStore, 'member'), await addUser(app.eventStore, 'member')];
  const count = app.mails.length;
  for (let asked = 1; asked <= 10; asked += 1) t.is((await ask(one.email)).status, 303);
  await askForLink(app, other.email);
  const sentTo = app.mails.slice(count).map(({ to }) => to);
  t.is(sentTo.filter((to) => to === one.email).length, 3);
  now += 16 * minuteMs;
  await askForLink(app, one.email);
});

test.serial('a link that is changed, too old or of a deactivated user lets nobody in', async (t) => {
  const { email, id } = await addUser(app.eventStore, 'admin');
  const other = await addUser(app.eventStore, 'admin');
  const path = await askForLink(app, email);
  for (const wrong of [
    `${path}x`,
    path.slice(0, -1),
    path.replace(id, other.id),
    path.replace(/\.(\d{13})\./, (_, time) => `.${Number(time) + 1}.`),
    '/console/sign-in/0',
    `/console/sign-in/${'a'.repeat(5000)}`,
    '/console/sign-in/%00',
  ]) {
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(`${app.url}${wrong}`, { method, headers: { accept: 'text/html' } });
      t.is(answer.status, 404, wrong);
      t.deepEqual(answer.headers.getSetCookie(), []);
    }
  }
  now += 15 * minuteMs - 1;
  t.is((await fetch(`${app.url}${path}`)).status, 200);
  now += 1;
  t.is((await fetch(`${app.url}${path}`)).status, 410);
  t.is((await press(app, path)).status, 410);
  const late = await askForLink(app, email);
  await changeUser(app.eventStore, id, { type: 'DeactivateUser' });
  t.is((await press(app, late)).status, 404);
});

test.serial('50 presses at once make one session', async (t) => {
  const { email } = await addUser(app.eventStore, 'member');
  const beside = await startApp({ clock, config: { baseUrl: app.url } }, app);
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
    const tls = await startApp({ clock, config: { baseUrl: 'https://ledger.example' } }, app);
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
    now += 4 * minuteMs;
    t.is((await member.get(anyPage)).headers.getSetCookie().length, 0, 'fresh enough');
    now += 2 * minuteMs;
    let cookie = cookieOf(await member.get(anyPage));
    t.not(cookie, '');
    t.not(cookie, member.cookie);
    now += 24 * minuteMs;
    t.false(await isIn(member.cookie), 'the older value is dead');
    t.true(await isIn(cookie));
    const startedAt = now - 30 * minuteMs;
    cookie = cookieOf(await memberOf(app.url, member.id, cookie).get(anyPage));
    while (now < startedAt + (12 * 60 - 20) * minuteMs) {
      now += 20 * minuteMs;
      const answer = await memberOf(app.url, member.id, cookie).get(anyPage);
      t.is(answer.status, 404);
      cookie = cookieOf(answer) || cookie;
    }
    now = startedAt + 12 * 60 * minuteMs;
    t.false(await isIn(cookie), 'however it is used');
  },
);

test.serial('a cookie that is changed, or made for something else, is nobody', async (t) => {
  const [one, other] = [await signIn(app, 'viewer'), await signIn(app, 'admin')];
  const [, value = ''] = one.cookie.split('=');
  const parts = value.split('.');
  const swap = (index: number, by: string) => `console=${parts.with(index, by).join('.')}`;
  for (const cookie of [
    swap(1, other.id),
    swap(2, String(Number(parts[2]) + 1)),
    swap(3, String(Number(parts[3]) + 1)),
    'console=',
    `console=${'.'.repeat(4000)}`,
    `__Host-console=${value}`,
  ])
    t.is((await memberOf(app.url, one.id, cookie).get(anyPage)).status, 303, cookie.slice(0, 40));
});

test.serial('signed out is signed out everywhere', async (t) => {
  const member = await signIn(app, 'member');
  const elsewhere = memberOf(app.url, member.id, member.cookie);
  t.is((await elsewhere.get(anyPage)).status, 404);
  const answer = await member.post('/console/sign-out');
  t.is(answer.status, 303);
  t.regex(answer.headers.getSetCookie()[0] ?? '', /^console=; .*Max-Age=0$/);
  t.is((await elsewhere.get(anyPage)).headers.get('location'), '/console/sign-in');
});

test.serial(
  'a role that is changed and an account that is shut count from the next request on',
  async (t) => {
    const member = await signIn(app, 'admin');
    t.is((await member.get('/console/staff')).status, 200);
    await changeUser(app.eventStore, member.id, { type: 'ChangeUserRole', role: 'viewer' });
    t.is((await member.get('/console/staff')).status, 403);
    await changeUser(app.eventStore, member.id, { type: 'DeactivateUser' });
    t.is((await member.get(anyPage)).status, 303);
  },
);

test.serial('while the event store is down nobody is let in, and the page says so', async (t) => {
  const member = await signIn(app, 'admin');
  const unreachable = connectEventStore({
    url: 'esdb://127.0.0.1:9?tls=false',
    log: pino({ level: 'silent' }),
    callDeadlineMs: 200,
  });
  const { load, loadLast } = unreachable;
  const down = await startApp({ clock, eventStore: { load, loadLast } }, app);
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
  const nonce = token.split('.')[1] ?? '';
  for (const secret of [token, nonce, sessionId, cookie, email, 'agency.example'])
    t.false(log.includes(secret), secret);
  t.true(log.includes('"/console/sign-in/:token"'));
});
