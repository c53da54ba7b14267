// Scheduled requery on real stores and a real registry, in virtual time.
import type { RequestListener } from 'node:http';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test, { type ExecutionContext } from 'ava';
import { createTransactionRegistry } from '../../../src/clients/transaction-registry/registry.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { createRecordAnswer } from '../../../src/commands/record-answer.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { createRequeries, startScheduledRequery } from '../../../src/reactors/requery/scheduled-requery.ts';
import { requeryList } from '../../../src/to-do/requery-list.ts';
import { createAnswerCounts, createRequeryQueue } from '../../../src/to-do/requery-queue.ts';
import {
  append,
  caughtUp,
  emptyDatabase,
  log,
  methodChosen,
  paymentRequested,
  reached,
  run,
  startStore,
} from '../../projections/helpers.ts';
import { countLoads } from '../../support/count-loads.ts';
import { result, succeeded } from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { listOf, registryRecord, startRegistry } from '../../support/registry.ts';
import { testRuntime } from '../../support/runtime.ts';

const postgres = await createDatabase();

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const startedAt = '2026-11-20T01:03:00.000Z';
const startedMs = Date.parse(startedAt);

async function start(t: ExecutionContext) {
  const [database, store, registry] = await Promise.all([
    emptyDatabase(postgres),
    startStore(t),
    startRegistry(t),
  ]);
  const { eventStore } = store;
  const { db } = database;
  const projection = run(t, requeryList, store, database);
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const dependencies = {
    registry: createTransactionRegistry({
      runtime: testRuntime(),
      config: { url: registry.url, token: 't' },
      log,
      timeoutMs: 30_000,
    }),
    eventStore,
    recordAnswer: createRecordAnswer({ counts: createAnswerCounts(db), execute }),
    queue: createRequeryQueue(db),
    perSecond: 1_000,
    log,
  };
  let nowMs = startedMs;
  const runtime = testRuntime({ now: () => new Date(nowMs), monotonicMs: () => nowMs });
  const row = async (id: string) =>
    await db(`${requeryList.name}.requeries`).where('transaction_id', id).first();
  return {
    ...dependencies,
    runtime,
    database,
    projection,
    registryServer: registry,
    row,
    /**
     * A process of its own. Its passes resolve when nothing is left to ask at that moment, to how many payments were
     * claimed at a time.
     */
    newPass(changes: Partial<Parameters<typeof createRequeries>[0]> = {}) {
      const asking = createRequeries({ ...dependencies, runtime, ...changes });
      return async () => {
        const counts: number[] = [];
        for (let count = await asking.begin(); count > 0; count = await asking.begin()) {
          counts.push(count);
          await asking.settled();
        }
        return counts;
      };
    },
    /** Waits until the list has all that has been recorded. */
    listed: () => caughtUp([requeryList], store, database),
    /** A payment whose payer went to the bank at the beginning of time. */
    async atTheBank(id: string, at = startedAt) {
      const { type, data } = methodChosen();
      const events = [paymentRequested({ transactionId: id }), { type, data: { ...data, at } }];
      await reached(db, requeryList.name, await append(eventStore, id, events));
    },
    async types(id: string) {
      return (await eventStore.load(paymentStream(id))).map(({ type }) => type).slice(2);
    },
    setTime(ms: number) {
      nowMs = ms;
    },
  };
}

test.serial(
  'an abandoned payment is asked about when it is due and at no other time, for a day; then staff have it',
  async (t) => {
    const { atTheBank, eventStore, listed, newPass, registryServer, row, setTime, types } = await start(t);
    await atTheBank('A');
    registryServer.answer(listOf(registryRecord('A', { eps_status: '0' })));
    const pass = newPass();
    let asked = 0;
    for (let { wake_at: due } = await row('A'); due !== null; due = (await row('A')).wake_at) {
      setTime(Number(due) - 1);
      await pass();
      t.is(registryServer.asked.length, asked, 'nothing is asked before it is due');
      setTime(Number(due));
      await pass();
      await pass();
      asked += 1;
      t.is(registryServer.asked.length, asked);
      await listed();
    }
    t.is(asked, 27);
    setTime(startedMs + 30 * 24 * hourMs);
    await newPass()();
    t.is(registryServer.asked.length, asked);
    t.deepEqual(await types('A'), ['RequeryAnswered', 'RequeryRepeated', 'AttemptOutcomeUnknown']);
    const repeated = (await eventStore.load(paymentStream('A')))[3];
    t.like(repeated?.data, { status: 'attempted', count: 26 });
  },
);

test.serial('a lost success is found, once, and nothing is asked after it', async (t) => {
  const { atTheBank, listed, newPass, registryServer, setTime, types } = await start(t);
  await atTheBank('A');
  registryServer.answer(listOf(registryRecord('A')));
  setTime(startedMs + 3 * minuteMs);
  await Promise.all([newPass()(), newPass()()]);
  t.deepEqual(await types('A'), ['PaymentSucceeded']);
  t.is(registryServer.asked.length, 1);
  await listed();
  setTime(startedMs + 10 * hourMs);
  await newPass()();
  t.is(registryServer.asked.length, 1);
});

test.serial('a debit of the second attempt is found although the payment has failed', async (t) => {
  const { atTheBank, eventStore, listed, newPass, recordAnswer, registryServer, setTime, types } =
    await start(t);
  await atTheBank('A');
  const failed = registryRecord('A', { eps_status: '2', gateway_id1: 'P1' });
  registryServer.answer(listOf(failed));
  setTime(startedMs + 3 * minuteMs);
  await newPass()();
  t.deepEqual(await types('A'), ['PaymentFailed']);
  const { data } = methodChosen(2);
  const second = {
    type: 'PaymentMethodChosen',
    data: { ...data, at: new Date(startedMs + 4 * minuteMs).toISOString() },
  };
  await append(eventStore, 'A', [second], 2);
  await listed();
  registryServer.answer(listOf(failed, registryRecord('A', { gateway_id1: 'P2' })));
  setTime(startedMs + 7 * minuteMs);
  await newPass({ recordAnswer })();
  t.deepEqual((await types('A')).slice(1), ['PaymentMethodChosen', 'PaymentSucceeded']);
});

test.serial('a restart neither repeats nor forgets a question, recorded or only counted', async (t) => {
  const { atTheBank, listed, newPass, registryServer, setTime } = await start(t);
  await atTheBank('A');
  for (const [hours, asked] of [
    [0.05, 1],
    [0.1, 2],
    // Down for half a day: one question, not one for each hour missed.
    [12.5, 3],
  ] as const) {
    setTime(startedMs + hours * hourMs);
    await newPass()();
    await listed();
    await newPass()();
    t.is(registryServer.asked.length, asked);
  }
});

test.serial(
  'nothing is asked twice because the list is stopped, or because a row was not given back',
  async (t) => {
    const { atTheBank, newPass, projection, queue, registryServer, setTime, types } = await start(t);
    await atTheBank('A');
    await projection.stop();
    const release = () => Promise.reject(new Error('PostgreSQL is away'));
    setTime(startedMs + 3 * minuteMs);
    await newPass({ queue: { ...queue, release } })();
    t.deepEqual(await types('A'), ['RequeryAnswered']);
    setTime(startedMs + 4.5 * minuteMs);
    for (const pass of [newPass(), newPass()]) await pass();
    t.is(registryServer.asked.length, 1);
    setTime(startedMs + 6 * minuteMs);
    await newPass()();
    t.is(registryServer.asked.length, 2, 'the second question in its time');
  },
);

test.serial('what was only counted is recorded once the payment is paid, and nothing is asked', async (t) => {
  const { atTheBank, eventStore, listed, newPass, registryServer, setTime, types } = await start(t);
  await atTheBank('A');
  for (const minutes of [3, 6]) {
    setTime(startedMs + minutes * minuteMs);
    await newPass()();
    await listed();
  }
  await append(eventStore, 'A', [succeeded(result(1, 'succeeded', { sellerOrderNo: 'S-1' }))], 2);
  await listed();
  await newPass()();
  t.is(registryServer.asked.length, 2);
  t.deepEqual(await types('A'), ['RequeryAnswered', 'PaymentSucceeded', 'RequeryRepeated']);
});

test.serial('what was only counted is recorded at the end of the schedule after a failure', async (t) => {
  const { atTheBank, eventStore, listed, newPass, registryServer, row, setTime, types } = await start(t);
  await atTheBank('A');
  registryServer.answer(listOf(registryRecord('A', { eps_status: '2', gateway_id1: 'P1' })));
  for (let { wake_at: due } = await row('A'); due !== null; due = (await row('A')).wake_at) {
    setTime(Number(due));
    await newPass()();
    await listed();
  }
  t.is(registryServer.asked.length, 4);
  t.deepEqual(await types('A'), ['PaymentFailed', 'RequeryRepeated']);
  t.like((await eventStore.load(paymentStream('A'))).at(-1)?.data, { status: 'failed', count: 3 });
});

test.serial(
  'payments with unreadable answers hold up no others; the failure is recorded, and repeated ones counted',
  async (t) => {
    const { atTheBank, eventStore, listed, newPass, registryServer, setTime, types } = await start(t);
    const bad = Array.from('ABCD');
    for (const id of bad) await atTheBank(id, '2026-11-20T01:02:00.000Z');
    for (const id of ['Y', 'Z']) await atTheBank(id);
    registryServer.answer((request, response) => {
      const id = request.url?.at(-1) ?? '';
      if (id === 'A') response.writeHead(400).end();
      else if (id === 'B') response.end('<h1>no JSON</h1>');
      else if (bad.includes(id)) listOf(registryRecord(id, { eps_status: '7' }))(request, response);
      else listOf(registryRecord(id))(request, response);
    });
    const pass = newPass();
    for (const minutes of [3, 6, 17]) {
      setTime(startedMs + minutes * minuteMs);
      await pass();
      await listed();
    }
    t.is(registryServer.asked.length, 14);
    for (const id of ['Y', 'Z']) t.deepEqual(await types(id), ['PaymentSucceeded']);
    for (const id of bad) t.deepEqual(await types(id), ['RequeryUnanswered']);
    registryServer.answer(listOf(registryRecord('A')));
    setTime(startedMs + 70 * minuteMs);
    await newPass()();
    t.deepEqual(await types('A'), ['RequeryUnanswered', 'RequeryRepeated', 'PaymentSucceeded']);
    t.like((await eventStore.load(paymentStream('A')))[3]?.data, { status: 'no_answer', count: 2 });
  },
);

for (const [title, fail] of [
  ['without a connection', (_, response) => response.destroy()],
  ['in which it refuses the token', (_, response) => response.writeHead(401).end()],
  ['in which it is overloaded', (_, response) => response.writeHead(503).end()],
] as const satisfies [string, RequestListener][])
  test.serial(
    `in an outage ${title}, one question at a time is asked, after growing pauses; then all`,
    async (t) => {
      const { atTheBank, listed, newPass, registryServer, setTime, types } = await start(t);
      const ids = Array.from('ABCDEFGH');
      for (const id of ids) await atTheBank(id);
      const pass = newPass();
      registryServer.answer(fail);
      let nowMs = startedMs + 3 * minuteMs;
      const askedAt = async (afterMs: number) => {
        nowMs += afterMs;
        setTime(nowMs);
        const before = registryServer.asked.length;
        await pass();
        await listed();
        return new Set(registryServer.asked.slice(before)).size;
      };
      t.is(await askedAt(0), 8, 'until it is known to be down');
      await atTheBank('I', new Date(startedMs + minuteMs).toISOString());
      t.is(await askedAt(15_000), 1, 'that eight failed together is one failure');
      nowMs += 6 * hourMs;
      t.is(await askedAt(0), 1);
      t.is(await askedAt(1_000), 0, 'paused');
      t.is(await askedAt(5 * minuteMs), 1);
      t.deepEqual(await types('A'), ['RequeryUnanswered']);
      registryServer.answer((request, response) =>
        listOf(registryRecord(request.url?.at(-1) ?? ''))(request, response),
      );
      setTime(nowMs + 2 * hourMs);
      t.deepEqual(await pass(), [1, 8], 'one, and all others once that one is answered');
      for (const id of [...ids, 'I']) t.is((await types(id)).at(-1), 'PaymentSucceeded');
    },
  );

test.serial(
  'an outage however long: a question every five minutes, and none beside one that is under way',
  async (t) => {
    const { atTheBank, registryServer, setTime, ...parts } = await start(t);
    const ids = Array.from('ABCDEFGHIJKL');
    for (const id of ids) await atTheBank(id);
    const hasAnswer = Promise.withResolvers<void>();
    const asking = createRequeries(parts);
    registryServer.answer((_, response) => response.writeHead(401).end());
    for (let pause = 0; pause < 10; pause += 1) {
      setTime(startedMs + hourMs + pause * 5 * minuteMs);
      t.is(await asking.begin(), pause === 0 ? ids.length : 1);
      await asking.settled();
    }
    registryServer.answer(async (_, response) => {
      await hasAnswer.promise;
      response.writeHead(401).end();
    });
    setTime(startedMs + 10 * hourMs);
    t.deepEqual([await asking.begin(), await asking.begin()], [1, 0]);
    hasAnswer.resolve();
    await asking.settled();
  },
);

test.serial(
  'several questions are asked at once, so that slow answers do not delay the others',
  async (t) => {
    const { atTheBank, newPass, registryServer, setTime, types } = await start(t);
    const ids = Array.from({ length: 40 }, (_, index) => `P${index}`);
    for (const id of ids) await atTheBank(id);
    // It answers none before all are asked.
    const all = Promise.withResolvers<void>();
    registryServer.answer(async (request, response) => {
      if (registryServer.asked.length === ids.length) all.resolve();
      await all.promise;
      const id = new URL(request.url ?? '', 'http://x').searchParams.get('merchant_trans_id') ?? '';
      listOf(registryRecord(id))(request, response);
    });
    setTime(startedMs + 3 * minuteMs);
    await newPass()();
    for (const id of ids) t.deepEqual(await types(id), ['PaymentSucceeded']);
  },
);

test.serial('a payment whose events cannot be read is put off and holds up no other', async (t) => {
  const { atTheBank, eventStore, newPass, registryServer, row, setTime, types } = await start(t);
  const load = () => Promise.reject(new EventStoreUnavailable('it is away'));
  for (const id of ['A', 'B']) await atTheBank(id);
  await append(eventStore, 'A', [{ type: 'PaymentTeleported', data: {} }], 1);
  registryServer.answer(listOf(registryRecord('B')));
  setTime(startedMs + 3 * minuteMs);
  t.deepEqual(
    await newPass({ eventStore: { load } })(),
    [2],
    'while the store is away, until the leases end',
  );
  setTime(startedMs + 4 * minuteMs);
  await newPass()();
  t.deepEqual(await types('B'), ['PaymentSucceeded']);
  t.is(Number((await row('A')).wake_at), startedMs + 64 * minuteMs);
});

test.serial('a question loads its payment once', async (t) => {
  const parts = await start(t);
  await parts.atTheBank('A');
  parts.registryServer.answer(listOf(registryRecord('A')));
  const { eventStore, loadsOf } = countLoads(parts.eventStore);
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const recordAnswer = createRecordAnswer({ counts: createAnswerCounts(parts.database.db), execute });
  parts.setTime(startedMs + 3 * minuteMs);
  await parts.newPass({ eventStore, recordAnswer })();
  t.is(loadsOf(paymentStream('A')), 1);
  t.deepEqual(await parts.types('A'), ['PaymentSucceeded']);
});

test.serial('it runs by itself in several processes, and stops', async (t) => {
  const parts = await start(t);
  await parts.atTheBank('A', new Date(Date.now() - hourMs).toISOString());
  const [isAsked, hasAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  parts.registryServer.answer(async (...asked) => {
    isAsked.resolve();
    await hasAnswer.promise;
    listOf(registryRecord('A'))(...asked);
  });
  let claims = 0;
  const claim: typeof parts.queue.claim = (...asked) => {
    claims += 1;
    return claims <= 2 ? Promise.reject(new Error('PostgreSQL is away')) : parts.queue.claim(...asked);
  };
  const queue = { ...parts.queue, claim };
  const running = [1, 2].map(() => startScheduledRequery({ ...parts, queue, runtime: testRuntime() }));
  await isAsked.promise;
  const stopped = Promise.all(running.map((one) => one.stop()));
  hasAnswer.resolve();
  await stopped;
  t.deepEqual(await parts.types('A'), ['PaymentSucceeded'], 'what was under way is recorded before the end');
  t.is(parts.registryServer.asked.length, 1);
});
