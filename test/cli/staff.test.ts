// `ledger users` and `ledger projects`, as staff type them.
import { randomUUID } from 'node:crypto';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test, { type ExecutionContext } from 'ava';
import { registerSampleProjects } from '../../src/cli/projects.ts';
import { createExecute } from '../../src/commands/execute.ts';
import { passkeyDecider } from '../../src/commands/passkeys.ts';
import { userDecider, userIdOf } from '../../src/commands/user.ts';
import { userStream } from '../../src/events/user.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { open, startServer } from '../event-store/helpers.ts';
import { transactionIdKey } from '../support/app.ts';
import { clockAt, runLedger, settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';

/** A command line on an event store of the test's own. */
async function startShell(
  t: ExecutionContext,
  databaseUrl = 'postgres://127.0.0.1:9/nowhere',
  options?: Parameters<typeof runLedger>[2],
) {
  const { port } = await startServer(t);
  const environment = {
    ...settingsFor({
      esdbUrl: `esdb://127.0.0.1:${port}?tls=false`,
      databaseUrl,
    }),
    DATA_DIR: await temporaryFolder(t),
  };
  const ledger = async (...args: string[]) => {
    const { code, stdout, stderr } = await runLedger(args, environment, options);
    return { code, said: code === 0 ? stdout : stderr };
  };
  return { ledger, store: open(t, port) };
}

test('a user is added once, by whoever is logged in', async (t) => {
  const { ledger, store } = await startShell(t);
  const add = ['users', 'add', '--name', 'Aminah binti Ismail', '--email', 'aminah@agency.example'];
  const { code, said } = await ledger(...add, '--role', 'admin');
  const [, id = ''] = /^User (\w{26}) is added\.\n$/.exec(said) ?? [];
  t.is(code, 0, said);
  const [event, ...more] = await store.load(`user-${id}`);
  t.deepEqual(more, []);
  t.like(event, { type: 'UserCreated', data: { email: 'aminah@agency.example', role: 'admin' } });
  t.regex((event?.metadata as { actor: string } | undefined)?.actor ?? '', /^staff:./);
  t.deepEqual(await ledger(...add), { code: 1, said: 'A user with this email exists already.\n' });
});

test('without a name, a user gets the part before the @ as a name', async (t) => {
  const { ledger, store } = await startShell(t);
  const { code, said } = await ledger('users', 'add', '--role', 'admin', '--email', 'aminah@agency.example');
  t.is(code, 0, said);
  const [, id = ''] = /^User (\w{26}) is added\.\n$/.exec(said) ?? [];
  t.like((await store.loadLast(`user-${id}`))?.data, { name: 'aminah', role: 'admin' });
});

test('a user gets another role, is deactivated and reactivated, and the list shows it', async (t) => {
  const { ledger } = await startShell(t);
  const user = ['--email', 'siti@agency.example'];
  t.is((await ledger('users', 'list')).said, 'There are no users yet.\n');
  t.like(await ledger('users', 'role', ...user, '--role', 'viewer'), {
    code: 1,
    said: 'There is no such user.\n',
  });
  await ledger('users', 'add', ...user);
  const [listed, ...more] = JSON.parse((await ledger('users', 'list', '--json')).said);
  t.deepEqual(more, []);
  t.like(listed, { email: 'siti@agency.example', role: 'member', active: true, console: true });
  t.is((await ledger('users', 'role', ...user, '--role', 'viewer')).code, 0);
  t.regex(
    (await ledger('users', 'list')).said,
    /^id +role +state +console +email +name\n\w{26} {2}viewer {2}active {7}yes {6}siti@agency\.example {2}siti\n$/,
  );
  // However the address is written.
  t.is((await ledger('users', 'deactivate', '--email', 'SITI@Agency.example')).code, 0);
  t.regex((await ledger('users', 'list')).said, / {2}viewer {2}deactivated {2}/);
  t.regex(
    (await ledger('users', 'grant', ...user)).said,
    /may sign in to the console once they are reactivated/,
  );
  t.like(await ledger('users', 'reactivate', ...user), {
    code: 0,
    said: `User ${listed.id} may sign in to the console.\n`,
  });
  t.regex((await ledger('users', 'list')).said, / {2}viewer {2}active /);
});

test('a user is limited to merchants, by code or agency id, and no longer', async (t) => {
  const { ledger, store } = await startShell(t);
  const user = ['--email', 'siti@agency.example'];
  t.is((await ledger('users', 'add', ...user, '--merchants', '1')).code, 0);
  const id = userIdOf(transactionIdKey, 'siti@agency.example');
  const types = async () => (await store.load(userStream(id))).map(({ type, data }) => [type, data]);
  t.like(await types(), [
    ['UserCreated', { console: false }],
    ['ConsoleAccessGranted', { merchants: ['demo-app'] }],
  ]);
  t.like(JSON.parse((await ledger('users', 'list', '--json')).said), [
    { console: true, merchants: ['demo-app'] },
  ]);
  t.regex(
    (await ledger('users', 'list')).said,
    / active {7}yes {6}siti@agency\.example {2}siti {2}only demo-app\n/,
  );
  t.is((await ledger('users', 'grant', ...user)).code, 0);
  t.is((await types()).length, 2, 'a scope stays');
  t.deepEqual(await ledger('users', 'grant', ...user, '--merchants', 'demo-app,nobody'), {
    code: 1,
    said: 'There is no merchant “nobody”.\n',
  });
  const wrong = await ledger('users', 'role', ...user, '--role', 'admin', '--merchants', 'demo-app');
  t.is(wrong.code, 2);
  t.regex(wrong.said, /Only add and grant take --merchants/);
  t.is((await ledger('users', 'grant', ...user, '--merchants', '*')).code, 0);
  t.false('merchants' in JSON.parse((await ledger('users', 'list', '--json')).said)[0]);
});

test('the passkeys of a user who lost them are removed, by whoever is logged in', async (t) => {
  const { ledger, store } = await startShell(t);
  const user = ['--email', 'siti@agency.example'];
  t.like(await ledger('users', 'remove-passkeys', ...user), { code: 1, said: 'There is no such user.\n' });
  await ledger('users', 'add', ...user);
  const [listed, ...more] = JSON.parse((await ledger('users', 'list', '--json')).said);
  t.deepEqual(more, []);
  t.like(listed, { email: 'siti@agency.example', role: 'member', active: true, console: true });
  const id = userIdOf(transactionIdKey, 'siti@agency.example');
  const passkey = { id: 'P', publicKey: 'K', counter: 0, transports: [], name: 'Phone' };
  const commandId = randomUUID();
  await createExecute({ eventStore: store, decider: passkeyDecider })(
    userStream(id),
    { type: 'RegisterPasskey', at: '2026-11-20T01:00:00.000Z', passkey, asFirst: false },
    { commandId, correlationId: commandId, causationId: commandId, actor: `staff:${id}` },
  );
  const said = (count: number) => `User ${id} has no passkey any more; ${count} removed.\n`;
  t.is((await ledger('users', 'remove-passkeys', ...user)).said, said(1));
  t.like(await store.loadLast(userStream(id)), { type: 'PasskeyRemoved', data: { id: 'P' } });
  t.is((await ledger('users', 'remove-passkeys', ...user)).said, said(0));
});

test('a user who was made over the API is let into the console', async (t) => {
  const { ledger, store } = await startShell(t);
  const email = 'made@agency.example';
  const id = userIdOf(transactionIdKey, email);
  const user = { name: 'Made', email, role: 'admin' as const };
  const commandId = randomUUID();
  await createExecute({ eventStore: store, decider: userDecider })(
    userStream(id),
    { type: 'CreateUser', at: '2026-11-20T01:00:00.000Z', id, user, console: false },
    { commandId, correlationId: commandId, causationId: commandId, actor: 'api' },
  );
  t.regex((await ledger('users', 'list')).said, / {2}admin {3}active {7}no /);
  t.is((await ledger('users', 'grant', '--email', email)).said, `User ${id} may sign in to the console.\n`);
  t.regex((await ledger('users', 'list')).said, / {2}admin {3}active {7}yes /);
});

test('a project is registered once', async (t) => {
  const { ledger, store } = await startShell(t);
  const add = ['projects', 'add', '--name', 'Receipts', '--status', 'active'];
  const { code, said } = await ledger(...add, '--stars', '3');
  const [, id = ''] = /^Project (\w{26}) is registered\.\n$/.exec(said) ?? [];
  t.is(code, 0, said);
  t.like((await store.loadLast(`project-${id}`))?.data, { name: 'Receipts', status: 'active', stars: 3 });
  const again = await ledger(...add, '--stars', '3');
  t.deepEqual(again, { code: 0, said: `Project ${id} is registered already.\n` });
});

test('wrong arguments are answered with the usage', async (t) => {
  const { ledger } = await startShell(t);
  for (const [args, fault, usage] of [
    [
      ['users', 'remove'],
      'The action must be one of add, role, grant, deactivate, reactivate, remove-passkeys, list',
      'add --email',
    ],
    [
      ['users', 'role', '--email', 'a@b.example', '--role', 'king'],
      '--role must be one of admin, member, viewer',
      'add --email',
    ],
    [['users', 'add'], '--email is required', 'add --email'],
    [
      ['projects', 'add', '--name', 'Receipts', '--status', 'draft', '--stars', '1e3'],
      '--stars must be a whole number, 0 or more',
      'add --name',
    ],
  ] as const) {
    const { code, said } = await ledger(...args);
    t.is(code, 2);
    t.true(said.startsWith(`${fault}\nledger ${args[0]} ${usage} `), said);
  }
});

test('the samples of development are registered once, however often it is started', async (t) => {
  const store = open(t, (await startServer(t)).port);
  for (let start = 1; start <= 2; start += 1)
    await registerSampleProjects({
      config: { transactionIdKey: 'a key of this test' },
      eventStore: store,
      runtime: systemRuntime,
    });
  let after = null;
  const names = new Set<unknown>();
  for (let projects = 0; projects < 4; projects += 1) {
    const signal = new AbortController().signal;
    const event = await store.firstAfter({ streamPrefixes: ['project-'], after, signal });
    if (!event) break;
    after = event.position;
    names.add((event.data as { name: string }).name);
  }
  t.is(names.size, 4);
  const signal = new AbortController().signal;
  t.is(await store.firstAfter({ streamPrefixes: ['project-'], after, signal }), null);
});

test('what staff record has the time of PostgreSQL, where that answers', async (t) => {
  const nodeOptions = clockAt('2001-01-01T00:00:00.000Z');
  for (const [databaseUrl, isTold] of [
    [(await createDatabase()).url, true],
    [undefined, false],
  ] as const) {
    const { ledger, store } = await startShell(t, databaseUrl, { nodeOptions });
    const user = await ledger('users', 'add', '--email', 'aminah@agency.example', '--role', 'viewer');
    const project = await ledger('projects', 'add', '--name', 'Receipts', '--status', 'active');
    for (const [kind, { said }] of Object.entries({ user, project })) {
      const [id] = /\w{26}/.exec(said) ?? [];
      const [event] = await store.load(`${kind}-${id}`);
      t.is(Object(event?.data).at > '2001-01-02', isTold, said);
    }
  }
});
