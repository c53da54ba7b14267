// /api/v1/users: what is accepted and refused, that an address is unique, and that callers read their own writes.
import { EventStoreUnavailable, type RecordedEvent } from '@ledger/event-store/event-store.ts';
import test from 'ava';

import { checkChain } from '../../support/chain.ts';
import { createDatabase } from '../../support/postgres.ts';
import { aminah, startService } from './helpers.ts';

const postgres = await createDatabase();

type User = { id: string; name: string; email: string; role: string; createdAt: string };

test.serial('a new user is at its Location and in the list at once', async (t) => {
  const clock = () => new Date('2026-11-20T01:02:03.000Z');
  const service = await startService(t, postgres, { clock });
  await service.runProjections();
  for (let n = 1; n <= 5; n += 1) {
    const created = await service.postUser({ ...aminah, email: `${n}@agency.example`, colour: 'red' });
    t.is(created.status, 201);
    const user = (await created.json()) as User;
    t.deepEqual(user, {
      id: user.id,
      name: aminah.name,
      email: `${n}@agency.example`,
      role: 'admin',
      createdAt: '2026-11-20T09:02:03+08:00',
    });
    t.is(created.headers.get('location'), `${service.url}/api/v1/users/${user.id}`);
    t.deepEqual(await (await service.api(`/users/${user.id}`)).json(), user);
    const list = (await (await service.api('/users')).json()) as User[];
    t.is(list.length, n);
    t.deepEqual(list.at(-1), user);
    checkChain(t, await service.eventStore.load(`user-${user.id}`));
  }
});

test.serial('the role defaults to member; names may be in any language', async (t) => {
  const service = await startService(t, postgres);
  await service.runProjections();
  const names = ['Li', '𠮷野', 'முத்து குமார்', 'Nik Aziz bin Nik Mat', 'O’Brien <b>&', 'ب'.repeat(200)];
  for (const [index, name] of names.entries()) {
    const created = await service.postUser({ name, email: `${index}@agency.example` });
    const { id } = (await created.json()) as User;
    t.like(await (await service.api(`/users/${id}`)).json(), { name, role: 'member' });
  }
});

const refused: Record<string, [unknown, string, string]> = {
  'no name': [{ email: 'a@b.example' }, 'validation_failed', 'name is required'],
  'no email': [{ name: 'Aminah' }, 'validation_failed', 'email is required'],
  nothing: [{}, 'validation_failed', 'name is required; email is required'],
  'a name of one character': [
    { ...aminah, name: '𠮷' },
    'validation_failed',
    'name must have at least 2 characters',
  ],
  'a name of 201': [
    { ...aminah, name: 'x'.repeat(201) },
    'validation_failed',
    'name must have at most 200 characters',
  ],
  'a blank name': [
    { ...aminah, name: '   ' },
    'validation_failed',
    'name must have a visible character, no control characters, and no space at either end',
  ],
  'a name that nobody sees': [
    { ...aminah, name: '\u200b\u3164\u2800' },
    'validation_failed',
    'name must have a visible character, no control characters, and no space at either end',
  ],
  'U+0000 in the name': [
    { ...aminah, name: 'A\0B' },
    'validation_failed',
    'name must have a visible character, no control characters, and no space at either end',
  ],
  'a name that turns the text around it': [
    { ...aminah, name: 'A\u202eB' },
    'validation_failed',
    'name must have a visible character, no control characters, and no space at either end',
  ],
  'a name of two lines': [
    { ...aminah, name: 'A\u2028B' },
    'validation_failed',
    'name must have a visible character, no control characters, and no space at either end',
  ],
  'half a surrogate pair': [
    '{"name":"A\\ud800B","email":"a@b.example"}',
    'validation_failed',
    'name must have a visible character, no control characters, and no space at either end',
  ],
  'a name that is no text': [{ ...aminah, name: ['Aminah'] }, 'validation_failed', 'name must be text'],
  'a malformed email': [
    { ...aminah, email: 'aminah@' },
    'validation_failed',
    'email must be an email address',
  ],
  'an email that never ends': [
    { ...aminah, email: `a@${'b'.repeat(60)}.${'c.'.repeat(100)}example` },
    'validation_failed',
    'email must be an email address',
  ],
  'an email with two dots in a row, which mail servers refuse': [
    { ...aminah, email: 'a..b@b.example' },
    'validation_failed',
    'email must be an email address',
  ],
  'an email that begins with a dot': [
    { ...aminah, email: '.a@b.example' },
    'validation_failed',
    'email must be an email address',
  ],
  'an email that has a dot before the @': [
    { ...aminah, email: 'a.@b.example' },
    'validation_failed',
    'email must be an email address',
  ],
  'an email with a line break': [
    { ...aminah, email: 'a@b.example\n' },
    'validation_failed',
    'email must be an email address',
  ],
  'another role': [
    { ...aminah, role: 'owner' },
    'validation_failed',
    'role must be one of admin, member, viewer',
  ],
  'no role at all': [
    { ...aminah, role: null },
    'validation_failed',
    'role must be one of admin, member, viewer',
  ],
  'a role that every object has': [
    { ...aminah, role: 'constructor' },
    'validation_failed',
    'role must be one of admin, member, viewer',
  ],
  'a list': [[aminah], 'validation_failed', 'The body must be a JSON object'],
  'fields of the prototype': [
    '{"__proto__":{"name":"Aminah","email":"a@b.example"}}',
    'invalid_json',
    'The request body is malformed',
  ],
  'broken JSON': ['{"name": "secret', 'invalid_json', 'The request body is malformed'],
  'a JSON text': ['"secret"', 'invalid_json', 'The request body is malformed'],
};

test.serial('an invalid user is refused by field, and nothing is appended', async (t) => {
  let appends = 0;
  const service = await startService(t, postgres, {
    eventStore: {
      append: () => {
        appends += 1;
        return Promise.reject(new Error('nothing may be appended'));
      },
    },
  });
  for (const [title, [body, code, message]] of Object.entries(refused)) {
    const response = await service.postUser(body);
    t.deepEqual([response.status, await response.json()], [400, { code, message }], title);
  }
  t.is(appends, 0);
});

test.serial('other refusals have the same body', async (t) => {
  const service = await startService(t, postgres, {
    eventStore: { load: () => Promise.reject(new EventStoreUnavailable('inner workings')) },
  });
  const id = '0'.repeat(26);
  const cases: [string, RequestInit, number, string][] = [
    ['/users/unknown', {}, 404, 'user_not_found'],
    ['/users/%E0%A4%A', {}, 404, 'user_not_found'],
    ['/nothing', { headers: { accept: 'text/html' } }, 404, 'not_found'],
    ['/users/', {}, 404, 'not_found'],
    ['/users', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['/health', { method: 'POST' }, 405, 'method_not_allowed'],
    ['/users', { method: 'POST' }, 400, 'validation_failed'],
    ['/users', { method: 'POST', body: 'name=Aminah' }, 415, 'unsupported_media_type'],
    ['/users', { method: 'POST', body: new URLSearchParams(aminah) }, 415, 'unsupported_media_type'],
    [`/users/${id}`, {}, 503, 'unavailable'],
    ['/users', {}, 503, 'unavailable'],
  ];
  for (const [path, init, status, code] of cases) {
    const response = await service.api(path, init);
    const body = (await response.json()) as { code: string; message: string };
    t.deepEqual([response.status, body.code, Object.keys(body)], [status, code, ['code', 'message']], path);
    t.notRegex(body.message, /inner workings|does not exist/);
  }
  const tooLarge = await service.postUser({ ...aminah, padding: 'x'.repeat(1024 * 1024) });
  t.deepEqual(
    [tooLarge.status, await tooLarge.json()],
    [413, { code: 'payload_too_large', message: 'The request body is too large' }],
  );
  t.is((await service.api('/users', { method: 'DELETE' })).headers.get('allow'), 'HEAD, GET, POST');
});

test.serial('an unexpected error is 500 with a fixed text', async (t) => {
  const service = await startService(t, postgres, {
    eventStore: { load: () => Promise.reject(new Error('inner workings')) },
  });
  const response = await service.api(`/users/${'0'.repeat(26)}`);
  t.deepEqual(
    [response.status, await response.json()],
    [500, { code: 'internal_error', message: 'Internal error' }],
  );
});

test.serial(
  'an address is used once, in any case and with any number of simultaneous requests',
  async (t) => {
    const service = await startService(t, postgres);
    await service.runProjections();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        service.postUser({
          name: `Person ${n}`,
          email: n % 2 ? 'one@agency.example' : 'ONE@Agency.Example',
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    t.is(statuses.filter((status) => status === 201).length, 1);
    t.is(statuses.filter((status) => status === 400).length, 49);
    const again = await service.postUser({ ...aminah, email: 'One@agency.example' });
    t.deepEqual(await again.json(), {
      code: 'email_taken',
      message: 'A user with this email exists already',
    });
    t.is(((await (await service.api('/users')).json()) as User[]).length, 1);
  },
);

test.serial('the list has pages in the order of creation, with each user once', async (t) => {
  const service = await startService(t, postgres);
  await service.runProjections();
  const made: string[] = [];
  for (let n = 0; n < 7; n += 1) {
    const created = await service.postUser({ ...aminah, email: `${n}@agency.example` });
    made.push(((await created.json()) as User).id);
  }
  const seen: string[] = [];
  let next: string | undefined = `${service.url}/api/v1/users?limit=3`;
  let pages = 0;
  while (next) {
    const response: Response = await fetch(next);
    seen.push(...((await response.json()) as User[]).map(({ id }) => id));
    next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    pages += 1;
  }
  t.deepEqual(seen, made);
  t.is(pages, 3);
  const exact = await service.api('/users?limit=7');
  t.is(exact.headers.get('link'), null, 'a full page that is the last one leads nowhere');
  const end = await service.api(`/users?starting_after=${made.at(-1)}`);
  t.deepEqual([end.status, await end.json()], [200, []]);
});

test.serial('invalid parameters are 400', async (t) => {
  const service = await startService(t, postgres);
  await service.runProjections();
  await service.postUser(aminah);
  const none = '7'.repeat(26);
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.0',
    'limit=1e1',
    'limit=',
    'limit=ten',
    'limit=1&limit=2',
    'starting_after=',
    'starting_after=x',
    `starting_after=${none}`,
    `starting_after=${none}&starting_after=${none}`,
    "starting_after='; drop table users; --",
  ]) {
    for (const list of ['users', 'projects']) {
      const response = await service.api(`/${list}?${query}`);
      t.is(response.status, 400, query);
      t.is(((await response.json()) as { code: string }).code, 'invalid_parameter');
    }
  }
});

test.serial('a user can be created while projections are stopped', async (t) => {
  const service = await startService(t, postgres);
  const created = await service.postUser(aminah);
  t.is(created.status, 201);
  const { id } = (await created.json()) as User;
  t.is((await service.api(`/users/${id}`)).status, 200);
  t.is((await service.api('/users')).status, 503);
});

test.serial('with API_KEYS, reads and writes need one of them; health does not', async (t) => {
  // printf %s second-key-of-the-api | sha256sum
  const second = 'sha256:92514066a3f488b3de4604ea0cd665ed3111c5d06ae226f6467342b594bbeeb3';
  const service = await startService(t, postgres, { config: { apiKeys: ['first-key-of-the-api', second] } });
  await service.runProjections();
  for (const authorization of ['', 'Bearer wrong', 'Basic first-key-of-the-api', `Bearer ${second}`]) {
    for (const [path, init] of [
      ['/users', {}],
      ['/users', { method: 'POST' }],
      [`/users/${'0'.repeat(26)}`, {}],
      ['/projects', {}],
      ['/projects?api_key=first-key-of-the-api', {}],
    ] as const) {
      const response = await service.api(path, { ...init, headers: { authorization } });
      t.is(response.status, 401, path);
      t.is(response.headers.get('www-authenticate'), 'Bearer');
      t.is(((await response.json()) as { code: string }).code, 'unauthorized');
    }
  }
  t.is((await service.api('/health')).status, 200);
  t.is(
    (await service.api('/users', { headers: { authorization: 'Bearer second-key-of-the-api' } })).status,
    200,
  );
  const created = await service.postUser(aminah, { authorization: 'Bearer first-key-of-the-api' });
  t.is(created.status, 201);
  const { id } = (await created.json()) as User;
  const [event] = await service.eventStore.load(`user-${id}`);
  const { actor } = (event as RecordedEvent).metadata as { actor: string };
  t.regex(actor, /^api:[0-9a-f]{8}$/);
});
