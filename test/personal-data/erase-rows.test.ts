// Erasures and the read models: what rows hold before and after, and in tables that a rebuild has left.
import { createPersonalData } from '@ledger/personal-data/personal-data.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { dropLeftovers } from '@ledger/projections/rebuild/leftovers.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { openShadowTables } from '@ledger/projections/rebuild/shadow-tables.ts';
import test, { type ExecutionContext } from 'ava';
import { createErase } from '../../src/personal-data/erase.ts';
import { findByPayer } from '../../src/personal-data/find-by-payer.ts';
import { details } from '../../src/projections/details/projection.ts';
import { scrub } from '../../src/projections/details/scrub.ts';
import { createDetailsTable } from '../../src/projections/details/tables.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { log } from '../projections/helpers.ts';
import { payer } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { startErasing } from './erasing.ts';

const postgres = await createDatabase();
const start = (t: ExecutionContext) => startErasing(t, postgres);

test.serial('what an interrupted rebuild has left holds nothing once a payment is erased', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  const aborting = new AbortController();
  const shadow = {
    projection: details,
    eventStore: ledger.eventStore,
    db: ledger.db,
    personalData: ledger.personalData,
    runtime: ledger.runtime,
    signal: aborting.signal,
    onProgress: () => undefined,
  };
  const head = await ledger.eventStore.head();
  const fill = async (schema: string) => {
    const tables = await openShadowTables({ ...shadow, schema });
    await tables.catchUp(async () => head);
  };
  const left = async () => {
    const { rows } = await ledger.db.raw(
      `select schemaname from pg_tables where tablename = 'generic_details' order by 1`,
    );
    return rows.map(({ schemaname }: { schemaname: string }) => schemaname);
  };
  for (const schema of ['details_rebuild', 'details_compare']) await fill(schema);
  // As a cutover leaves the tables that it replaced, while somebody reads them.
  await ledger.db.raw('create schema details_old create table generic_details (name text)');
  t.is((await ledger.db('details_rebuild.generic_details'))[0].name, payer.name);
  const leftovers = { ...shadow, databaseUrl: ledger.url };
  await leadNow({ ...leftovers, name: 'details_rebuild' }, async () => {
    await dropLeftovers([details], leftovers);
    t.deepEqual(await left(), ['details_old', 'details_rebuild'], 'one that is under way is left alone');
  });
  await dropLeftovers([details], { ...leftovers, unlessSince: new Date(Date.now() - 3_600_000) });
  t.deepEqual(await left(), ['details_rebuild'], 'one that took events lately can be continued');
  const erase = createErase({
    ...ledger.parts,
    onErased: () => dropLeftovers([details], leftovers),
  });
  await erase(ledger.asked(id));
  t.deepEqual(await left(), []);
});

test.serial(
  'read models follow, a rebuild gives the same rows, and a person is no longer found',
  async (t) => {
    const ledger = await start(t);
    ledger.project(t);
    const [id, other] = [await ledger.pay(1), await ledger.pay(2)];
    await ledger.caughtUp();
    const found = async (text: string) =>
      (await findByPayer(text, ledger)).payments
        .map(({ request: { transactionId } }) => transactionId)
        .toSorted();
    for (const text of ['900101-14-5678', '900101145678', 'AMINAH@example.my'])
      t.deepEqual(await found(text), [id, other]);
    const written = await ledger.pay(3, { payer: { ...payer, icNo: 'A-1234567', email: '' } });
    await ledger.caughtUp();
    for (const text of ['900101 14 5678', '900101/14/5678', '900101–14–5678'])
      t.deepEqual(await found(text), [id, other], text);
    for (const text of ['A1234567', 'a 1234567', 'A-1234567'])
      t.deepEqual(await found(text), [written], text);
    t.deepEqual(await found('Aminah'), [], 'a name is not a person');
    t.deepEqual(await found('0123456789'), []);
    const away = createPersonalData({
      store: { ...ledger.openKeyStore(), read: () => Promise.reject(new Error('away')) },
      listen: () => ({ stop: async () => undefined }),
      log,
      runtime: ledger.runtime,
    });
    const inVain = findByPayer('900101145678', { ...ledger, personalData: away });
    await t.throwsAsync(inVain, { instanceOf: KeysUnavailable }, 'otherwise payments would be left out');

    await ledger.erase(ledger.asked(id));
    await ledger.caughtUp();
    t.deepEqual(await found('900101145678'), [other]);
    const rows = await ledger.db('details.generic_details').orderBy('transaction_id');
    t.like(rows[0], { transaction_id: id, trans_id: 'R-1', name: null, ic_no: null, email: null, extra: {} });
    t.like(rows[1], { transaction_id: other, ic_no: '900101145678', extra: { account_no: 'A-1' } });
    for (const projection of [payments, details])
      t.deepEqual((await ledger.compare(projection)).differences, [], projection.name);
  },
);

test.serial(
  'a key of the blind index that no process knows any more is not replaced unnoticed',
  async (t) => {
    const ledger = await start(t);
    ledger.project(t);
    const id = await ledger.pay(1);
    await ledger.caughtUp();
    t.is((await findByPayer(payer.icNo, ledger)).payments.length, 1);
    await ledger.db('personal_data.key_blocks').where({ id: 'index' }).delete();
    const personalData = createPersonalData({
      store: ledger.openKeyStore(),
      listen: () => ({ stop: async () => undefined }),
      log,
      runtime: ledger.runtime,
    });
    await t.throwsAsync(findByPayer(payer.icNo, { ...ledger, personalData }), {
      instanceOf: KeysUnavailable,
    });
    await rebuild({
      projection: payments,
      eventStore: ledger.eventStore,
      db: ledger.db,
      databaseUrl: ledger.url,
      personalData,
      log,
      runtime: ledger.runtime,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
    const [found] = (await findByPayer(payer.icNo, { ...ledger, personalData })).payments;
    t.is(found?.request.transactionId, id);
  },
);

test.serial('an agency’s own table is scrubbed as well, and one that refuses loses the row', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  await ledger.pay(1);
  await ledger.caughtUp();
  await createDetailsTable(ledger.db, 'council_details');
  await ledger.db.raw('alter table details.council_details add column account_no text');
  const [open, strict, beside] = [await ledger.pay(2), await ledger.pay(3), await ledger.pay(4)];
  await ledger.caughtUp();
  const own = () => ledger.db('details.council_details').orderBy('transaction_id');
  t.deepEqual(
    (await own()).map((row) => row.account_no),
    ['A-1', 'A-1', 'A-1'],
  );
  await ledger.erase(ledger.asked(open));
  await ledger.caughtUp();
  t.like((await own())[0], { transaction_id: open, account_no: null, name: null, extra: {} });
  await ledger.db.raw(
    `alter table details.council_details add constraint named check (transaction_id <> '${strict}' or name is not null)`,
  );
  await ledger.erase([...ledger.asked(strict), ...ledger.asked(beside)]);
  await ledger.caughtUp();
  // In one transaction, as when both are erased in one batch.
  await ledger.db.transaction(async (trx) => {
    await trx.raw('set local search_path to details');
    await scrub([strict, beside], trx);
  });
  t.deepEqual(
    (await own()).map((row) => row.transaction_id),
    [open, beside],
  );
  const shared = await ledger.db('details.generic_details').where({ transaction_id: strict });
  t.like(shared[0], { name: null, extra: {} });
  t.deepEqual((await ledger.compare(details)).differences, []);
});
