// Erasing personal data: nothing opens them any more, and everything else about a payment stays.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPersonalData } from '@ledger/personal-data/personal-data.ts';
import { holding, holdsNothing, sealedValuesOf } from '@ledger/personal-data/sealed.ts';
import test, { type ExecutionContext } from 'ava';
import { headOf } from '../../src/commands/execute.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { genesisHash, hashOf } from '../../src/events/envelope.ts';
import { openPayment } from '../../src/events/open-payment.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { createErase } from '../../src/personal-data/erase.ts';
import { details } from '../../src/projections/details/projection.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { createEraser } from '../../src/roles/eraser.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import {
  payer,
  plain,
  record,
  type request,
  requested,
  requestPayment,
  result,
} from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { cause, idOf, startErasing } from './erasing.ts';

const postgres = await createDatabase();
const start = (t: ExecutionContext) => startErasing(t, postgres);

/** Erasing on real stores: what becomes unreadable, what stays, and what happens when it is interrupted. */
import { randomUUID } from 'node:crypto';

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
    const stream = paymentStream(id);
    const sealed = (await ledger.eventStore.load(stream)).flatMap(({ data }) => sealedValuesOf(data));
    t.true(sealed.length > 2);
    for (const { field, value } of sealed)
      await until(async () => (await ledger.personalData.open(value, { stream, field })).kind === 'erased');
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

test('whatever events hold, sealed or in plain text, is held until it is erased', (t) => {
  const events = [
    { personal: { plain: 'Aminah' } },
    ...['a.1', 'a.2', 'a.1'].map((key) => ({ evidence: { key } })),
  ];
  t.deepEqual(events.reduce(holding, holdsNothing), { keys: ['a.1', 'a.2'], plain: true, erasedAt: null });
});

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
  const [id, other] = [await ledger.pay(1), await ledger.pay(2)];
  let late = 0;
  const eraseWith = (most: number) =>
    createErase({
      ...ledger.parts,
      eventStore: {
        ...ledger.eventStore,
        async append(stream, ...args) {
          if (late < most) {
            late += 1;
            const reported = result(1, 'succeeded', { gatewayTransactionId: `LATE-${late}` });
            await ledger.execute(stream, record(reported), cause());
          }
          return await ledger.eventStore.append(stream, ...args);
        },
      },
    });
  t.deepEqual(await eraseWith(2)(ledger.asked(id)), [id]);
  const payment = await ledger.open(id);
  t.is(payment.results.length, 3);
  t.deepEqual(new Set(payment.results.map(({ buyerName }) => buyerName)), new Set(['']));
  t.deepEqual(payment.personalData.keys, []);
  // Nothing opens, whatever the last event says of it.
  const { state } = headOf((await ledger.eventStore.load(paymentStream(id))).slice(0, -1), paymentDecider);
  await until(async () => {
    if (state.status === 'none') return false;
    const { results } = await openPayment(state, ledger.personalData.open);
    return results.every(({ buyerName }) => buyerName === '');
  });
  await t.throwsAsync(eraseWith(Infinity)(ledger.asked(other)), { message: /were added/ });
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
      { config: { mail: { smtpUrl: null }, dataDir, databaseUrl: url }, eventStore, personalData, runtime },
      db,
    );
    await mkdir(outbox);
    const others = [`${idOf(2)}-notice-1.eml`, 'staff-1-a.eml'];
    const its = ['email.eml', 'notice-1.eml', 'notice-2.eml'].map((name) => `${idOf(1)}-${name}`);
    for (const name of [...others, ...its, `.${idOf(1)}-email-${randomUUID()}`])
      await writeFile(join(outbox, name), 'To: aminah@example.my');
    await db.raw('create table checkpoints (name text primary key, updated_at timestamptz not null)');
    await db.raw('create schema details_rebuild');
    t.deepEqual(await eraser.erase(asked(idOf(1))), [idOf(1)]);
    t.deepEqual((await readdir(outbox)).toSorted(), others.toSorted());
    const { rows } = await db.raw(`select to_regnamespace('details_rebuild') as left`);
    t.deepEqual(rows, [{ left: null }], 'and whatever a rebuild has left');
  },
);

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
