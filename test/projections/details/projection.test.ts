// The tables of request details: who goes where, what fills a column, and what no merchant and no agency can break.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { details } from '../../../src/projections/details/projection.ts';
import { createDetailsTable, detailsTableOf } from '../../../src/projections/details/tables.ts';
import { query, until } from '../../embedded/helpers.ts';
import { runLedger, settingsFor } from '../../support/ledger.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';
import {
  append,
  methodChosen,
  paymentRequested,
  reached,
  run,
  type Stores,
  startStores,
  statusOf,
} from '../helpers.ts';
import { history } from '../histories.ts';

const postgres = await createDatabase();

/** The projection running over an empty log, its tables made. */
async function start(t: ExecutionContext): Promise<Stores> {
  await query(postgres.url, 'drop schema if exists details, details_next cascade');
  const stores = await startStores(t, postgres);
  run(t, details, stores.store, stores.database);
  await until(async () => (await statusOf(stores.database.db, 'details')) !== undefined);
  return stores;
}

const merchant = (code: string) => ({ code, id: 1, name: 'Demo' });

/** Asks for payments, one per change, called A, B, …, and waits until their details are written. */
async function ask(
  { database, store }: Stores,
  changes: readonly Parameters<typeof paymentRequested>[0][],
  schema = 'details',
): Promise<void> {
  for (const [index, change] of changes.entries()) {
    const position = await append(store.eventStore, String.fromCharCode(65 + index), [
      paymentRequested(change),
    ]);
    if (index === changes.length - 1) await reached(database.db, schema, position);
  }
}

const rowsOf = ({ database }: Pick<Stores, 'database'>, table: string, schema = 'details') =>
  database.db.raw(`select * from ${schema}."${table}" order by transaction_id`).then(({ rows }) => rows);
const idsIn = async (parts: Stores, table: string, schema?: string) =>
  (await rowsOf(parts, table, schema))
    .map(({ transaction_id: id }: { transaction_id: string }) => id)
    .join('');

test.serial('without a table of its own a merchant’s details are in generic_details', async (t) => {
  const parts = await start(t);
  const payer = {
    name: 'Aminah',
    email: 'aminah@example.my',
    icNo: '900101145678',
    address1: '1 Jalan Contoh',
    address2: '',
    city: 'Ipoh',
    postcode: '30000',
    state: 'Perak',
    phoneNo: '',
  };
  const urls = { callbackUrl: 'https://council.example/c', redirectUrl: 'https://council.example/r' };
  const extra = { account_no: 'A-1', list: [1, { deep: null }] };
  await ask(parts, [{ service: 'Tax', description: 'Half a year', payer, ...urls, extra }]);
  const [row] = await rowsOf(parts, 'generic_details');
  t.deepEqual(row, {
    transaction_id: 'A',
    merchant_code: 'demo-app',
    trans_id: 'R-1',
    amount: '120.50',
    service: 'Tax',
    description: 'Half a year',
    callback_url: urls.callbackUrl,
    redirect_url: urls.redirectUrl,
    name: 'Aminah',
    email: 'aminah@example.my',
    ic_no: '900101145678',
    address_1: '1 Jalan Contoh',
    address_2: null,
    city: 'Ipoh',
    postcode: '30000',
    state: 'Perak',
    phone_no: null,
    requested_at: new Date('2026-11-20T01:02:03.000Z'),
    extra,
  });
});

test.serial('only requests of the generic channel have details', async (t) => {
  const parts = await start(t);
  const { eventStore } = parts.store;
  await append(eventStore, 'L', [paymentRequested({ channel: 'landreg' })]);
  await reached(
    parts.database.db,
    'details',
    await append(eventStore, 'G', [paymentRequested(), methodChosen()]),
  );
  t.is(await idsIn(parts, 'generic_details'), 'G');
});

test.serial('an agency’s table takes its new payments, and its own columns fill by name', async (t) => {
  const parts = await start(t);
  const { db } = parts.database;
  t.true(await createDetailsTable(db, 'demo-app_details'));
  t.false(await createDetailsTable(db, 'demo-app_details'), 'a second time changes nothing');
  await db.raw(`alter table details."demo-app_details"
    add column account_no text, add column lots integer, add column due date, add column "Odd ""name\\?"" .x" text,
    add column no bigint generated always as identity, add column seen timestamptz not null default now()`);
  const odd = 'Odd "name?" .x';
  await ask(parts, [
    {
      merchant: merchant('demo-app'),
      extra: { account_no: 'A-1', lots: 3, due: '2026-12-31', [odd]: 'x', left: true },
    },
    {
      merchant: merchant('demo-app'),
      extra: { account_no: 7, lots: 'three', due: 'soon', [odd]: ['x'], no: 9 },
    },
    { merchant: merchant('demo_app') },
  ]);
  const [first, second] = await rowsOf(parts, 'demo-app_details');
  t.like(first, {
    transaction_id: 'A',
    account_no: 'A-1',
    lots: 3,
    [odd]: 'x',
    extra: { left: true },
    no: 1,
  });
  t.is(first.due.getFullYear(), 2026);
  t.true(first.seen instanceof Date);
  t.like(second, {
    account_no: '7',
    lots: null,
    due: null,
    [odd]: null,
    extra: { lots: 'three', due: 'soon', [odd]: ['x'], no: 9 },
  });
  t.is(await idsIn(parts, 'generic_details'), 'C', 'another code is another merchant');
});

test.serial('keys of extra are values, whatever they say', async (t) => {
  const parts = await start(t);
  const { db } = parts.database;
  await createDetailsTable(db, 'demo-app_details');
  await db.raw(
    'alter table details."demo-app_details" add column "__proto__" text, add column toString text',
  );
  const extra = {
    transaction_id: 'B',
    amount: '0.01',
    extra: 'x',
    'x" text); drop table details.generic_details; --': '1',
    'account_no, name': '?',
    ctid: '(0,1)',
    'a\0b': 'c\0d\ud800',
    '\\u0000': '\\',
    ...JSON.parse('{"__proto__": "own"}'),
  };
  await ask(parts, [
    { merchant: merchant('demo-app'), extra },
    { extra, merchant: merchant('other') },
  ]);
  const { __proto__: _, ...others } = extra;
  const kept = { ...others, 'a\ufffdb': 'c\ufffdd\ufffd' };
  delete kept['a\0b'];
  const [row] = await rowsOf(parts, 'demo-app_details');
  t.like(row, { transaction_id: 'A', amount: '120.50', extra: kept });
  t.is(Object.getOwnPropertyDescriptor(row, '__proto__')?.value, 'own');
  t.is(row.tostring, null);
  t.is(await idsIn(parts, 'generic_details'), 'B');
});

test.serial('what an agency’s table refuses is kept in generic_details, and the rest goes on', async (t) => {
  const parts = await start(t);
  const { db } = parts.database;
  for (const code of ['strict', 'alien', 'angry', 'coded']) await createDetailsTable(db, `${code}_details`);
  await db.raw(`alter table details.strict_details add column lots integer not null check (lots > 0),
    add unique (trans_id), alter column postcode type integer using postcode::integer`);
  await db.raw('drop table details.alien_details; create table details.alien_details (id integer)');
  await db.raw(`create function details.refuse() returns trigger language plpgsql as
    'begin raise exception ''no''; end'`);
  await db.raw(`create trigger t before insert on details.angry_details
    for each row execute function details.refuse()`);
  await db.raw(`create function details.refuse_with_code() returns trigger language plpgsql as
    'begin raise exception ''no'' using errcode = ''AG001''; end'`);
  await db.raw(`create trigger t before insert on details.coded_details
    for each row execute function details.refuse_with_code()`);
  const strict = (reference: string, extra: Record<string, unknown>) => ({
    merchant: merchant('strict'),
    reference,
    extra,
  });
  await ask(parts, [
    strict('1', { lots: 1 }),
    strict('2', {}),
    strict('3', { lots: -1 }),
    strict('1', { lots: 2 }),
    strict('5', { lots: 5 }),
    { merchant: merchant('alien') },
    { merchant: merchant('angry') },
    { merchant: merchant('coded') },
    { merchant: merchant('council') },
  ]);
  t.is(await idsIn(parts, 'strict_details'), 'AE');
  t.is(await idsIn(parts, 'generic_details'), 'BCDFGHI');
  t.deepEqual((await rowsOf(parts, 'generic_details'))[1].extra, { lots: -1 });
  t.is((await statusOf(db, 'details'))?.fault, null);
});

test.serial('no history stops it, whatever its texts hold', async (t) => {
  const parts = await start(t);
  const { db } = parts.database;
  let serial = 0;
  let generic = 0;
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      serial += 1;
      const [first] = events;
      if (first?.type === 'PaymentRequested' && first.data.channel === 'generic') generic += 1;
      await reached(db, 'details', await append(parts.store.eventStore, `P${serial}`, events));
    }),
    { numRuns: runs(40) },
  );
  t.true(generic > 0);
  t.is((await rowsOf(parts, 'generic_details')).length, generic);
});

test.serial('a rebuild makes the agencies’ tables again and moves older rows into them', async (t) => {
  const parts = await start(t);
  const { database, store } = parts;
  const asked = ['demo-app', 'demo-app', 'other'].map((code) => ({
    merchant: merchant(code),
    extra: { account_no: 'A' },
  }));
  await ask(parts, asked);
  await createDetailsTable(database.db, 'demo-app_details');
  await database.db.raw('alter table details."demo-app_details" add column account_no text');
  t.is(await idsIn(parts, 'generic_details'), 'ABC');

  run(t, { ...details, name: 'details_next' }, store, database);
  const { position } = (await statusOf(database.db, 'details')) ?? {};
  if (!position) return t.fail();
  await reached(database.db, 'details_next', position);
  t.is(await idsIn(parts, 'generic_details', 'details_next'), 'C');
  const [row] = await rowsOf(parts, 'demo-app_details', 'details_next');
  t.like(row, { account_no: 'A', extra: {} });
  t.is(await idsIn(parts, 'generic_details'), 'ABC', 'those that serve are as they were');
});

test.serial('events that were written before are passed over', async (t) => {
  const parts = await start(t);
  await createDetailsTable(parts.database.db, 'demo-app_details');
  await ask(parts, [{ merchant: merchant('demo-app') }, { merchant: merchant('other') }]);
  await parts.database.db.raw('update checkpoints set commit_position = null, prepare_position = null');
  run(t, details, parts.store, parts.database);
  const position = await append(parts.store.eventStore, 'Z', [
    paymentRequested({ merchant: merchant('other') }),
  ]);
  await reached(parts.database.db, 'details', position);
  t.is(await idsIn(parts, 'demo-app_details'), 'A');
  t.is(await idsIn(parts, 'generic_details'), 'BZ');
});

test.serial('`ledger merchants details-table` makes the table of a registered merchant', async (t) => {
  const { database } = await start(t);
  const settings = settingsFor({ esdbUrl: 'esdb://127.0.0.1:1?tls=false', databaseUrl: database.url });
  const ledger = (...args: string[]) => runLedger(['merchants', ...args], settings);
  const { code, stdout } = await ledger('details-table', 'demo-app');
  t.is(code, 0);
  t.regex(stdout, /^details\."demo-app_details" is made\./);
  t.deepEqual(await rowsOf({ database }, 'demo-app_details'), []);
  t.regex((await ledger('details-table', 'demo-app')).stdout, /exists already/);
  const unknown = await ledger('details-table', 'nobody');
  t.is(unknown.code, 2);
  t.regex(unknown.stderr, /No merchant has the code nobody\nledger merchants details-table <merchant code>/);
});

test('every merchant code has a table name of its own, or none', (t) => {
  const codes = ['demo-app', 'demo_app', 'Demo-App', 'demo.app', 'x'.repeat(55)];
  t.deepEqual(
    codes.map(detailsTableOf),
    codes.map((code) => `${code}_details`),
  );
  for (const code of ['', 'x'.repeat(56), 'a"b', 'a\0b', 'ümlaut']) t.is(detailsTableOf(code), null, code);
});
