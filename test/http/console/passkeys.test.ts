// Passkeys of staff, against everybody who has a link of an email and not the device, or a device and not the account.
import test, { type ExecutionContext } from 'ava';
import { createExecute } from '../../../src/commands/execute.ts';
import { passkeyDecider } from '../../../src/commands/passkeys.ts';
import { passkeyUseStream } from '../../../src/events/passkeys.ts';
import { sessionStream } from '../../../src/events/session.ts';
import { type Role, userStream } from '../../../src/events/user.ts';
import { startApp } from '../../support/app.ts';
import {
  type Authenticator,
  certificate,
  createAuthenticator,
  demandOf,
  forgedAttestation,
  type Lies,
} from '../../support/authenticator.ts';
import {
  addUser,
  anyPage,
  askForLink,
  changeUser,
  cookieOf,
  type Member,
  memberOf,
  signIn,
} from '../../support/console.ts';

let now = Date.now();
const clock = () => new Date(now);
const minuteMs = 60_000;
const development = await startApp({ clock });
/** As in production, where admins need a passkey. */
const app = await startApp({ clock, config: { passkeysRequired: true } }, development);
test.after.always(async () => {
  await app.close();
  await development.close();
});

const authenticator = () => createAuthenticator(app.url);
const press = (path: string, fields: Record<string, string> = {}) =>
  fetch(`${app.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html' },
    body: new URLSearchParams(fields),
  });

/** What the page behind a link asks for; `none` answers no challenge. */
async function open(path: string) {
  const page = await (await fetch(`${app.url}${path}`)).text();
  const { create, get } = demandOf(page);
  return { page, create, get, none: { challenge: '' } };
}

/** An admin who has registered a passkey on the way in. */
async function addAdmin(device = authenticator()) {
  const { id, email } = await addUser(app.eventStore, 'admin');
  const path = await askForLink(app, email);
  const { create, none } = await open(path);
  const answer = await press(path, { name: 'Laptop', response: device.create(create ?? none) });
  return { id, email, device, answer, member: memberOf(app.url, id, cookieOf(answer)) };
}

async function isRefused(t: ExecutionContext, answer: Response, status: number, what: string) {
  t.is(answer.status, status, what);
  t.deepEqual(answer.headers.getSetCookie(), [], what);
}

const isIn = async (member: Member) => (await member.get(anyPage)).status === 404;

test.serial('an admin registers a passkey on the way in, and needs it from then on', async (t) => {
  const device = authenticator();
  const { id, email } = await addUser(app.eventStore, 'admin');
  const path = await askForLink(app, email);
  const first = await open(path);
  t.regex(first.page, /Admins sign in with a passkey/);
  const nameless = { response: device.create(first.create ?? first.none) };
  await isRefused(t, await press(path, nameless), 400, 'without a name');
  await isRefused(t, await press(path, { name: 'Laptop' }), 403, 'without a passkey');
  const created = device.create(first.create ?? first.none, { transports: ['usb', '<b>', 3] });
  const registered = await press(path, { name: 'Laptop', response: created });
  t.is(registered.status, 303);
  const [, event] = await app.eventStore.load(userStream(id));
  t.like(event, { type: 'PasskeyRegistered', metadata: { actor: `staff:${id}` } });
  t.like(event?.data, { id: device.id, name: 'Laptop', counter: 0, transports: ['usb'] });
  const member = memberOf(app.url, id, cookieOf(registered));
  t.true(await isIn(member));
  const account = await (await member.get('/console/own-account')).text();
  t.regex(account, /Opened this session/);
  t.notRegex(account, /Not used yet/, 'registering it has opened the session');

  const next = await askForLink(app, email);
  const { get, create, page, none } = await open(next);
  t.is(create, undefined);
  t.regex(page, /the link alone does not sign you in/);
  t.regex(
    page,
    /scripts are switched off.*<code>ledger users remove-passkeys/s,
    'for whoever has no scripts',
  );
  await isRefused(t, await press(next), 403, 'the link alone');
  const answer = await press(next, { response: device.get(get ?? none) });
  t.is(answer.headers.get('location'), '/console');
  const [sessionId = ''] = cookieOf(answer).replace('console=', '').split('.');
  t.like(await app.eventStore.loadLast(sessionStream(sessionId)), {
    type: 'SignedIn',
    data: { passkey: device.id },
  });
  t.like((await app.eventStore.loadLast(passkeyUseStream(id, device.id)))?.data, {
    userId: id,
    sessionId,
    counter: 1,
  });
});

test.serial(
  'with a link of an email, no answer but that of the passkey itself opens a session',
  async (t) => {
    const { email, device } = await addAdmin();
    const other = await addAdmin();
    const stolen = await open(await askForLink(app, other.email));
    const path = await askForLink(app, email);
    const { get, none } = await open(path);
    const asked = get ?? none;
    const attacks: [what: string, response: string][] = [
      ['nothing', ''],
      ['no JSON', '{'],
      ['null', 'null'],
      ['a list', '[]'],
      ['another shape', '{"id":{},"response":[]}'],
      ['the prototype', '{"id":"__proto__","rawId":"__proto__","type":"public-key","response":{}}'],
      ['the passkey of another user', other.device.get(asked)],
      ['another passkey under its id', other.device.get(asked, { id: device.id })],
      ['one that is not registered', authenticator().get(asked)],
      ['a registration', device.create(asked)],
      ['a challenge of another session', device.get(stolen.get ?? none)],
      ['a challenge of nobody', device.get({ challenge: Buffer.from('0'.repeat(22)).toString('base64url') })],
      ['no challenge', device.get(none)],
    ];
    const lies: Record<string, Lies> = {
      'another origin': { origin: 'https://evil.example' },
      'its origin with another port': { origin: 'http://127.0.0.1:1' },
      'another site': { rpId: 'evil.example' },
      'an unverified user': { flags: 1 },
      'an absent user': { flags: 0 },
      'another ceremony': { type: 'webauthn.create' },
    };
    for (const [what, lie] of Object.entries(lies)) attacks.push([what, device.get(asked, lie)]);
    const changed = JSON.parse(device.get(asked));
    changed.response.signature = Buffer.from('signed').toString('base64url');
    attacks.push(['a signature of nobody', JSON.stringify(changed)]);
    const before = await app.eventStore.head();
    for (const [what, response] of attacks) await isRefused(t, await press(path, { response }), 403, what);
    t.deepEqual(await app.eventStore.head(), before, 'none is recorded');
    const reasons = app.logged.filter(({ msg }) => msg === 'a passkey was refused');
    t.true(
      reasons.some(({ reason }) => /evil\.example/.test(String(reason))),
      'the log says why',
    );
    t.is((await press(path, { response: device.get(asked) })).status, 303, 'the passkey itself does');
  },
);

test.serial('a challenge expires, and an answer that was used opens nothing again', async (t) => {
  const { email, device } = await addAdmin();
  const path = await askForLink(app, email);
  const late = await open(path);
  now += 5 * minuteMs;
  await isRefused(t, await press(path, { response: device.get(late.get ?? late.none) }), 403, 'expired');
  const { get, none } = await open(path);
  const response = device.get(get ?? none);
  t.is((await press(path, { response })).status, 303);
  await isRefused(t, await press(path, { response }), 410, 'the same again');
  const next = await askForLink(app, email);
  await isRefused(t, await press(next, { response }), 403, 'the same in another session');
});

test.serial(
  '20 answers at once open one session, and none of them is taken for a copy of the passkey',
  async (t) => {
    for (const counter of [0, 7]) {
      const { email, device } = await addAdmin();
      const path = await askForLink(app, email);
      const { get, none } = await open(path);
      const response = device.get(get ?? none, { counter });
      const answers = await Promise.all(Array.from({ length: 20 }, () => press(path, { response })));
      t.is(answers.filter(({ headers }) => headers.getSetCookie().length > 0).length, 1);
      t.deepEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [303, 410]);
    }
  },
);

test.serial('two browsers with one link register one passkey, that of the session', async (t) => {
  const { id, email } = await addUser(app.eventStore, 'admin');
  const path = await askForLink(app, email);
  const { create, none } = await open(path);
  const devices = [authenticator(), authenticator(), authenticator()];
  const answers = await Promise.all(
    devices.map((device) => press(path, { name: 'Mine', response: device.create(create ?? none) })),
  );
  const registered = (await app.eventStore.load(userStream(id))).slice(1);
  t.is(registered.length, 1);
  const signedIn = devices[answers.findIndex(({ headers }) => headers.getSetCookie().length > 0)];
  t.like(registered[0], { type: 'PasskeyRegistered', data: { id: signedIn?.id } });
});

/** A link of an email, and what comes of an answer with each of the counters. */
async function useWith({ email, device }: { email: string; device: Authenticator }, counters: number[]) {
  const path = await askForLink(app, email);
  const { get, none } = await open(path);
  const statuses = [];
  for (const counter of counters)
    statuses.push((await press(path, { response: device.get(get ?? none, { counter }) })).status);
  return statuses;
}

test.serial('a counter that goes back shows a copy; one that stays 0 is a synced passkey', async (t) => {
  const admin = await addAdmin();
  t.deepEqual(await useWith(admin, [7]), [303]);
  t.deepEqual(await useWith(admin, [7, 6, 0, 8]), [403, 403, 403, 303]);
  const synced = await addAdmin();
  t.deepEqual(await useWith(synced, [0]), [303]);
  t.deepEqual(await useWith(synced, [0]), [303]);
});

test.serial('until the passkey is given, no route of the console opens', async (t) => {
  const { email } = await addAdmin();
  const path = await askForLink(app, email);
  const [opened, pressed] = [await fetch(`${app.url}${path}`), await press(path, { response: '{}' })];
  const cookie = [...opened.headers.getSetCookie(), ...pressed.headers.getSetCookie()].join('; ');
  t.is(cookie, '');
  // A cookie of the link's token, as if it were that of a session.
  const forged = `console=${path.split('/').at(-1)}.${'A'.repeat(43)}.${now + minuteMs}.${'A'.repeat(43)}`;
  for (const { method, path: route } of app.consoleRoutes) {
    const headers = { accept: 'text/html', cookie: forged, 'sec-fetch-site': 'same-origin' };
    const answer = await fetch(`${app.url}${route.replaceAll(/:\w+/g, '0')}`, {
      method,
      headers,
      redirect: 'manual',
    });
    t.regex(answer.headers.get('location') ?? '', /^\/console\/sign-in(\?|$)/, `${method} ${route}`);
  }
});

test.serial('what registers no passkey: lies, certificates, and the same passkey once more', async (t) => {
  const { email, id } = await addUser(app.eventStore, 'admin');
  const path = await askForLink(app, email);
  const { create, none } = await open(path);
  const asked = create ?? none;
  const device = authenticator();
  const lies: Record<string, Lies> = {
    'another origin': { origin: 'https://evil.example' },
    'another site': { rpId: 'evil.example' },
    'an unverified user': { flags: 1 },
    'another ceremony': { type: 'webauthn.get' },
    'another challenge': { challenge: Buffer.from('another').toString('base64url') },
    'a certificate, which names addresses': { attestation: certificate },
    'a signature of another key': { attestation: forgedAttestation() },
  };
  for (const [what, lie] of Object.entries(lies))
    await isRefused(t, await press(path, { name: 'Mine', response: device.create(asked, lie) }), 403, what);
  const noCertificate = ({ reason }: Record<string, unknown>) => reason === 'it has a certificate';
  t.true(app.logged.some(noCertificate), 'before the library follows the addresses');
  t.true(app.logged.some(({ reason }) => reason === 'the attestation is wrong'));
  await isRefused(t, await press(path, { name: 'Mine', response: device.get(asked) }), 403, 'a use');
  const long = createAuthenticator(app.url, 8_000).create(asked);
  await isRefused(t, await press(path, { name: 'Mine', response: long }), 403, 'an id of 8,000 bytes');
  t.is((await app.eventStore.load(userStream(id))).length, 1);

  const response = device.create(asked);
  const member = memberOf(app.url, id, cookieOf(await press(path, { name: 'Mine', response })));
  const again = () => member.post('/console/own-account/passkeys', { name: 'Again', response });
  t.is((await again()).status, 403, 'while it is registered');
  const admin = (await addAdmin()).member;
  t.is((await admin.post(`/console/staff/${id}/remove-passkeys`)).status, 303);
  const removed = (await app.eventStore.load(userStream(id))).at(-1);
  t.like(removed, {
    type: 'PasskeyRemoved',
    data: { id: device.id },
    metadata: { actor: `staff:${admin.id}` },
  });
  const next = await askForLink(app, email);
  const replayed = await press(next, { name: 'Again', response });
  await isRefused(t, replayed, 403, 'nor once it is removed');
});

async function register(member: Member, device = authenticator(), name = 'Phone') {
  const page = await (await member.get('/console/own-account')).text();
  const { create = { challenge: '' } } = demandOf(page);
  return await member.post('/console/own-account/passkeys', { name, response: device.create(create) });
}

for (const role of ['member', 'viewer'] as const satisfies Role[])
  test.serial(`a ${role} may have passkeys, and may do without`, async (t) => {
    const member = await signIn(app, role);
    t.true(await isIn(member), 'the link is enough');
    const [one, other] = [authenticator(), authenticator()];
    t.is((await register(member, one)).status, 303);
    t.is((await register(member, other, '<i>Key</i>')).status, 303);
    const page = await (await member.get('/console/own-account')).text();
    t.regex(page, /Phone.*&lt;i&gt;Key&lt;\/i&gt;/s);
    t.true(page.includes(one.id) && page.includes(other.id));
    for (const id of [one.id, other.id, other.id, 'unknown'])
      t.is((await member.post('/console/own-account/remove-passkey', { id })).status, 303);
    t.true(await isIn(member), 'the last one too, since the session needed none');
    t.regex(await (await member.get('/console/own-account')).text(), /You have no passkey/);
  });

test.serial('an admin keeps a passkey, and cannot remove all by the page for colleagues', async (t) => {
  const { member, device } = await addAdmin();
  const remove = async (id: string) =>
    (await member.post('/console/own-account/remove-passkey', { id })).status;
  t.is(await remove(device.id), 409);
  t.is((await member.post(`/console/staff/${member.id}/remove-passkeys`)).status, 409);
  const second = authenticator();
  t.is((await register(member, second)).status, 303);
  t.true(await isIn(member));
  t.is(await remove(device.id), 303);
  t.false(await isIn(member), 'the session that it opened has ended');
});

test.serial('a person has at most ten passkeys', async (t) => {
  const member = await signIn(app, 'member');
  for (let count = 1; count <= 10; count += 1) t.is((await register(member)).status, 303);
  t.is((await register(member)).status, 409);
});

test.serial(
  'the stream of a user, which every request reads, does not grow by passkeys that come and go',
  async (t) => {
    const member = await signIn(development, 'viewer');
    const statuses: number[] = [];
    for (let time = 0; time < 21; time += 1) {
      const device = createAuthenticator(development.url);
      const page = await (await member.get('/console/own-account')).text();
      const response = device.create(demandOf(page).create ?? { challenge: '' });
      statuses.push((await member.post('/console/own-account/passkeys', { name: 'Phone', response })).status);
      await member.post('/console/own-account/remove-passkey', { id: device.id });
    }
    t.deepEqual(statuses, [...Array(20).fill(303), 429]);
  },
);

test.serial('who lost a passkey registers anew once an admin or the command line removed it', async (t) => {
  const lost = await addAdmin();
  await createExecute({ eventStore: app.eventStore, decider: passkeyDecider })(
    userStream(lost.id),
    { type: 'RemovePasskeys', at: clock().toISOString(), id: null, keepsOne: false },
    { commandId: crypto.randomUUID(), correlationId: '', causationId: '', actor: 'staff:tests' },
  );
  t.false(await isIn(lost.member), 'whoever found the device is out');
  const path = await askForLink(app, lost.email);
  const { create, get, none } = await open(path);
  t.is(get, undefined);
  const response = authenticator().create(create ?? none);
  t.is((await press(path, { name: 'New', response })).status, 303);
});

test.serial('a member without a passkey who becomes an admin must sign in again', async (t) => {
  const member = await signIn(app, 'member');
  t.true(await isIn(member));
  await changeUser(app.eventStore, member.id, { type: 'ChangeUserRole', role: 'admin' });
  t.false(await isIn(member));
});

test.serial(
  'a passkey ends the sessions that a link alone has opened, except the one that registered it',
  async (t) => {
    const { id, email } = await addUser(app.eventStore, 'member');
    const enter = async () => memberOf(app.url, id, cookieOf(await press(await askForLink(app, email))));
    const [thief, member] = [await enter(), await enter()];
    t.true((await isIn(thief)) && (await isIn(member)));
    t.is((await register(member)).status, 303);
    t.true(await isIn(member));
    t.false(await isIn(thief));
  },
);

test.serial('development asks for a passkey only where one is registered', async (t) => {
  const admin = await signIn(development, 'admin');
  t.true(await isIn(admin));
  const { email, device } = await addAdmin();
  const path = await askForLink(development, email);
  const page = await (await fetch(`${development.url}${path}`)).text();
  const { get = { challenge: '' } } = demandOf(page);
  t.is((await fetch(`${development.url}${path}`, { method: 'POST' })).status, 403);
  const body = new URLSearchParams({
    response: device.get(get, { origin: development.url }),
  });
  const answer = await fetch(`${development.url}${path}`, { method: 'POST', body, redirect: 'manual' });
  t.is(answer.status, 303);
});
