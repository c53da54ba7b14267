/** Erasing on real stores: what becomes unreadable, what stays, and what happens when it is interrupted. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isDestroyed,
  keyIn,
  keysPerBlock,
  readKeyId,
  wrappingKeys,
} from '@ledger/personal-data/key-store.ts';
import { createPersonalData } from '@ledger/personal-data/personal-data.ts';
import { createPostgresKeyStore, destroyedChannel } from '@ledger/personal-data/postgres-key-store.ts';
import { KeysUnavailable, type PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { compareWithFresh } from '@ledger/projections/rebuild/compare.ts';
import { dropLeftovers } from '@ledger/projections/rebuild/leftovers.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { openShadowTables } from '@ledger/projections/rebuild/shadow-tables.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import test, { type ExecutionContext } from 'ava';
import { createExecute, loadHead } from '../../src/commands/execute.ts';
import { createFingerprint } from '../../src/commands/fingerprint.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { createQuarantine, loadUnmatched, unmatchedDecider } from '../../src/commands/unmatched.ts';
import { UnreadableEvent } from '../../src/events/codec.ts';
import { genesisHash, hashOf } from '../../src/events/envelope.ts';
import { openPayment } from '../../src/events/open-payment.ts';
import { paymentStream, type RequestedPayment } from '../../src/events/payment.ts';
import { quarantineFold, resolutionStream, unmatchedIdOf } from '../../src/events/unmatched.ts';
import { createErase, unmatchedSubject } from '../../src/personal-data/erase.ts';
import { createErasedKeys, erasedKeysList } from '../../src/personal-data/erased-keys.ts';
import { findByPayer } from '../../src/personal-data/find-by-payer.ts';
import { createRetentionPass } from '../../src/personal-data/retention.ts';
import { details } from '../../src/projections/details/projection.ts';
import { scrub } from '../../src/projections/details/scrub.ts';
import { createDetailsTable } from '../../src/projections/details/tables.ts';
import { madeWithKeys } from '../../src/projections/payments/payers.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { unmatched } from '../../src/projections/unmatched/projection.ts';
import { createEraser } from '../../src/roles/eraser.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { caughtUp, emptyDatabase, log, run, startStore } from '../projections/helpers.ts';
import {
  choose,
  payer,
  plain,
  record,
  type request,
  requested,
  requestPayment,
  result,
} from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { quarantined } from '../support/quarantine.ts';
import { testRuntime } from '../support/runtime.ts';

const postgres = await createDatabase();

const idOf = (number: number) => String(number).padStart(26, '0');
const cause = () => {
  const commandId = randomUUID();
  return { commandId, correlationId: commandId, causationId: commandId, actor: 'gateway' };
};

async function start(t: ExecutionContext) {
  const { url, db } = await emptyDatabase(t, postgres);
  const store = await startStore(t);
  const { eventStore } = store;
  let now = new Date('2026-11-20T02:00:00.000Z');
  const runtime = testRuntime({ now: () => now });
  const keyStore = createPostgresKeyStore({
    db,
    madeWithKeys,
    wrapping: wrappingKeys(Buffer.alloc(32, 'k').toString('base64'), []),
    runtime,
  });
  const personalData = createPersonalData({
    store: keyStore,
    listen: (onNotification) =>
      listenForNotifications({ databaseUrl: url, channel: destroyedChannel, onNotification, log, runtime }),
    ahead: keysPerBlock,
    log,
    runtime,
  });
  t.teardown(personalData.stop);
  await personalData.start();
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const copies: string[] = [];
  const parts = {
    store: keyStore,
    eventStore,
    onErased: async (ids: readonly string[]) => copies.push(...ids) > 0,
    runtime,
  };
  const erase = createErase(parts);
  const asked = (subject: string) => [{ subject, reason: 'requested' as const, actor: 'staff:tests' }];
  const load = async (id: string): Promise<RequestedPayment> => {
    const { state } = await loadHead(eventStore, paymentStream(id), paymentDecider);
    if (state.status === 'none') throw new Error('There is no such payment');
    return state;
  };
  return {
    url,
    db,
    eventStore,
    personalData,
    erasures: keyStore.erasures,
    dropLeftovers: async () => undefined,
    parts,
    copies,
    execute,
    asked,
    erase,
    load,
    setNow(time: string) {
      now = new Date(time);
    },
    runtime,
    open: async (id: string) => openPayment(await load(id), personalData.open),
    typesOf: async (id: string) => (await eventStore.load(paymentStream(id))).map(({ type }) => type),
    async pay(number: number, over: Parameters<typeof request>[0] = {}) {
      const id = idOf(number);
      const stream = paymentStream(id);
      const asked = requestPayment({ transactionId: id, reference: `R-${number}`, ...over });
      await execute(stream, asked, cause(), { creates: true });
      await execute(stream, choose(1), cause());
      const order = { sellerOrderNo: `${id}-1` };
      await execute(stream, record(result(1, 'succeeded', order)), cause());
      return id;
    },
    project(t: ExecutionContext) {
      for (const projection of [payments, details, unmatched])
        run(t, projection, { eventStore }, { db, url }, { personalData, runtime });
    },
    caughtUp: () => caughtUp([payments, details], { eventStore }, { db }),
    compare: (projection: typeof payments) =>
      compareWithFresh({
        projection,
        eventStore,
        db,
        databaseUrl: url,
        personalData,
        log,
        runtime,
        signal: new AbortController().signal,
        onProgress: () => undefined,
        limit: 10,
      }),
  };
}

test.serial(
  'no event holds personal data; erased ones open nowhere, and everything else stays',
  async (t) => {
    const ledger = await start(t);
    const [id, other] = [await ledger.pay(1), await ledger.pay(2)];
    const stored = JSON.stringify(await ledger.eventStore.load(paymentStream(id)), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    ).toLowerCase();
    for (const value of [...Object.values(payer), 'A-1'].filter((each) => each !== ''))
      t.false(stored.includes(`"${value.toLowerCase()}"`), value);

    const before = await ledger.open(id);
    t.like(before.request, { payer, extra: { account_no: 'A-1' } });
    t.is(before.results[0]?.buyerName, 'AMINAH BINTI ISMAIL');
    t.deepEqual(await ledger.erase(ledger.asked(id)), [id]);
    const after = await ledger.open(id);
    t.deepEqual(after.access, { kind: 'erased', at: '2026-11-20T02:00:00.000Z' });
    t.is(after.request.payer.name, '');
    t.is(after.results[0]?.buyerName, '');
    for (const each of [
      'status',
      'receipt',
      'deliveries',
      'attempts',
      'lastRequery',
      'closedAttempts',
    ] as const)
      t.deepEqual(after[each], before[each]);
    t.is((await ledger.typesOf(id)).at(-1), 'PersonalDataErased');
    t.deepEqual(ledger.copies, [id]);
    t.like((await ledger.open(other)).request, { payer }, 'another payment of the same person');
  },
);

test.serial(
  'keys of erased data that an older copy of PostgreSQL brings back are destroyed again',
  async (t) => {
    const { db, erase, asked, eventStore, load, parts, pay, url, ...ledger } = await start(t);
    const freed: number[] = [];
    const store = {
      ...parts.store,
      async freeOldVersions() {
        freed.push((await returned()).length);
      },
    };
    const follow = () => {
      const projection = createErasedKeys({ store, log });
      const { personalData, runtime } = ledger;
      return run(t, projection, { eventStore }, { db, url }, { personalData, runtime });
    };
    const returned = async () => (await db('erased_keys.returned')).map(({ keys }) => keys);
    const tables = ['personal_data.key_blocks', 'checkpoints', 'erased_keys.returned'];
    const ids = [await pay(1), await pay(2), await pay(3)];
    const keys = (await Promise.all(ids.map(load))).map(({ personalData }) => personalData.keys);
    const areDestroyed = async () => {
      const read = keys.flat().map(async (keyId) => {
        const { block, index } = readKeyId(keyId) ?? { block: '', index: 0 };
        const found = (await parts.store.read([block])).get(block);
        return found instanceof Buffer && isDestroyed(keyIn(found, index));
      });
      return await Promise.all(read);
    };
    const erased = async (id: string) => {
      await erase(asked(id));
      await caughtUp([erasedKeysList], { eventStore }, { db });
    };

    const first = follow();
    await erased(idOf(1));
    const copy = await Promise.all(tables.map(async (table) => [table, await db(table)] as const));
    await erased(idOf(2));
    t.deepEqual(await returned(), [], 'a usual erasure is none that was undone');
    await first.stop();

    for (const [table, rows] of copy) {
      await db(table).delete();
      if (rows.length > 0) await db(table).insert(rows.map(asStored));
    }
    const isOf = (id: string) => keys.flatMap((own, index) => own.map(() => ids[index] === id));
    t.deepEqual(await areDestroyed(), isOf(idOf(1)), 'the copy is from before the second erasure');
    const second = follow();
    const [, own = [], kept = []] = keys;
    await until(async () => (await returned()).length > 0);
    t.deepEqual(await returned(), [own.length]);
    t.deepEqual(
      await areDestroyed(),
      keys.flatMap((each) => each.map(() => each !== kept)),
    );
    await second.stop();
    await until(() => freed.length > 0);
    t.deepEqual(freed, [1], 'once it is committed: no transaction needs the old versions then');

    await db('checkpoints').where({ name: erasedKeysList.name }).delete();
    await db.raw('drop schema erased_keys cascade');
    follow();
    await caughtUp([erasedKeysList], { eventStore }, { db });
    t.deepEqual(await returned(), [], 'read again from the start, nothing is found twice');
  },
);

test('that keys cannot be destroyed is said in the words of the store, if it knows why', async (t) => {
  // It needs neither before the keys are destroyed.
  const none = [] as unknown as [never, never];
  const projecting = async (failure: Error) => {
    const store = { destroy: () => Promise.reject(failure), freeOldVersions: async () => undefined };
    return await t.throwsAsync(async () => await createErasedKeys({ store, log }).project([], ...none), {
      instanceOf: KeysUnavailable,
    });
  };
  const known = new KeysUnavailable('They are under another DATA_KEY');
  t.is(await projecting(known), known);
  t.is(
    (await projecting(new TypeError('x')))?.message,
    'Keys of erased personal data cannot be destroyed now',
  );
});

test.serial(
  'keys that were back are counted, once, even if the process is killed as soon as they are destroyed',
  async (t) => {
    const { asked, db, erase, eventStore, load, parts, pay } = await start(t);
    const id = await pay(1);
    const { keys } = (await load(id)).personalData;
    const copy: Record<string, unknown>[] = await db('personal_data.key_blocks');
    await erase(asked(id));
    await db('personal_data.key_blocks').delete();
    await db('personal_data.key_blocks').insert(copy);
    const erasures = await eventStore.load(paymentStream(id));
    const events = erasures.filter(({ type }) => type === 'PersonalDataErased');
    const none = {} as PersonalDataReader;
    const list = () => createErasedKeys({ store: parts.store, log });
    await prepare(db, list(), erasedKeysList.name);
    const killed = db.transaction(async (trx) => {
      await list().project(events, trx, none);
      throw new Error('killed');
    });
    await t.throwsAsync(killed, { message: 'killed' });
    await db.transaction(async (trx) => await list().project(events, trx, none));
    t.deepEqual(await db('erased_keys.returned').pluck('keys'), [keys.length]);
  },
);

/** jsonb travels as text. */
const asStored = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null || value instanceof Date || Buffer.isBuffer(value) || typeof value !== 'object'
        ? value
        : JSON.stringify(value),
    ]),
  );

test.serial('erasing again changes nothing, and an unknown payment is refused', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  await ledger.erase(ledger.asked(id));
  t.deepEqual(await ledger.erase(ledger.asked(id)), []);
  t.is((await ledger.typesOf(id)).filter((type) => type === 'PersonalDataErased').length, 1);
  await t.throwsAsync(ledger.erase(ledger.asked(idOf(9))), { name: 'Refused' });
});

test.serial('the same request is recognised after the erasure, and another is still refused', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  await ledger.erase(ledger.asked(id));
  const again = (over: Parameters<typeof request>[0]) =>
    ledger.execute(
      paymentStream(id),
      requestPayment({ transactionId: id, reference: 'R-1', ...over }),
      cause(),
      { creates: true },
    );
  t.deepEqual((await again({})).events, []);
  await t.throwsAsync(again({ payer: { ...payer, name: 'Somebody else' } }), { name: 'Refused' });
});

test.serial('a result that arrives while the keys are destroyed is erased as well', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  let late = 0;
  const erase = createErase({
    ...ledger.parts,
    eventStore: {
      ...ledger.eventStore,
      async append(...args) {
        if (late < 2) {
          late += 1;
          const reported = result(1, 'succeeded', { gatewayTransactionId: `LATE-${late}` });
          await ledger.execute(paymentStream(id), record(reported), cause());
        }
        return await ledger.eventStore.append(...args);
      },
    },
  });
  t.deepEqual(await erase(ledger.asked(id)), [id]);
  const payment = await ledger.open(id);
  t.is(payment.results.length, 3);
  t.deepEqual(new Set(payment.results.map(({ buyerName }) => buyerName)), new Set(['']));
  t.deepEqual(payment.personalData.keys, []);
});

test.serial('personal data that arrive later are kept, and can be erased in turn', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  await ledger.erase(ledger.asked(id));
  const reported = result(1, 'succeeded', { gatewayTransactionId: 'P9', buyerName: 'BADRUL' });
  await ledger.execute(paymentStream(id), record(reported), cause());
  const held = await ledger.open(id);
  t.deepEqual([held.access.kind, held.results.at(-1)?.buyerName], ['erased', 'BADRUL']);
  t.deepEqual(await ledger.erase(ledger.asked(id)), [id]);
  t.is((await ledger.open(id)).results.at(-1)?.buyerName, '');
});

test.serial('personal data that arrive after an erasure are erased by the next pass', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const [id, other] = [await ledger.pay(1), await ledger.pay(2)];
  await ledger.erase(ledger.asked(id));
  const reported = result(1, 'succeeded', { gatewayTransactionId: 'P9', buyerName: 'BADRUL' });
  await ledger.execute(paymentStream(id), record(reported), cause());
  await ledger.caughtUp();
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  const pass = createRetentionPass({ ...ledger, retention: null, log });
  await pass(new AbortController().signal);
  t.is((await ledger.open(id)).results.at(-1)?.buyerName, '');
  t.deepEqual((await ledger.load(id)).personalData.keys, []);
  t.is((await ledger.open(other)).access.kind, 'open');
});

test.serial('a payment that cannot be erased keeps no other waiting', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const [broken, id] = [await ledger.pay(1), await ledger.pay(2)];
  await ledger.caughtUp();
  ledger.setNow(new Date(Date.now() + 8 * 365 * 86_400_000).toISOString());
  const erase = createErase({
    ...ledger.parts,
    eventStore: {
      ...ledger.eventStore,
      load: (stream) =>
        stream === paymentStream(broken)
          ? Promise.reject(new UnreadableEvent('of a newer program'))
          : ledger.eventStore.load(stream),
    },
  });
  const pass = createRetentionPass({ ...ledger, erase, retention: { count: 7, unit: 'years' }, log });
  await pass(new AbortController().signal);
  t.is((await ledger.open(id)).access.kind, 'erased');
  t.is((await ledger.open(broken)).access.kind, 'open');
});

test.serial(
  'whatever was sent to the payer is removed from the outbox, notices and drafts too',
  async (t) => {
    const { asked, db, eventStore, execute, personalData, runtime, url } = await start(t);
    const dataDir = await temporaryFolder(t);
    const outbox = join(dataDir, 'outbox');
    await execute(paymentStream(idOf(1)), requestPayment({ transactionId: idOf(1) }), cause(), {
      creates: true,
    });
    const eraser = createEraser(
      { config: { dataDir, databaseUrl: url }, eventStore, personalData, runtime },
      db,
    );
    await mkdir(outbox);
    const others = [`${idOf(2)}-notice-1.eml`, 'staff-1-a.eml'];
    const its = ['email.eml', 'notice-1.eml', 'notice-2.eml'].map((name) => `${idOf(1)}-${name}`);
    for (const name of [...others, ...its, `.${idOf(1)}-email-${randomUUID()}`])
      await writeFile(join(outbox, name), 'To: aminah@example.my');
    t.deepEqual(await eraser.erase(asked(idOf(1))), [idOf(1)]);
    t.deepEqual((await readdir(outbox)).toSorted(), others.toSorted());
  },
);

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
  t.is((await ledger.db('details_rebuild.generic_details'))[0].name, payer.name);
  const leftovers = { ...shadow, databaseUrl: ledger.url };
  await leadNow({ ...leftovers, name: 'details_rebuild' }, async () => {
    await dropLeftovers([details], leftovers);
    t.deepEqual(await left(), ['details_rebuild'], 'one that is under way is left alone');
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

test.serial('an erasure that was interrupted after the keys is completed by the next pass', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  const interrupted = createErase({
    ...ledger.parts,
    eventStore: { ...ledger.eventStore, append: () => Promise.reject(new Error('killed')) },
  });
  await t.throwsAsync(interrupted(ledger.asked(id)), { message: 'killed' });
  await until(async () => (await ledger.open(id)).access.kind === 'erased');
  t.deepEqual((await ledger.open(id)).access, { kind: 'erased', at: null });
  const pass = createRetentionPass({ ...ledger, erase: ledger.erase, retention: null, log });
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  await pass(new AbortController().signal);
  t.is((await ledger.typesOf(id)).at(-1), 'PersonalDataErased');
  const [event] = (await ledger.eventStore.load(paymentStream(id))).slice(-1);
  t.like(event?.metadata, { actor: 'staff:tests' });
  t.deepEqual(ledger.copies, [id]);
  t.deepEqual(
    await ledger.erasures.begunBefore(new Date(Date.now() + 3_600_000), { after: '', limit: 10 }),
    [],
  );
});

test.serial('an erasure that was interrupted after the event still removes the copies', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  const interrupted = createErase({ ...ledger.parts, onErased: () => Promise.reject(new Error('killed')) });
  await t.throwsAsync(interrupted(ledger.asked(id)), { message: 'killed' });
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  await createRetentionPass({ ...ledger, retention: null, log })(new AbortController().signal);
  t.deepEqual(ledger.copies, [id]);
  t.is((await ledger.typesOf(id)).filter((type) => type === 'PersonalDataErased').length, 1);
  t.deepEqual(
    await ledger.erasures.begunBefore(new Date(Date.now() + 3_600_000), { after: '', limit: 10 }),
    [],
  );
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

test.serial('a lost key of the blind index is not replaced unnoticed', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const id = await ledger.pay(1);
  await ledger.caughtUp();
  t.is((await findByPayer(payer.icNo, ledger)).payments.length, 1);
  await ledger.db('personal_data.key_blocks').where({ id: 'index' }).delete();
  const { store } = ledger.personalData;
  const personalData = createPersonalData({
    store,
    listen: () => ({ stop: async () => undefined }),
    log,
    runtime: ledger.runtime,
  });
  await t.throwsAsync(findByPayer(payer.icNo, { ...ledger, personalData }), { instanceOf: KeysUnavailable });
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
});

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

test.serial('retention erases what has been quiet for long enough, and nothing else', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const [old, busy] = [await ledger.pay(1), await ledger.pay(2)];
  await ledger.caughtUp();
  const pass = createRetentionPass({ ...ledger, retention: { count: 7, unit: 'years' }, log });
  const { signal } = new AbortController();
  await pass(signal);
  t.is((await ledger.open(old)).access.kind, 'open');
  ledger.setNow(new Date(Date.now() + 8 * 365 * 86_400_000).toISOString());
  // As if something had happened that the row does not show yet.
  const events = await ledger.eventStore.load(paymentStream(busy));
  const recent = events.map((event) => ({ ...event, created: ledger.runtime.now() }));
  const erase = createErase({
    ...ledger.parts,
    eventStore: {
      ...ledger.eventStore,
      load: async (stream) =>
        stream === paymentStream(busy) ? recent : await ledger.eventStore.load(stream),
    },
  });
  await createRetentionPass({ ...ledger, erase, retention: { count: 7, unit: 'years' }, log })(signal);
  t.is((await ledger.open(old)).access.kind, 'erased');
  t.is((await ledger.open(busy)).access.kind, 'open');
});

test.serial('a payment of version 1 shows nothing any more once it is erased', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const id = idOf(1);
  const first = requested();
  if (first.type !== 'PaymentRequested') return t.fail();
  const { personal, fingerprint: _, emailReceipt: __, ...data } = first.data;
  const stored = { type: first.type, data: { ...data, transactionId: id, ...plain(personal) } };
  const unhashed = { schemaVersion: 1, previousHash: genesisHash };
  const metadata = { ...unhashed, hash: hashOf(stored.type, stored.data, unhashed) };
  await ledger.eventStore.append(paymentStream(id), [{ id: randomUUID(), ...stored, metadata }], 'no_stream');
  await ledger.caughtUp();
  t.is((await ledger.open(id)).request.payer.name, payer.name);
  await ledger.erase(ledger.asked(id));
  await ledger.caughtUp();
  t.is((await ledger.open(id)).access.kind, 'erased');
  const [row] = await ledger.db('payments.payments').where({ transaction_id: id });
  t.false(JSON.stringify(row).includes(payer.name));
  t.deepEqual((await ledger.compare(payments)).differences, []);
  t.deepEqual((await ledger.compare(details)).differences, []);
});

test.serial(
  'with the key store away, payments are folded and decided on, and only persons are missing',
  async (t) => {
    const ledger = await start(t);
    const id = await ledger.pay(1);
    const away = createPersonalData({
      store: { ...ledger.personalData.store, read: () => Promise.reject(new Error('away')) },
      listen: () => ({ stop: async () => undefined }),
      log,
      runtime: ledger.runtime,
    });
    const payment = await openPayment(await ledger.load(id), away.open);
    t.is(payment.access.kind, 'unavailable');
    t.is(payment.status, 'succeeded');
    t.regex(payment.receipt?.receiptNo ?? '', /^7-20261120-\w{16}$/);
  },
);

test.serial('a result in quarantine is erased by its id, with its payer, and by retention', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const { db, eventStore, personalData } = ledger;
  const id = await ledger.pay(1);
  const quarantine = createQuarantine({
    eventStore,
    seal: personalData.seal,
    fingerprint: createFingerprint('a key of the test'),
  });
  const received = [
    { TRANS_ID: 'UNKNOWN-1', BUYER_NAME: 'SOMEBODY ELSE' },
    { TRANS_ID: id, BUYER_NAME: 'SOMEBODY' },
    { TRANS_ID: 'UNKNOWN-2', BUYER_EMAIL: payer.email.toUpperCase() },
    { TRANS_ID: 'UNKNOWN-3', BUYER_ID: '900101 14 5678' },
  ];
  for (const raw of received)
    await quarantine(
      {
        at: '2026-11-20T02:00:00.000Z',
        channel: 'generic',
        verified: true,
        reason: 'unknown_transaction',
        raw,
      },
      cause(),
    );
  const [other, named, withEmail, withNumber] = (await quarantined(eventStore)).map(unmatchedIdOf);
  const ids = async () =>
    (await findByPayer('900101-14-5678', ledger)).unmatched.map((found) => found.id).toSorted();
  t.deepEqual(await ids(), [named, withNumber].toSorted());
  const byEmail = (await findByPayer(payer.email, ledger)).unmatched.map((found) => found.id);
  t.deepEqual(byEmail.toSorted(), [named, withEmail].toSorted());
  t.deepEqual((await findByPayer('Somebody', ledger)).unmatched, [], 'a name is not a person');

  const subject = unmatchedSubject(withNumber ?? '');
  t.deepEqual(await ledger.erase(ledger.asked(subject)), [subject]);
  t.deepEqual(await ledger.erase(ledger.asked(subject)), [], 'once');
  const load = async (unmatchedId = '') => {
    const loaded = await loadUnmatched(unmatchedId, eventStore);
    if (!loaded) throw new Error('There is no such result');
    const [stored] = await eventStore.load(loaded.stream, loaded.revision, 1);
    // As the event has it: also a reader who does not know of the erasure reads nothing.
    const { evidence } = quarantineFold.read(stored ?? { type: '', data: null, metadata: null }).data;
    const opened = await personalData.open(evidence, { stream: loaded.stream, field: 'evidence' });
    return { erasedAt: loaded.head.state.erasedAt, kind: opened.kind };
  };
  const resolve = async (unmatchedId = '') => {
    const resolution = { resolution: 'refunded', note: 'As the gateway says', revision: 0 } as const;
    const command = {
      type: 'ResolveUnmatchedResult',
      at: '2026-11-20T03:00:00.000Z',
      ...resolution,
    } as const;
    const execute = createExecute({ eventStore, decider: unmatchedDecider });
    await execute(resolutionStream(unmatchedId), command, cause());
  };
  const erased = { erasedAt: '2026-11-20T02:00:00.000Z', kind: 'erased' };
  await until(async () => (await load(withNumber)).kind === 'erased');
  t.deepEqual(await load(withNumber), erased);
  t.deepEqual(await load(named), { erasedAt: null, kind: 'open' });
  await until(async () => (await db('unmatched.unmatched').whereNotNull('erased_at')).length === 1);
  t.deepEqual(await ids(), [named]);

  const pass = createRetentionPass({ ...ledger, retention: { count: 7, unit: 'years' }, log });
  await pass(new AbortController().signal);
  t.is((await load(other)).kind, 'open');
  ledger.setNow(new Date(Date.now() + 8 * 365 * 86_400_000).toISOString());
  for (const each of [other, named]) await resolve(each);
  await until(async () => (await db('unmatched.unmatched').whereNotNull('resolved_at')).length === 2);
  const seen: string[] = [];
  const erase: typeof ledger.erase = async (asked, options) => {
    seen.push(...asked.map((each) => each.subject));
    return await ledger.erase(asked, options);
  };
  const later = createRetentionPass({ ...ledger, erase, retention: { count: 7, unit: 'years' }, log });
  await later(new AbortController().signal);
  await until(async () => (await db('unmatched.unmatched').whereNotNull('erased_at')).length === 3);
  for (const each of [other, named]) t.is((await load(each)).kind, 'erased');
  const open = unmatchedSubject(withEmail ?? '');
  t.false(seen.includes(open), 'it is not loaded again every minute');
  // A row may be of another log.
  t.deepEqual(await ledger.erase(ledger.asked(open), { unlessSince: ledger.runtime.now() }), []);
  t.is((await load(withEmail)).kind, 'open', 'staff have not resolved it');
});

test.serial('more erasures that fail than a page holds keep a later one waiting no longer', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(999);
  const failing = Array.from({ length: 250 }, (_, number) => ledger.asked(idOf(number + 1))).flat();
  await ledger.erasures.begin([...failing, ...ledger.asked(id)]);
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  await createRetentionPass({ ...ledger, retention: null, log })(new AbortController().signal);
  t.is((await ledger.open(id)).access.kind, 'erased');
  const left = await ledger.erasures.begunBefore(ledger.runtime.now(), { after: '', limit: 1_000 });
  t.is(left.length, 250, 'there are no such payments');
});
