/** Rebuilds beside what serves: what is the same after, what may happen meanwhile, and what stops one. */
import { fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { comparedSchema, compareWithFresh } from '@ledger/projections/rebuild/compare.ts';
import { compareStreams } from '@ledger/projections/rebuild/compare-streams.ts';
import { cutOver } from '@ledger/projections/rebuild/cutover.ts';
import {
  RebuildInterrupted,
  type RebuildOptions,
  RebuildRefused,
  RebuildUnderWay,
  rebuild,
} from '@ledger/projections/rebuild/rebuild.ts';
import { openShadowTables } from '@ledger/projections/rebuild/shadow-tables.ts';
import { discard } from '@ledger/projections/runtime/checkpoints.ts';
import { ProjectionHalted } from '@ledger/projections/runtime/failures.ts';
import { tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { lockTables } from '@ledger/projections/runtime/tables.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { pino } from 'pino';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { details } from '../../../src/projections/details/projection.ts';
import { createDetailsTable } from '../../../src/projections/details/tables.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { createDeliveryList } from '../../../src/to-do/delivery-list.ts';
import { until } from '../../embedded/helpers.ts';
import { result, succeeded } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';
import { eventCounts, seen } from '../event-counts.ts';
import {
  append,
  end,
  knowing,
  log,
  methodChosen,
  paymentRequested,
  reached,
  run,
  type Stores,
  startStore,
  startStores,
  startStoresApart,
  statusOf,
} from '../helpers.ts';
import { history } from '../histories.ts';

const postgres = await createDatabase();

const start = (t: ExecutionContext) => startStores(t, postgres);

const options = (
  projection: Projection,
  { database, store }: Stores,
  more: Partial<RebuildOptions> = {},
): RebuildOptions => ({
  projection,
  eventStore: store.eventStore,
  db: database.db,
  databaseUrl: database.url,
  personalData,
  log,
  runtime: systemRuntime,
  signal: new AbortController().signal,
  onProgress: () => undefined,
  ...more,
});

const paid = result(1, 'succeeded');

/** Fills the log with payments of a few events each; resolves when the projections have taken them. */
async function fill({ database, store }: Stores, names: readonly string[], count = 40): Promise<void> {
  const first = await append(store.eventStore, '0', [paymentRequested({ callbackUrl: 'http://a.example/' })]);
  let last = first;
  for (let id = 1; id < count; id += 1)
    last = await append(store.eventStore, String(id), [
      paymentRequested({ callbackUrl: 'http://a.example/', reference: `R-${id}` }),
      methodChosen(),
      succeeded(paid),
    ]);
  for (const name of names) await reached(database.db, name, last);
}

/** Appends the first event of a payment; resolves when the projection has taken it. */
async function take(
  { database, store }: Stores,
  name: string,
  id: string,
  reference?: string,
): Promise<void> {
  const position = await append(store.eventStore, id, [paymentRequested(reference ? { reference } : {})]);
  await reached(database.db, name, position);
}

/** Tables that a running projection has filled with payments. */
async function serving(
  t: ExecutionContext,
  projection: Projection,
  { count, isApart = false }: { count?: number; isApart?: boolean } = {},
): Promise<Stores> {
  const parts = isApart ? await startStoresApart(t) : await start(t);
  run(t, projection, parts.store, parts.database);
  await fill(parts, [projection.name], count);
  return parts;
}

const unknown = { type: 'PaymentTeleported', data: {} };
const newer = (projection: Projection) => knowing(projection, unknown.type, methodChosen());

const rowsOf = async ({ database }: Stores, table: string) =>
  (await database.db.raw(`select t::text as row from ${table} t order by 1`)).rows;
const schemas = async ({ database }: Stores) =>
  (
    await database.db.raw(`select nspname from pg_namespace where nspname ~ 'payments|details|event_counts'`)
  ).rows
    .map(({ nspname }: { nspname: string }) => nspname)
    .toSorted();

test.serial('the rows are the same after, and the runner goes on without a word', async (t) => {
  const parts = await start(t);
  const lines: string[] = [];
  const loud = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const { db } = parts.database;
  const running = run(t, payments, parts.store, parts.database, { log: loud });
  await fill(parts, ['payments']);
  const tables = ['payments.payments', 'payments.exceptions'];
  const before = await Promise.all(tables.map((table) => rowsOf(parts, table)));
  const indexes = () =>
    db
      .raw(`select indexdef from pg_indexes where schemaname = 'payments' order by 1`)
      .then(({ rows }) => rows);
  const indexesBefore = await indexes();

  const { events } = await rebuild(options(payments, parts));
  t.is(events, 1 + 39 * 3);
  t.deepEqual(await Promise.all(tables.map((table) => rowsOf(parts, table))), before);
  t.deepEqual(await indexes(), indexesBefore);
  t.deepEqual(await schemas(parts), ['payments']);
  t.is((await db('checkpoints')).length, 1);

  await take(parts, 'payments', 'after');
  t.is((await db('payments.payments').where('transaction_id', 'after')).length, 1);
  await running.stop();
  t.deepEqual(lines, []);
});

test.serial('while events pour in, none is lost and none is taken twice', async (t) => {
  const parts = await start(t);
  const running = run(t, eventCounts, parts.store, parts.database);
  await append(parts.store.eventStore, 'A', [paymentRequested()]);
  await append(
    parts.store.eventStore,
    'A',
    Array.from({ length: 1_000 }, () => methodChosen()),
    0,
  );
  let revision = 1_000;
  let pouring = true;
  const poured = (async () => {
    while (pouring) {
      await append(parts.store.eventStore, 'A', [methodChosen()], revision);
      revision += 1;
      await systemRuntime.sleep(5);
    }
  })();
  for (let round = 0; round < 3; round += 1) await rebuild(options(eventCounts, parts));
  pouring = false;
  await poured;
  await take(parts, 'event_counts', 'B');
  await running.stop();
  const expected = Array.from({ length: revision + 1 }, (_, each) => `payment-A ${each}`);
  t.deepEqual(await seen(parts.database.db), [...expected, 'payment-B 0']);
});

test.serial('killed in the middle, it continues from there', async (t) => {
  const parts = await start(t);
  run(t, payments, parts.store, parts.database);
  await append(parts.store.eventStore, 'A', [paymentRequested()]);
  for (let revision = 0; revision < 4_000; revision += 1_000)
    await append(
      parts.store.eventStore,
      'A',
      Array.from({ length: 1_000 }, () => methodChosen()),
      revision,
    );
  const last = await append(parts.store.eventStore, 'B', [paymentRequested()]);
  await reached(parts.database.db, 'payments', last);
  const before = await rowsOf(parts, 'payments.payments');
  const script = fileURLToPath(new URL('../rebuild-child.ts', import.meta.url));
  const child = fork(script, [parts.store.url, parts.database.url], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.teardown(() => end(child));
  for await (const [{ events }] of on(child, 'message')) if (events > 0) break;
  await end(child);
  const left = await statusOf(parts.database.db, 'payments_rebuild');
  t.truthy(left?.position, 'the copy is there');
  t.deepEqual(await rowsOf(parts, 'payments.payments'), before);

  const taken: number[] = [];
  const { events } = await rebuild(options(payments, parts, { onProgress: (at) => taken.push(at.events) }));
  t.true((taken[0] ?? 0) > 0, 'begins where the other ended');
  t.is(events, 4_002);
  t.deepEqual(await rowsOf(parts, 'payments.payments'), before);
});

test.serial('interrupted by its signal, it says so, and the tables serve on', async (t) => {
  const parts = await serving(t, payments);
  const interrupt = new AbortController();
  const interrupted = rebuild(
    options(payments, parts, { signal: interrupt.signal, onProgress: () => interrupt.abort() }),
  );
  await t.throwsAsync(interrupted, { instanceOf: RebuildInterrupted });
  t.is((await rowsOf(parts, 'payments.payments')).length, 40);
  await rebuild(options(payments, parts));
  t.is((await rowsOf(parts, 'payments.payments')).length, 40);
});

test.serial('one rebuild of a projection at a time', async (t) => {
  const parts = await serving(t, payments);
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const onBegin = async () => {
    begun.resolve();
    await go.promise;
    return 'a request';
  };
  const first = rebuild({ ...options(payments, parts), onBegin });
  await begun.promise;
  await t.throwsAsync(rebuild(options(payments, parts)), {
    instanceOf: RebuildUnderWay,
  });
  go.resolve();
  t.is((await first).events, 118);
});

test.serial(
  'whoever stood still before the cutover does not serve what another one has begun anew',
  async (t) => {
    const parts = await serving(t, payments);
    const { db } = parts.database;
    const schema = 'payments_rebuild';
    const shadow = await openShadowTables({ ...options(payments, parts), schema });
    await shadow.catchUp(parts.store.eventStore.head);
    await discard(db, schema);
    const another = await openShadowTables({ ...options(payments, parts), schema });
    t.is(another.position(), null);
    await t.throwsAsync(cutOver(db, { projection: payments, shadow, schema, request: null, durationMs: 1 }), {
      message: /begun anew/,
    });
    t.is((await rowsOf(parts, 'payments.payments')).length, 40);
    await another.catchUp(parts.store.eventStore.head);
    await cutOver(db, { projection: payments, shadow: another, schema, request: null, durationMs: 1 });
    t.is((await rowsOf(parts, 'payments.payments')).length, 40);
  },
);

test.serial('new tables have at once whatever the ones had that they replace', async (t) => {
  const parts = await start(t);
  const running = run(t, payments, parts.store, parts.database);
  await fill(parts, ['payments'], 3);
  const { db } = parts.database;
  const schema = 'payments_rebuild';
  const shadow = await openShadowTables({ ...options(payments, parts), schema });
  await shadow.catchUp(parts.store.eventStore.head);
  await take(parts, 'payments', 'late');
  await running.stop();
  await cutOver(db, { projection: payments, shadow, schema, request: null, durationMs: 1 });
  t.is((await rowsOf(parts, 'payments.payments')).length, 4);
});

test('a cutover that waits for whoever changes tables gives up in time, and is tried again', async (t) => {
  const parts = await serving(t, payments, { isApart: true });
  const { db } = parts.database;
  const other = await db.transaction();
  let isFirst = true;
  const eventStore = {
    ...parts.store.eventStore,
    // The copy is made already when it first asks how far the log goes.
    async head() {
      if (isFirst) await lockTables(other);
      isFirst = false;
      return await parts.store.eventStore.head();
    },
  };
  const reasons: string[] = [];
  const write = (line: string) => {
    reasons.push(JSON.parse(line).reason);
    void other.commit();
  };
  await rebuild(options(payments, parts, { eventStore, log: pino({ level: 'warn' }, { write }) }));
  t.deepEqual(
    reasons.map((reason) => /lock timeout/.test(reason)),
    [true],
  );
  t.is((await rowsOf(parts, 'payments.payments')).length, 40);
});

test.serial('a rebuild parks what the projection parks, and mends it with a program that can', async (t) => {
  const parts = await start(t);
  const { db } = parts.database;
  await append(parts.store.eventStore, 'A', [paymentRequested()]);
  await append(parts.store.eventStore, 'A', [unknown, methodChosen()], 0);
  run(t, payments, parts.store, parts.database);
  await take(parts, 'payments', 'B');
  const parked = async () =>
    ((await statusOf(db, 'payments'))?.parked ?? []).map(({ stream, revision }) => `${stream} ${revision}`);
  t.deepEqual(await parked(), ['payment-A 1']);
  t.deepEqual(await compare(payments, parts), { rows: 5, differences: [], more: 0 });
  const named = { ids: ['A', 'B'], streams: ['payment-A', 'payment-B'] };
  const stores = { db, personalData, eventStore: parts.store.eventStore };
  t.deepEqual((await compareStreams(stores, payments, named)).differences, []);

  const tolerant = newer(payments);
  await t.throwsAsync(compare(tolerant, parts), {
    instanceOf: RebuildRefused,
    message: /^They have parked payment-A at revision 1/,
  });
  await rebuild(options(payments, parts));
  t.deepEqual(await parked(), ['payment-A 1']);
  await rebuild(options(tolerant, parts));
  t.deepEqual(await parked(), []);
  await t.throwsAsync(rebuild(options(payments, parts)), {
    instanceOf: ProjectionHalted,
    message: /would lack rows, for they park payment-A at revision 1/,
  });
  t.deepEqual(await schemas(parts), ['payments']);
  const rows = db.withSchema('payments').from('payments').orderBy('transaction_id');
  t.deepEqual(await rows.pluck('revision'), [2, 0]);
});

test('tables of a newer program are refused; those of an older one are replaced beside it', async (t) => {
  const parts = await startStoresApart(t);
  const older = run(t, { ...payments, version: payments.version - 1 }, parts.store, parts.database);
  await fill(parts, ['payments']);
  await parts.database.db.raw('alter table payments.exceptions rename merchant_code to agency');
  await t.throwsAsync(rebuild(options({ ...payments, version: 1 }, parts)), { instanceOf: RebuildRefused });
  const newest = { ...payments, version: payments.version + 1 };
  await openShadowTables({ ...options(newest, parts), schema: 'payments_rebuild' });
  await rebuild(options(payments, parts));
  t.is((await statusOf(parts.database.db, 'payments'))?.version, payments.version);
  await append(parts.store.eventStore, 'after', [paymentRequested()]);
  await older.ended;
  t.is((await rowsOf(parts, 'payments.payments')).length, 40, 'the older program writes nothing into them');
});

/** The tables of a log that was replaced by an older copy, which has one payment. */
async function replaceLog(t: ExecutionContext, isNoticed: boolean): Promise<Stores> {
  const parts = await startStoresApart(t);
  const running = run(t, payments, parts.store, parts.database);
  await fill(parts, ['payments']);
  await running.stop();
  const store = await startStore(t);
  await append(store.eventStore, 'kept', [paymentRequested()]);
  const replaced = { ...parts, store };
  if (isNoticed) await run(t, payments, store, parts.database).ended;
  return replaced;
}

for (const isNoticed of [true, false])
  test(`tables that are made again from an older copy of the log end where it ends, ${isNoticed ? 'after' : 'before'} their runner has noticed`, async (t) => {
    const parts = await replaceLog(t, isNoticed);
    const { db } = parts.database;
    const { eventStore } = parts.store;
    await rebuild(options(payments, parts));
    t.deepEqual((await statusOf(db, 'payments'))?.position, await eventStore.head());
    run(t, payments, parts.store, parts.database);
    await take(parts, 'payments', 'new', 'R-2');
    t.is((await rowsOf(parts, 'payments.payments')).length, 2);
  });

test('a rebuild that was interrupted is begun anew if the log was replaced by an older copy', async (t) => {
  const parts = await serving(t, payments, { isApart: true });
  const interrupt = new AbortController();
  const interrupted = rebuild(
    options(payments, parts, {
      signal: interrupt.signal,
      onProgress: ({ events }) => events > 0 && interrupt.abort(),
    }),
  );
  await t.throwsAsync(interrupted, { instanceOf: RebuildInterrupted });
  t.deepEqual(await schemas(parts), ['payments', 'payments_rebuild']);
  const older = await startStore(t);
  await append(older.eventStore, 'kept', [paymentRequested()]);
  await rebuild(options(payments, { ...parts, store: older }));
  t.is((await rowsOf(parts, 'payments.payments')).length, 1);
});

test.serial('whoever reads meanwhile reads rows, always', async (t) => {
  const parts = await serving(t, payments);
  const { db } = parts.database;
  let reading = true;
  let reads = 0;
  const readers = Array.from({ length: 4 }, async () => {
    while (reading) {
      const { rows } = await db.raw(
        `select count(*) from payments.payments left join payments.exceptions using (transaction_id)`,
      );
      t.is(rows[0].count, 40);
      reads += 1;
    }
  });
  for (let round = 0; round < 3; round += 1) await rebuild(options(payments, parts));
  reading = false;
  await Promise.all(readers);
  t.true(reads > 0);
});

test.serial('a reader that takes its time keeps the old tables until it is done', async (t) => {
  const parts = await serving(t, payments);
  const { db } = parts.database;
  const reader = await db.transaction();
  const count = () => reader.raw('select count(*) from payments.payments').then(({ rows }) => rows[0].count);
  t.is(await count(), 40);
  let isSaid = false;
  const onSwapped = async () => {
    isSaid = true;
  };
  const rebuilding = rebuild({ ...options(payments, parts), onSwapped });
  await until(() => isSaid);
  t.true((await schemas(parts)).includes('payments_old'));
  t.is(await count(), 40);
  t.is((await rowsOf(parts, 'payments.payments')).length, 40, 'others read the new ones');
  await reader.commit();
  await rebuilding;
  t.deepEqual(await schemas(parts), ['payments']);

  await db.transaction(async (another) => {
    await another.raw('select from payments.payments');
    const interrupt = new AbortController();
    const interrupted = options(payments, parts, { signal: interrupt.signal });
    await rebuild({ ...interrupted, onSwapped: async () => interrupt.abort() });
    t.true((await schemas(parts)).includes('payments_old'), 'the rebuild is done, and these are left');
  });
});

test.serial('what was granted on the tables is granted on the new ones', async (t) => {
  const parts = await serving(t, payments, { count: 3 });
  const { db } = parts.database;
  await db.raw('grant usage on schema payments to pg_monitor');
  await db.raw('grant select on payments.payments to pg_monitor with grant option');
  await db.raw('grant select (merchant_code) on payments.exceptions to public');
  await rebuild(options(payments, parts));
  const { rows } = await db.raw(
    `select has_schema_privilege(?, 'payments', 'usage') as schema,
       has_table_privilege(?, 'payments.payments', 'select with grant option') as "table",
       has_table_privilege(?, 'payments.payments', 'insert') as more,
       has_column_privilege(?, 'payments.exceptions', 'merchant_code', 'select') as "column"`,
    Array.from({ length: 4 }, () => 'pg_monitor'),
  );
  t.deepEqual(rows[0], { schema: true, table: true, more: false, column: true });
});

test.serial('a table that an agency made or altered meanwhile is there after, filled', async (t) => {
  const parts = await serving(t, details);
  const { db } = parts.database;
  let isFirst = true;
  const onProgress = async () => {
    if (!isFirst) return;
    isFirst = false;
    await createDetailsTable(db, 'demo-app_details');
    await db.raw('alter table details."demo-app_details" add column lots integer');
  };
  const altered = Promise.withResolvers<void>();
  const holding = {
    ...parts.store.eventStore,
    // The copy is made already when it first asks how far the log goes.
    async head() {
      await onProgress().then(altered.resolve, altered.reject);
      return await parts.store.eventStore.head();
    },
  };
  await rebuild(options(details, parts, { eventStore: holding }));
  await altered.promise;
  const { rows } = await db.raw('select count(*), count(lots) as lots from details."demo-app_details"');
  t.deepEqual(rows[0], { count: 40, lots: 0 });
  t.is((await rowsOf(parts, 'details.generic_details')).length, 0);
});

test.serial('an agency’s table that no copy can be like ends the rebuild, and serves on', async (t) => {
  const parts = await serving(t, details, { count: 3 });
  const { db } = parts.database;
  await createDetailsTable(db, 'demo-app_details');
  const stubborn = { ...details, stillMatches: async () => false } satisfies Projection;
  await t.throwsAsync(rebuild(options(stubborn, parts)), {
    instanceOf: RebuildRefused,
    message: /again and again/,
  });
  t.is((await rowsOf(parts, 'details.generic_details')).length, 3);
  await db.raw('alter table details."demo-app_details" add check (amount > 1) not valid');
  await db.raw('create index on details."demo-app_details" (lower(trans_id), requested_at) where amount > 2');
  await rebuild(options(details, parts));
  t.is((await rowsOf(parts, 'details."demo-app_details"')).length, 3);
});

test.serial('before the projection ever ran, and when it has stopped, its tables are made', async (t) => {
  const parts = await start(t);
  await append(parts.store.eventStore, 'A', [paymentRequested()]);
  t.is((await rebuild(options(payments, parts))).events, 1);
  t.is((await rowsOf(parts, 'payments.payments')).length, 1);
  const { stop } = run(t, payments, parts.store, parts.database);
  const { db } = parts.database;
  await reached(db, 'payments', await append(parts.store.eventStore, 'B', [paymentRequested()]));
  t.is((await rowsOf(parts, 'payments.payments')).length, 2);
  await stop();

  // While a fault keeps the runner from following the log, they are made up to its end.
  await append(parts.store.eventStore, 'C', [paymentRequested()]);
  await db('checkpoints').update({ fault: { message: 'It cannot continue' } });
  await rebuild(options(payments, parts));
  t.is((await rowsOf(parts, 'payments.payments')).length, 3);
  t.is((await statusOf(db, 'payments'))?.fault, null);
});

const compare = (projection: Projection, parts: Stores, limit = 10) =>
  compareWithFresh({ ...options(projection, parts), limit });

test.serial(
  'the rows of streams are compared as they are in one snapshot, if they are of this version',
  async (t) => {
    const parts = await serving(t, payments, { count: 3 });
    const { db } = parts.database;
    const stores = { db, personalData, eventStore: parts.store.eventStore };
    const named = { ids: ['1'], streams: ['payment-1'] };
    const project: Projection['project'] = async (events, trx, reader) => {
      await db.raw(`update payments.payments set amount_sen = amount_sen + 1 where transaction_id = '1'`);
      await payments.project(events, trx, reader);
    };
    t.like(await compareStreams(stores, { ...payments, project }, named), { rows: 2, differences: [] });
    t.is((await compareStreams(stores, payments, named)).differences.length, 1, 'in the next one');
    const later = { ...payments, version: payments.version + 1 };
    t.deepEqual(await compareStreams(stores, later, named), { rows: 0, differences: [], more: 0 });
    await t.throwsAsync(compare(later, parts), { instanceOf: RebuildRefused, message: /are of version/ });
  },
);

test.serial('rows that were edited, removed and added by hand are told, and no value of them', async (t) => {
  const parts = await serving(t, payments);
  const { db } = parts.database;
  // One of them is the mark of the key in the table of payers.
  t.deepEqual(await compare(payments, parts), { rows: 81, differences: [], more: 0 });
  await db.raw(`update payments.payments set amount_sen = 1, status = 'failed' where transaction_id = '7'`);
  await db.raw(`delete from payments.payments where transaction_id = '8'`);
  await db.raw(`update payments.payments set transaction_id = 'made up' where transaction_id = '9'`);
  const { rows, differences, more } = await compare(payments, parts);
  t.is(rows, 80);
  t.is(more, 0);
  t.deepEqual(differences, [
    { table: 'payments', key: '7', kind: 'changed', columns: ['status', 'amount_sen'] },
    { table: 'payments', key: '8', kind: 'missing', columns: [] },
    { table: 'payments', key: '9', kind: 'missing', columns: [] },
    { table: 'payments', key: 'made up', kind: 'extra', columns: [] },
  ]);
  t.deepEqual(await schemas(parts), ['payments']);
  const few = await compare(payments, parts, 2);
  t.is(few.differences.length, 2);
  t.is(few.more, 2);
  await db.raw(
    'alter table payments.payments drop column amount_sen; create table payments.more (id integer primary key)',
  );
  t.deepEqual((await compare(payments, parts)).differences, [
    { table: 'payments', key: null, kind: 'missing', columns: ['amount_sen'] },
    { table: 'more', key: null, kind: 'extra', columns: [] },
  ]);

  await rebuild(options(payments, parts));
  t.deepEqual((await compare(payments, parts)).differences, []);
});

test.serial(
  'tables without a key are compared, too; of the details, whichever table they are in',
  async (t) => {
    const parts = await start(t);
    const { db } = parts.database;
    run(t, eventCounts, parts.store, parts.database);
    run(t, details, parts.store, parts.database);
    await fill(parts, ['event_counts', 'details']);
    t.deepEqual((await compare(eventCounts, parts)).differences, []);
    await db.raw(`insert into event_counts.seen select * from event_counts.seen where stream = 'payment-0'`);
    t.like(await compare(eventCounts, parts), { rows: 119, differences: [{ table: 'seen', kind: 'extra' }] });

    const change = { table: 'details', kind: 'changed' } as const;
    const [{ transaction_id: key }] = await db('details.generic_details').where('extra', '{}').limit(1);
    await db('details.generic_details').where('transaction_id', key).update({ extra: '{"lots": 3}' });
    t.deepEqual((await compare(details, parts)).differences, [{ ...change, key, columns: ['extra'] }]);
    await createDetailsTable(db, 'demo-app_details');
    await take(parts, 'details', 'A');
    t.deepEqual(await compare(details, parts), { rows: 41, differences: [], more: 0 });
    await db.raw(`update details."demo-app_details" set city = 'Ipoh'`);
    t.deepEqual((await compare(details, parts)).differences, [{ ...change, key: 'A', columns: ['city'] }]);
  },
);

test.serial('whatever the histories, rows made in other batches are the same to the letter', async (t) => {
  const parts = await start(t);
  run(t, payments, parts.store, parts.database);
  run(t, details, parts.store, parts.database);
  let id = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(history, { minLength: 1, maxLength: 5 }), async (histories) => {
      for (const events of histories) {
        id += 1;
        // One by one, so that the serving rows are written and read in between.
        for (const [index, event] of events.entries())
          await append(parts.store.eventStore, `H${id}`, [event], index === 0 ? 'no_stream' : index - 1);
      }
    }),
    { numRuns: runs(10) },
  );
  const last = await append(parts.store.eventStore, 'last', [paymentRequested()]);
  for (const projection of [payments, details]) {
    await reached(parts.database.db, projection.name, last);
    t.deepEqual((await compare(projection, parts)).differences, []);
  }
});

test.serial('whatever is parked and tried again, the rows are those of a log read in order', async (t) => {
  const parts = await start(t);
  const { eventStore } = parts.store;
  const { db } = parts.database;
  const plain = [payments, createDeliveryList({ eventStore })];
  const mended = plain.map(newer);
  for (const projection of plain) run(t, projection, parts.store, parts.database);
  let id = 0;
  let parked = 0;
  const place = fc.tuple(history, fc.nat(6), fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 4 }), async (histories) => {
      for (const [events, at, isWhole] of histories) {
        id += 1;
        const all = isWhole ? events : events.toSpliced(1 + (at % events.length), 0, unknown as PaymentEvent);
        for (const [index, event] of all.entries())
          await append(eventStore, `U${id}`, [event], index === 0 ? 'no_stream' : index - 1);
      }
      const last = await append(eventStore, `last${id}`, [
        paymentRequested(),
        succeeded(result(1, 'succeeded')),
      ]);
      const stores = { db, eventStore, personalData, runtime: systemRuntime };
      for (const projection of mended) {
        await reached(db, projection.name, last);
        parked += (await statusOf(db, projection.name))?.parked.length ?? 0;
        t.deepEqual(await tryParkedAgain({ ...stores, projection, schema: projection.name }), []);
        t.deepEqual((await compare(projection, parts)).differences, []);
      }
    }),
    { numRuns: runs(4) },
  );
  t.true(parked > 0);
});

test.serial('the copy to compare with is dropped, whatever ended the comparison', async (t) => {
  const parts = await start(t);
  await append(parts.store.eventStore, 'A', [paymentRequested()]);
  await t.throwsAsync(compare(payments, parts), { instanceOf: RebuildRefused, message: /never run/ });
  const running = run(t, payments, parts.store, parts.database);
  await take(parts, 'payments', 'B');
  await running.stop();
  const interrupt = new AbortController();
  const interrupted = compareWithFresh({
    ...options(payments, parts, { signal: interrupt.signal, onProgress: () => interrupt.abort() }),
    limit: 1,
  });
  await t.throwsAsync(interrupted, { instanceOf: RebuildInterrupted });
  const stubborn = { ...payments, project: () => Promise.reject(new Error('no')) };
  await t.throwsAsync(compare(stubborn, parts), { instanceOf: RebuildRefused });
  // What a killed process leaves is begun anew: it may hold rows that are ahead of its checkpoint.
  const { db } = parts.database;
  const left = await openShadowTables({ ...options(payments, parts), schema: comparedSchema('payments') });
  await left.feed((await parts.store.eventStore.head()) ?? { commit: 0n, prepare: 0n });
  t.is(await db('payments_compare.payments').delete(), 2);
  t.deepEqual((await compare(payments, parts)).differences, []);
  t.deepEqual(await schemas(parts), ['payments']);
  t.is((await parts.database.db('checkpoints')).length, 1);
});

test.serial('what the serving tables take while the copy is made is compared, too', async (t) => {
  const parts = await serving(t, payments, { count: 3 });
  const asked: boolean[] = [];
  const during: Projection = {
    ...payments,
    async *eventsAhead(_, __, since) {
      asked.push(since === null);
      if (since === null) await take(parts, 'payments', 'late');
      yield [];
    },
  };
  t.deepEqual((await compare(during, parts)).differences, []);
  t.deepEqual(asked, [true, false], 'and once more for what is ahead since, while nobody writes');
});

test.serial('what the serving tables take while rows are compared is left to the next time', async (t) => {
  const parts = await serving(t, details, { count: 3 });
  let taken = 0;
  const late: Projection = {
    ...details,
    async comparedIn(trx, schema) {
      taken += 1;
      await take(parts, 'details', `late-${taken}`);
      return (await details.comparedIn?.(trx, schema)) ?? [];
    },
  };
  t.deepEqual(await compare(late, parts), { rows: 3, differences: [], more: 0 });
});

test.serial('a comparison during which a rebuild replaces the tables begins again', async (t) => {
  const parts = await serving(t, details, { count: 3 });
  let rebuilds = 0;
  const replaced: Projection = {
    ...details,
    async comparedIn(trx, schema) {
      if (rebuilds === 0) await rebuild(options(details, parts));
      rebuilds += 1;
      return (await details.comparedIn?.(trx, schema)) ?? [];
    },
  };
  t.deepEqual(await compare(replaced, parts), { rows: 3, differences: [], more: 0 });
  t.true(rebuilds > 2);
});

test.serial('a comparison whose session Postgres ends begins again', async (t) => {
  const parts = await start(t);
  const running = run(t, payments, parts.store, parts.database);
  await take(parts, 'payments', 'A');
  await running.stop();
  let ended = 0;
  const interrupted: Projection = {
    ...payments,
    async project(events, db, ...rest) {
      if (ended === 0) {
        ended += 1;
        await db.raw('select pg_terminate_backend(pg_backend_pid())');
      }
      await payments.project(events, db, ...rest);
    },
  };
  t.deepEqual(await compare(interrupted, parts), { rows: 3, differences: [], more: 0 });
  t.is(ended, 1);
});
