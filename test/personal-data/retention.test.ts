// What erases by itself: after RETENTION, and after an erasure that was interrupted.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test, { type ExecutionContext } from 'ava';
import { UnreadableEvent } from '../../src/events/codec.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { createErase, type Erase } from '../../src/personal-data/erase.ts';
import { createRetentionPass } from '../../src/personal-data/retention.ts';
import { findHolding } from '../../src/projections/payments/queries.ts';
import { createEraser } from '../../src/roles/eraser.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { record, result } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { cause, idOf, startErasing } from './erasing.ts';

const postgres = await createDatabase();
const start = (t: ExecutionContext) => startErasing(t, postgres);

test.serial('personal data that arrive after an erasure are erased by the next pass', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const [id, other] = [await ledger.pay(1), await ledger.pay(2)];
  await ledger.erase(ledger.asked(id));
  const reported = result(1, 'succeeded', { gatewayTransactionId: 'P9', buyerName: 'BADRUL' });
  await ledger.execute(paymentStream(id), record(reported), cause());
  await ledger.caughtUp();
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  const dropped: Date[] = [];
  const dropLeftovers = async (unlessSince: Date) => dropped.push(unlessSince);
  const pass = createRetentionPass({ ...ledger, dropLeftovers, retention: null, log });
  await pass(new AbortController().signal);
  t.deepEqual(dropped, [new Date(ledger.runtime.now().getTime() - 3_600_000)]);
  t.is((await ledger.open(id)).results.at(-1)?.buyerName, '');
  t.deepEqual((await ledger.load(id)).personalData.keys, []);
  t.is((await ledger.open(other)).access.kind, 'open');
  await ledger.caughtUp();
  const holding = { before: ledger.runtime.now(), again: false, after: '', limit: 10 };
  t.deepEqual(await findHolding(ledger.db, holding), [other], 'nothing else is loaded again every minute');
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

test.serial('a pass ends when the event store goes away, and when it has to stop', async (t) => {
  const ledger = await start(t);
  await ledger.erasures.begin([1, 2, 3].flatMap((number) => ledger.asked(idOf(number))));
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  for (const [error, isStopping] of [
    [new EventStoreUnavailable('it is away'), false],
    [new Error('of a newer program'), true],
  ] as const) {
    const stopping = new AbortController();
    const tried: number[] = [];
    const erase: Erase = async (asked) => {
      tried.push(asked.length);
      if (isStopping) stopping.abort();
      throw error;
    };
    const pass = createRetentionPass({ ...ledger, erase, retention: null, log });
    await t.throwsAsync(pass(stopping.signal));
    t.deepEqual(tried, isStopping ? [3] : [3, 1], 'all at once, then each by itself');
  }
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
  await ledger.erasures.begin([{ subject: id, reason: 'retention', actor: 'reactor:retention' }]);
  // Whatever has happened meanwhile.
  const load: typeof ledger.eventStore.load = async (...args) =>
    (await ledger.eventStore.load(...args)).map((event) => ({ ...event, created: ledger.runtime.now() }));
  const erase = createErase({ ...ledger.parts, eventStore: { ...ledger.eventStore, load } });
  const pass = createRetentionPass({ ...ledger, erase, retention: null, log });
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

test.serial('an email that was being written during an erasure is removed by the next pass', async (t) => {
  const ledger = await start(t);
  const id = await ledger.pay(1);
  const dataDir = await temporaryFolder(t);
  const config = { databaseUrl: ledger.url, dataDir, mail: { smtpUrl: null } };
  const { erase } = createEraser({ ...ledger, config }, ledger.db);
  t.deepEqual(await erase(ledger.asked(id)), [id]);
  // The first of all.
  const outbox = join(dataDir, 'outbox');
  await mkdir(outbox);
  await writeFile(join(outbox, `${id}-email.eml`), 'To: payer@example.com');
  const pass = createRetentionPass({ ...ledger, erase, retention: null, log });
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  await pass(new AbortController().signal);
  t.deepEqual(await readdir(outbox), []);
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
  const unclean = createErase({ ...ledger.parts, onErased: async () => false });
  t.deepEqual(await unclean(ledger.asked(id)), [], 'some copies are left');
  const pass = createRetentionPass({ ...ledger, retention: null, log });
  ledger.setNow(new Date().toISOString());
  await pass(new AbortController().signal);
  t.deepEqual(ledger.copies, [], 'what has just begun may be under way');
  ledger.setNow(new Date(Date.now() + 120_000).toISOString());
  await pass(new AbortController().signal);
  t.deepEqual(ledger.copies, [id]);
  t.is((await ledger.typesOf(id)).filter((type) => type === 'PersonalDataErased').length, 1);
  t.deepEqual(
    await ledger.erasures.begunBefore(new Date(Date.now() + 3_600_000), { after: '', limit: 10 }),
    [],
  );
});

test.serial('retention erases what has been quiet for long enough, and nothing else', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const [old, busy] = [await ledger.pay(1), await ledger.pay(2)];
  await ledger.caughtUp();
  const pageAfter = (after: string) =>
    findHolding(ledger.db, { before: new Date(Date.now() + 60_000), again: false, after, limit: 1 });
  t.deepEqual([await pageAfter(''), await pageAfter(old), await pageAfter(busy)], [[old], [busy], []]);
  const pass = createRetentionPass({ ...ledger, retention: { count: 7, unit: 'years' }, log });
  const { signal } = new AbortController();
  await pass(signal);
  t.is((await ledger.open(old)).access.kind, 'open');
  const yearsMs = 8 * 365 * 86_400_000;
  ledger.setNow(new Date(Date.now() + yearsMs).toISOString());
  const retention = { count: 7, unit: 'years' } as const;
  await createRetentionPass({ ...ledger, differenceMs: () => -yearsMs, retention, log })(signal);
  t.is((await ledger.open(old)).access.kind, 'open', 'PostgreSQL’s clock alone has jumped');
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
  await createRetentionPass({ ...ledger, erase, differenceMs: () => yearsMs, retention, log })(signal);
  t.is((await ledger.open(old)).access.kind, 'erased');
  t.is((await ledger.open(busy)).access.kind, 'open');
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

test.serial('what an event store whose clock is years behind has stored is not old', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const id = await ledger.pay(1);
  await ledger.caughtUp();
  const years = { count: 7, unit: 'years' } as const;
  const longAgo = new Date('2015-01-01T00:00:00Z');
  await ledger.db.raw('update payments.payments set updated_at = ?', [longAgo]);
  const erase = createErase({
    ...ledger.parts,
    eventStore: {
      ...ledger.eventStore,
      load: async (stream) =>
        (await ledger.eventStore.load(stream)).map((event) => ({ ...event, created: longAgo })),
    },
  });
  await createRetentionPass({ ...ledger, erase, retention: years, log })(new AbortController().signal);
  t.is((await ledger.open(id)).access.kind, 'open');
});
