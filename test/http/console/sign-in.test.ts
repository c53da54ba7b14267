// Signing in by a link of an email: who gets one, and whom it lets in.
import { setTimeout as sleep } from 'node:timers/promises';
import { createExpiringSignatures } from '@ledger/kernel/expiring-signature.ts';
import type { Mail, MailOutcome } from '@ledger/outbound/mailer.ts';
import test from 'ava';
import { sessionStream } from '../../../src/events/session.ts';
import { until } from '../../embedded/helpers.ts';
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
import { testRuntime } from '../../support/runtime.ts';
import { press, startSignIn } from './sign-in-app.ts';

const { app, ask, clock, now } = await startSignIn();
const minuteMs = 60_000;
// No limit is left from the test before.
test.beforeEach(() => {
  clock.ms += 60 * minuteMs;
});

test.serial('a known user gets a link, which opening does not use up and the button does', async (t) => {
  const { email, id } = await addUser(app.eventStore, 'viewer', 'Siti <b>Auditor</b>');
  const path = await askForLink(app, email);
  const mail = app.mails.at(-1);
  t.is(mail?.to, email);
  t.is(mail?.attachment, undefined);
  t.true(mail?.html.includes('Siti &lt;b&gt;Auditor'));
  t.regex(mail?.html ?? '', /name="color-scheme" content="light dark"[\s\S]*prefers-color-scheme:dark/);
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
  const again = await fetch(`${app.url}${path}`, { headers: { accept: 'text/html' } });
  t.is(again.status, 410);
  t.regex(await again.text(), /used already/);
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

test.serial('a link that the mail server does not take yet is sent later, while it is of use', async (t) => {
  const { email } = await addUser(app.eventStore, 'member');
  const later = { kind: 'failed', reason: 'the mail server answered 451 to RCPT TO' } as const;
  let passedMs = 0;
  let takesAfterMs = 60_000;
  let tried: string[] = [];
  const mailer = {
    async send({ id }: Mail): Promise<MailOutcome> {
      tried.push(id);
      return passedMs < takesAfterMs ? { ...later, isServerDown: false } : { kind: 'sent', messageId: id };
    },
  };
  const sleep = async (ms: number) => {
    passedMs += ms;
  };
  const greylisting = await startApp({ console: { mailer, runtime: testRuntime({ sleep }) } }, app);
  const body = new URLSearchParams({ email });
  const request = () =>
    fetch(`${greylisting.url}/console/sign-in`, { method: 'POST', body, redirect: 'manual' });
  await request();
  await until(() => passedMs >= takesAfterMs && tried.length === 3);
  t.is(new Set(tried).size, 1, 'the same email');
  [takesAfterMs, passedMs, tried] = [Number.POSITIVE_INFINITY, 0, []];
  await request();
  await until(() => tried.length === 5);
  t.true(passedMs < 15 * minuteMs);
  t.is(greylisting.logged.filter(({ reason }) => reason === later.reason).length, 2 + 5);
  await greylisting.close();
});

test.serial(
  'a link is not sent again to a mail server that was too slow: it may have the email',
  async (t) => {
    const { email } = await addUser(app.eventStore, 'member');
    let tried = 0;
    const mailer = {
      async send(): Promise<MailOutcome> {
        tried += 1;
        return { kind: 'failed', reason: 'no answer from the mail server: EABORT', isServerDown: true };
      },
    };
    const sleep = async () => undefined;
    const runtime = testRuntime({ sleep, timeout: () => AbortSignal.abort() });
    const slow = await startApp({ console: { mailer, runtime } }, app);
    const body = new URLSearchParams({ email });
    await fetch(`${slow.url}/console/sign-in`, { method: 'POST', body, redirect: 'manual' });
    await until(() => slow.logged.some(({ msg }) => msg === 'a link to sign in could not be sent'));
    await slow.close();
    t.is(tried, 1);
  },
);

test.serial(
  'links to one user are limited, from wherever they are asked for, and others are still sent',
  async (t) => {
    const [one, other] = [await addUser(app.eventStore, 'member'), await addUser(app.eventStore, 'member')];
    const { close, mails, url } = await startApp({ clock: now, config: { trustedProxies: 1 } }, app);
    const count = mails.length;
    for (let asked = 1; asked <= 10; asked += 1) {
      const body = new URLSearchParams({ email: one.email });
      const headers = { 'x-forwarded-for': `198.51.100.${asked}` };
      const answer = await fetch(`${url}/console/sign-in`, {
        method: 'POST',
        body,
        redirect: 'manual',
        headers,
      });
      t.is(answer.status, 303);
    }
    await askForLink({ url, mails }, other.email);
    const sentTo = mails.slice(count).map(({ to }) => to);
    t.is(sentTo.filter((to) => to === one.email).length, 3);
    await close();
  },
);

test.serial('many requests from one network address keep no other user from their link', async (t) => {
  for (let name = 0; name < 40; name += 1)
    await askForLink(app, (await addUser(app.eventStore, 'member')).email);
  const { email } = await addUser(app.eventStore, 'member');
  t.regex(await askForLink(app, email), /^\/console\/sign-in\/[\w-]{22}$/);
});

test.serial('a link that is changed, too old or of a deactivated user lets nobody in', async (t) => {
  const { email, id } = await addUser(app.eventStore, 'admin');
  const path = await askForLink(app, email);
  for (const wrong of [
    `${path}x`,
    path.slice(0, -1),
    path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A'),
    `/console/sign-in/${'A'.repeat(22)}`,
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
  clock.ms += 15 * minuteMs - 1;
  t.is((await fetch(`${app.url}${path}`)).status, 200);
  clock.ms += 1;
  t.is((await fetch(`${app.url}${path}`)).status, 410);
  t.is((await press(app, path)).status, 410);
  const late = await askForLink(app, email);
  await changeUser(app.eventStore, id, { type: 'DeactivateUser' });
  t.is((await press(app, late)).status, 404);
  await changeUser(app.eventStore, id, { type: 'ReactivateUser' });
  t.is((await press(app, late)).status, 404, 'nor once the user is let in again');
  t.is((await press(app, await askForLink(app, email))).status, 303, 'but a new link does');
});

test.serial('the key together with everything in the store makes neither a link nor a cookie', async (t) => {
  const member = await signIn(app, 'admin');
  const [, value = ''] = member.cookie.split('=');
  const [sessionId = ''] = value.split('.');
  const stored = JSON.stringify(
    (await app.eventStore.load(sessionStream(sessionId))).map(({ data }) => data),
  );
  const [, secretHash = ''] = /"secretHash":"(\w{64})"/.exec(stored) ?? [];
  t.not(secretHash, '');
  const cookieWith = (secret: string, key = linkKeys.current) => {
    const said = `${sessionId}.${secret}`;
    const signatures = createExpiringSignatures({ current: key, others: [] }, 'console session');
    return `console=${said}.${signatures.sign(said, clock.ms + 10 * minuteMs)}`;
  };
  for (const secret of [
    'A'.repeat(43),
    secretHash.slice(0, 43),
    Buffer.from(secretHash, 'hex').toString('base64url'),
  ])
    t.is((await memberOf(app.url, member.id, cookieWith(secret)).get(anyPage)).status, 303);
  const [, secret = ''] = value.split('.');
  t.is((await memberOf(app.url, member.id, cookieWith(secret)).get(anyPage)).status, 404);
  const prolonged = cookieWith(secret, linkKeys.original);
  t.is((await memberOf(app.url, member.id, prolonged).get(anyPage)).status, 303, 'TRANSACTION_ID_KEY');
  t.is((await press(app, `/console/sign-in/${sessionId}`)).status, 404);
});

test.serial('signing in leads to the page that was asked for, and to no other site', async (t) => {
  const comesTo = async (cookie: string) => {
    const { email } = await addUser(app.eventStore, 'member');
    return (await press(app, await askForLink(app, email), { cookie })).headers.get('location');
  };
  const asked = await fetch(`${app.url}/console/payments?q=A%3BB&status=failed`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  });
  t.is(asked.headers.get('location'), '/console/sign-in');
  t.is(await comesTo(cookieOf(asked)), '/console/payments?q=A%3BB&status=failed');
  for (const path of ['/console/payments/0/history.json', `/console/payments?q=${'x'.repeat(2_000)}`]) {
    const accept = path.includes('json') ? 'application/json' : 'text/html';
    const { headers } = await fetch(`${app.url}${path}`, { headers: { accept }, redirect: 'manual' });
    t.deepEqual(headers.getSetCookie(), [], 'what is no page, or too long, is not kept');
  }
  // A page with personal data would open, and the access log would name whoever signs in, without asking.
  const kept = async (site: string) => {
    const headers = { accept: 'text/html', 'sec-fetch-site': site };
    const answer = await fetch(`${app.url}/console/payments/0/payer`, { headers, redirect: 'manual' });
    return answer.headers.getSetCookie().length;
  };
  t.deepEqual(await Promise.all(['cross-site', 'none', 'same-origin'].map(kept)), [0, 0, 1]);
  for (const elsewhere of [
    'https://evil.example/console',
    '//evil.example/console',
    '/\\evil.example/console',
    '/consoles',
    '/console/../docs',
    '/console/sign-in/x',
    'javascript:alert(1)',
    '/console\r\nSet-Cookie: a=b',
  ]) {
    const location = await comesTo(`console-return=${encodeURIComponent(elsewhere)}`);
    t.regex(location ?? '', /^\/console(Set-Cookie:%20a=b)?$/, elsewhere);
  }
  t.is(await comesTo('console-return=%E0%A4%A'), '/console');
});

test.serial('the key of /api/v1 makes users, but lets nobody into the console; an admin does', async (t) => {
  const admin = await signIn(app, 'admin');
  const email = 'made-by-api@agency.example';
  const made = await fetch(`${app.url}/api/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Made by API', email, role: 'admin' }),
  });
  t.is(made.status, 201);
  const { id } = (await made.json()) as { id: string };
  const isSentALink = async () => {
    const sent = app.mails.length;
    await ask(email);
    // The answer does not wait for the mail: one to somebody else is the sign that it would have been sent by now.
    await askForLink(app, (await addUser(app.eventStore, 'viewer')).email);
    return app.mails.slice(sent).some(({ to }) => to === email);
  };
  t.false(await isSentALink());
  t.is((await admin.post(`/console/staff/${id}/reactivate`)).status, 303);
  t.false(await isSentALink(), 'reactivating is no grant');
  t.is((await admin.post(`/console/staff/${id}/grant`, { merchants: '*' })).status, 303);
  t.regex(await askForLink(app, email), /sign-in/);
});
