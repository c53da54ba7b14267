// `ledger database grants`: each role runs with an account of its own, which may do what the role does and nothing else.
import { randomUUID } from 'node:crypto';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import test from 'ava';
import pg from 'pg';
import { freePort } from '../../packages/embedded/free-port.ts';
import { createExecuteRequest } from '../../src/commands/projection-requests.ts';
import { loadConfig } from '../../src/config/config.ts';
import { projectionStream } from '../../src/events/projection-requests.ts';
import { createRetentionPass } from '../../src/personal-data/retention.ts';
import { users } from '../../src/projections/users/projection.ts';
import { createEraser } from '../../src/roles/eraser.ts';
import { openStores } from '../../src/roles/stores.ts';
import { requeryList } from '../../src/to-do/requery-list.ts';
import {
  gatewayResult,
  gatewaySecret,
  log,
  paymentRequest,
  persistently,
  postResult,
  requestPayment,
  startRole,
} from '../e2e/ledger.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { append } from '../projections/helpers.ts';
import { startReceiver } from '../reactors/receiver.ts';
import { startServer } from '../support/event-store.ts';
import { runLedger, settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';
import { wholeFile } from '../support/whole-file.ts';

const passwordOf = (role: string) => `the-password-of-${role}-in-this-test/=+`;

const clients = new Map<string, Promise<pg.Client>>();

/** Each account keeps its connection: a password costs a hash, and tests ask for what they wait for again and again. */
async function query(url: string, sql: string): Promise<unknown[]> {
  const client = clients.get(url) ?? openClient(url);
  clients.set(url, client);
  return (await (await client).query(sql)).rows;
}

async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  wholeFile.teardown(() => client.end());
  return client;
}

/** A database whose owner is no superuser, as with a provider's PostgreSQL, and the addresses of its accounts. */
async function ownedDatabase() {
  const { url } = await createDatabase();
  const name = new URL(url).pathname.slice(1);
  const as = (user: string, password: string) => {
    const address = new URL(url);
    Object.assign(address, { username: user, password: encodeURIComponent(password) });
    return address.href;
  };
  const superuser = as('postgres', '');
  await query(superuser, `create role ${name}_owner login createrole password 'owner'`);
  await query(superuser, `alter database ${name} owner to ${name}_owner`);
  return {
    superuser,
    owner: as(`${name}_owner`, 'owner'),
    ...{ http: as(`${name}_http`, passwordOf('http')), wrong: as(`${name}_http`, 'another') },
    projections: as(`${name}_projections`, passwordOf('projections')),
    reactors: as(`${name}_reactors`, passwordOf('reactors')),
  };
}

const grant = (databaseUrl: string) =>
  runLedger(['database', 'grants', '--run'], {
    DATABASE_URL: databaseUrl,
    DATABASE_PASSWORD_HTTP: passwordOf('http'),
    DATABASE_PASSWORD_PROJECTIONS: passwordOf('projections'),
    DATABASE_PASSWORD_REACTORS: passwordOf('reactors'),
  });

/** By account: statements that somebody who has taken over the role would try. */
const forbidden = {
  http: [
    'update payments.payments set status = status',
    'insert into users.users select * from users.users',
    'delete from journal.postings',
    'truncate payments.payments',
    'drop schema payments cascade',
    'alter schema payments rename to gone',
    'update reactor_deliveries.deliveries set receiver = receiver',
    'update reactor_requeries.requeries set due_at = now()',
    'delete from reactor_requeries.requeries',
    'update checkpoints set commit_position = 0',
    'delete from last_check',
    'delete from forged_rows',
    'update log_checkpoint set refused = null',
    'truncate personal_data.key_blocks',
    'drop table personal_data.key_blocks',
    'update personal_data.erasures set actor = actor',
    'create table public.mine (id integer)',
    'create schema mine',
    'create temporary table mine (id integer)',
  ],
  projections: [
    'truncate personal_data.key_blocks',
    'update personal_data.erasures set actor = actor',
    'update reactor_deliveries.deliveries set receiver = receiver',
    'drop schema reactor_deliveries cascade',
    'drop table checkpoints',
    'create table public.mine (id integer)',
  ],
  reactors: [
    'update payments.payments set status = status',
    'insert into users.users select * from users.users',
    'drop schema payments cascade',
    'delete from last_check',
    'drop table checkpoints',
    'update personal_data.key_blocks set sealed = sealed',
    'select from personal_data.erasures',
    'create table public.mine (id integer)',
  ],
};

test('from an empty database: every role does its work with its own account, and what it must not do is refused', async (t) => {
  t.timeout(240_000);
  const [urls, server, receiver] = [await ownedDatabase(), await startServer(), await startReceiver(t)];
  t.teardown(server.close);
  const granted = await grant(urls.owner);
  t.is(granted.code, 0, granted.output);
  t.regex(granted.output, /3 passwords were set/);
  t.false(granted.output.includes('password-of'));
  await t.throwsAsync(query(urls.wrong, 'select'), { code: '28P01' });

  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const environmentOf = (databaseUrl: string, dataDir: string) => ({
    ...settingsFor({ esdbUrl: server.url, databaseUrl }),
    PORT: String(port),
    BASE_URL: baseUrl,
    DATA_DIR: dataDir,
    GATEWAY_SECRET: gatewaySecret,
    SEAL_KEY: '5ea1'.repeat(16),
  });
  const dataDir = await temporaryFolder(t);
  const start = (role: 'http' | 'projections' | 'reactors') =>
    startRole(t, [role], environmentOf(urls[role], dataDir), (output) => output.includes('started'));
  const [projections, reactors, http] = await Promise.all([
    start('projections'),
    start('reactors'),
    start('http'),
  ]);

  /** A payment that is requested, paid, called back, and shown from its row. */
  const pay = async (reference: string) => {
    const body = paymentRequest(reference, { callback_url: receiver.url });
    const { data } = (await (await persistently(() => requestPayment(baseUrl, body))).json()) as {
      data: { transaction_id: string };
    };
    const id = data.transaction_id;
    await until(async () => (await postResult(baseUrl, gatewayResult(id))).status === 303);
    await until(() => receiver.received.some(({ headers }) => headers['webhook-id'] === `${id}-callback-1`));
    await until(async () => {
      const rows = await query(urls.http, `select from payments.payments where transaction_id = '${id}'`);
      return rows.length === 1;
    });
    return id;
  };
  const id = await pay('FIRST');
  await fetch(`${baseUrl}/api/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Aminah', email: 'aminah@agency.example' }),
  });
  await until(
    async () => ((await (await fetch(`${baseUrl}/api/v1/users`)).json()) as unknown[]).length === 1,
  );

  for (const role of ['http', 'projections', 'reactors'] as const)
    for (const statement of forbidden[role])
      await t.throwsAsync(query(urls[role], statement), { code: '42501' }, `${role}: ${statement}`);
  // The list is written once a second.
  const count = () => query(urls.http, 'update reactor_requeries.requeries set counted = 1 returning 1');
  await until(async () => (await count()).length === 1);

  const made = await runLedger(
    ['merchants', 'details-table', 'demo-app'],
    environmentOf(urls.owner, dataDir),
  );
  t.is(made.code, 0, made.output);
  await query(urls.owner, 'alter table details."demo-app_details" add column lots integer');
  const next = await pay('SECOND');
  const details = `select from details."demo-app_details" where transaction_id = '${next}'`;
  await until(async () => (await query(urls.http, details)).length === 1);

  // Rebuilds, by whomever: the tables stay those of the role, its readers may read, and the role goes on.
  for (const url of [urls.projections, urls.owner]) {
    const { code, output } = await runLedger(['rebuild', 'payments'], environmentOf(url, dataDir));
    t.is(code, 0, output);
    await pay(`AFTER-${url === urls.owner}`);
    for (const statement of forbidden.http.slice(0, 6))
      await t.throwsAsync(query(urls.http, statement), { code: '42501' });
  }
  const asHttp = await runLedger(['rebuild', 'payments'], environmentOf(urls.http, dataDir));
  t.regex(asHttp.output, /Postgres refused the rows: 42501/);

  // Everything again with what a new release makes: the rights of what is there do not change.
  t.is((await grant(urls.owner)).code, 0);
  // The projections run it every day.
  for (const [url, ...options] of [[urls.owner], [urls.projections, '--record']] as const) {
    const { code, output } = await runLedger(['verify', ...options], environmentOf(url, dataDir));
    t.is(code, 0, output);
    t.regex(output, /rows of reactor_deliveries against a fresh fold/);
  }
  const projectionsAccount = new URL(urls.projections).username;
  await query(urls.reactors, `revoke maintain on reactor_deliveries.payments from ${projectionsAccount}`);
  const before17 = await runLedger(['verify', '--record'], environmentOf(urls.projections, dataDir));
  t.is(before17.code, 0, before17.output);
  t.regex(before17.output, /^The rows of reactor_deliveries were not compared/m);

  // An auditor's account, which only reads, and of the secrets knows none.
  const auditor = `${new URL(urls.owner).pathname.slice(1)}_auditor`;
  await query(urls.owner, `create role ${auditor} login password 'audits'`);
  await query(urls.owner, `grant ${auditor.replace(/_auditor$/, '_readers')} to ${auditor}`);
  const audited = await runLedger(['verify'], {
    ESDB_URL: server.url,
    DATABASE_URL: Object.assign(new URL(urls.owner), { username: auditor, password: 'audits' }).href,
    DATA_DIR: dataDir,
  });
  t.is(audited.code, 0, audited.output);
  t.regex(audited.output, /Rows were not compared with the log/);

  // Tables that an interrupted rebuild left may be dropped by the projections alone: the erasure waits for that.
  await projections.stop();
  await query(urls.projections, 'create schema details_rebuild');
  const erased = await runLedger(['erase', id, '--yes'], environmentOf(urls.http, dataDir));
  t.is(erased.code, 0, erased.output);
  const open = () => query(urls.http, 'select from personal_data.erasures');
  t.is((await open()).length, 1);
  // What the role does every minute, at once, and as if the erasure had begun longer ago.
  await query(urls.owner, `update personal_data.erasures set begun_at = begun_at - interval '1 hour'`);
  const stores = openStores(loadConfig(environmentOf(urls.projections, dataDir)), log);
  t.teardown(() => stores.stop());
  const eraser = createEraser(stores, stores.db);
  const pass = createRetentionPass({ ...stores, ...eraser, differenceMs: () => 0, retention: null });
  await pass(new AbortController().signal);
  t.is((await open()).length, 0);
  t.deepEqual(await query(urls.owner, `select from pg_namespace where nspname = 'details_rebuild'`), []);
  await start('projections');
  // Whoever keeps the tables tries a parked stream again, since http may not.
  const { eventStore } = stores;
  await append(eventStore, 'PARKED', [{ type: 'PaymentSucceeded', data: {} } as never]);
  for (const name of ['payments', 'reactor_deliveries']) {
    const parked = `select from checkpoints where name = '${name}' and parked::text <> '[]'`;
    await until(async () => (await query(urls.http, parked)).length === 1);
    const cause = { commandId: randomUUID(), correlationId: name, causationId: name, actor: 'staff:aminah' };
    const command = {
      type: 'ParkedStreamRetryRequested' as const,
      data: { at: '2026-11-20T01:00:00.000Z', stream: 'payment-PARKED' },
    };
    await createExecuteRequest(eventStore)(name, command, cause);
    const last = await until(async () => {
      const event = await eventStore.loadLast(projectionStream(name));
      return event?.type === 'ParkedStreamRetried' && event;
    });
    t.regex(
      String(Reflect.get(Object(last.data), 'reason')),
      /^PaymentSucceeded does not fit its schema/,
      name,
    );
  }

  for (const role of [http, reactors]) {
    t.is(await role.stop(), 0);
    t.notRegex(role.output(), /permission denied|must be owner/);
  }
});

test('an installation with one account: the roles take over its tables, and a new version of tables keeps the rights', async (t) => {
  const urls = await ownedDatabase();
  const connect = (url: string) => {
    const db = connectPostgres({ url, log });
    t.teardown(() => db.destroy());
    return db;
  };
  const owner = connect(urls.owner);
  for (const projection of [users, requeryList]) await prepare(owner, projection, projection.name);
  t.is((await grant(urls.owner)).code, 0);
  await query(urls.http, 'update reactor_requeries.requeries set counted = 1');
  await query(urls.http, 'select from users.users');
  // A process of before, which still runs, has not lost its rights.
  await query(urls.owner, 'update users.users set id = id');

  const [projections, reactors] = [connect(urls.projections), connect(urls.reactors)];
  await prepare(projections, { ...users, version: users.version + 1 }, users.name);
  await prepare(reactors, { ...requeryList, version: requeryList.version + 1 }, requeryList.name);
  await prepare(owner, { ...users, version: users.version + 2 }, users.name);
  await query(urls.projections, 'update users.users set id = id');
  await query(urls.http, 'select from users.users');
  await query(urls.http, 'update reactor_requeries.requeries set counted = 1');
  await t.throwsAsync(query(urls.http, 'update users.users set id = id'), { code: '42501' });

  for (const url of [urls.http, urls.wrong]) {
    const { code, output } = await grant(url);
    t.is(code, 78, output);
    t.regex(output, /^The configuration is invalid:\n {2}- DATABASE_URL: [^\n]+\n$/);
  }
  t.is((await grant(urls.superuser)).code, 0);
  for (const statement of ["select lo_from_bytea(0, 'rows')", 'select lo_create(0)', 'select lo_creat(-1)'])
    await t.throwsAsync(query(urls.http, statement), { code: '42501' }, statement);
  await query(urls.http, 'update reactor_requeries.requeries set counted = 1');

  // Whoever prepares the next release must not make up for keys that were dropped.
  await query(
    urls.projections,
    `create table payments.payers (transaction_id text); insert into payments.payers values ('')`,
  );
  await query(urls.owner, 'drop schema personal_data cascade');
  const dropped = await grant(urls.owner);
  t.is(dropped.code, 1);
  t.is(
    dropped.output,
    'PostgreSQL refuses: the schema personal_data is missing: restore it from its backup.\n',
  );
});

test('the SQL is shown, without passwords; a database without a name and a bad password are refused', async (t) => {
  const shown = await runLedger(['database', 'grants'], {
    DATABASE_URL: 'postgres://owner@127.0.0.1:9/ledger',
    DATABASE_PASSWORD_HTTP: passwordOf('http'),
  });
  t.is(shown.code, 0, shown.output);
  t.regex(shown.stdout, /^grant update on personal_data\.key_blocks to "ledger_http",/m);
  t.notRegex(shown.stdout, /password/i);
  const nameless = await runLedger(['database', 'grants'], { DATABASE_URL: 'postgres://127.0.0.1:9' });
  t.is(nameless.code, 78);
  t.regex(nameless.output, /DATABASE_URL must name a database of letters, digits and _$/m);
  const missing = await runLedger(['database', 'grants'], {});
  t.is(missing.output.match(/DATABASE_URL/g)?.length, 1, missing.output);
  const short = {
    NODE_ENV: 'production',
    DATABASE_PASSWORD_HTTP: 'short',
    DATABASE_PASSWORD_REACTORS: 'a b',
  };
  const refused = await runLedger(['database', 'grants', '--run'], {
    ...short,
    DATABASE_URL: 'postgres://owner@db.example/ledger',
  });
  t.is(refused.code, 78);
  for (const fault of [
    'DATABASE_PASSWORD_HTTP must have at least 32',
    'DATABASE_PASSWORD_REACTORS',
    'sslmode',
  ])
    t.true(refused.output.includes(fault), refused.output);
  t.notRegex(refused.output, /short$/m);
});
