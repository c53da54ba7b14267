// Scheduled requery on real stores and a real registry, in virtual time.
import test, { type ExecutionContext } from 'ava';
import { RegistryUnavailable } from '../../../src/clients/registry/answer.ts';
import { createTransactionRegistry } from '../../../src/clients/registry/registry.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { nextRequeryAt } from '../../../src/events/requery-schedule.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { createPaymentQueries } from '../../../src/projections/payments/queries.ts';
import { createRequeryPass, startScheduledRequery } from '../../../src/reactors/requery/scheduled-requery.ts';
import { until } from '../../embedded/helpers.ts';
import {
  append,
  emptyDatabase,
  foldAfresh,
  log,
  methodChosen,
  paymentRequested,
  run,
  startStore,
} from '../../projections/helpers.ts';
import { countLoads } from '../../support/count-loads.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { listOf, registryRecord, startRegistry } from '../../support/registry.ts';
import { testRuntime } from '../../support/runtime.ts';

const postgres = await createDatabase();

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

async function start(t: ExecutionContext) {
  const [database, store, registry] = await Promise.all([
    emptyDatabase(t, postgres),
    startStore(t),
    startRegistry(t),
  ]);
  const { eventStore } = store;
  const projection = run(t, payments, store, database);
  const { findPayment } = createPaymentQueries(database.db);
  const dependencies = {
    registry: createTransactionRegistry({
      runtime: testRuntime(),
      url: registry.url,
      token: 't',
      log,
      timeoutMs: 2_000,
    }),
    eventStore,
    execute: createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal }),
    db: database.db,
    log,
  };
  let nowMs = Date.parse('2026-11-20T01:03:00.000Z');
  const runtime = testRuntime({ now: () => new Date(nowMs), sleep: async () => {} });
  const newPass = () => {
    const pass = createRequeryPass({ ...dependencies, runtime });
    return () => pass(new AbortController().signal);
  };
  const projected = async (id: string) => {
    const { revision } = await foldAfresh(eventStore, id);
    await until(async () => (await findPayment(id).catch(() => null))?.revision === revision);
  };
  return {
    ...dependencies,
    database,
    projection,
    registryServer: registry,
    newPass,
    projected,
    /** A payment whose payer went to the bank at the beginning of time. */
    async atTheBank(id: string, at = '2026-11-20T01:03:00.000Z') {
      const { type, data } = methodChosen();
      await append(eventStore, id, [
        paymentRequested({ transactionId: id }),
        { type, data: { ...data, at } },
      ]);
      await projected(id);
    },
    async types(id: string) {
      return (await eventStore.load(paymentStream(id))).map(({ type }) => type);
    },
    async nextMs(id: string) {
      const { state } = await foldAfresh(eventStore, id);
      const next = state.status === 'none' ? null : nextRequeryAt(state);
      return next === null ? null : Date.parse(next);
    },
    setTime(ms: number) {
      nowMs = ms;
    },
    startedMs: nowMs,
  };
}

test.serial(
  'an abandoned payment is asked about when it is due and at no other time, for a day',
  async (t) => {
    const parts = await start(t);
    const { atTheBank, newPass, nextMs, projected, registryServer, setTime, startedMs, types } = parts;
    await atTheBank('A');
    registryServer.answer(listOf(registryRecord('A', { eps_status: '0' })));
    const pass = newPass();
    let asked = 0;
    for (let dueMs = await nextMs('A'); dueMs !== null; dueMs = await nextMs('A')) {
      setTime(dueMs - 1);
      await pass();
      t.is(registryServer.asked.length, asked, 'nothing is asked before it is due');
      setTime(dueMs);
      await pass();
      await pass();
      asked += 1;
      t.is(registryServer.asked.length, asked);
      await projected('A');
    }
    t.is(asked, 27);
    setTime(startedMs + 30 * 24 * hourMs);
    await newPass()();
    t.is(registryServer.asked.length, asked);
    t.is((await types('A')).filter((type) => type === 'RequeryAnswered').length, 27);
  },
);

test.serial('a lost success is found, once, and nothing is asked after it', async (t) => {
  const { atTheBank, newPass, projected, registryServer, setTime, startedMs, types } = await start(t);
  await atTheBank('A');
  registryServer.answer(listOf(registryRecord('A')));
  setTime(startedMs + 3 * minuteMs);
  // As if two processes took the lead for each other's.
  await Promise.all([newPass()(), newPass()()]);
  await projected('A');
  t.deepEqual(await types('A'), ['PaymentRequested', 'PaymentMethodChosen', 'PaymentSucceeded']);
  const asked = registryServer.asked.length;
  setTime(startedMs + 10 * hourMs);
  await newPass()();
  t.is(registryServer.asked.length, asked);
});

test.serial('a restart neither repeats nor forgets a question: the log says what is due', async (t) => {
  const { atTheBank, newPass, projected, registryServer, setTime, startedMs } = await start(t);
  await atTheBank('A');
  setTime(startedMs + 3 * minuteMs);
  await newPass()();
  await projected('A');
  await newPass()();
  t.is(registryServer.asked.length, 1);
  // Down for half a day: one question, not one for each hour missed.
  setTime(startedMs + 12.5 * hourMs);
  await newPass()();
  await projected('A');
  await newPass()();
  t.is(registryServer.asked.length, 2);
});

test.serial('a halted projection does not cause a question to be asked twice', async (t) => {
  const { atTheBank, newPass, projection, registryServer, setTime, startedMs, types } = await start(t);
  await atTheBank('A');
  await projection.stop();
  setTime(startedMs + 3 * minuteMs);
  for (const pass of [newPass(), newPass(), newPass()]) await pass();
  t.is(registryServer.asked.length, 1);
  t.deepEqual((await types('A')).slice(2), ['RequeryAnswered']);
});

test.serial('payments with unreadable answers hold up no others, and are asked about again', async (t) => {
  const { atTheBank, database, newPass, nextMs, projected, registryServer, setTime, startedMs, types } =
    await start(t);
  const bad = Array.from('ABCDEFGH');
  for (const id of [...bad, 'Y', 'Z']) await atTheBank(id);
  registryServer.answer((request, response) => {
    const id = request.url?.at(-1) ?? '';
    if (id === 'A') response.writeHead(400).end();
    else if (id === 'B') response.end('<h1>no JSON</h1>');
    else if (bad.includes(id)) listOf(registryRecord(id, { eps_status: '7' }))(request, response);
    else listOf(registryRecord(id))(request, response);
  });
  // The bad ones have been due for longest.
  await database.db.raw(
    `update payments.payments set requery_at = requery_at - interval '1 minute' where transaction_id = any(?)`,
    [bad],
  );
  setTime(startedMs + 3 * minuteMs);
  await newPass()();
  t.is(registryServer.asked.length, 10);
  for (const id of ['Y', 'Z']) {
    await projected(id);
    t.is((await types(id)).at(-1), 'PaymentSucceeded');
  }
  for (const id of bad) t.deepEqual((await types(id)).slice(2), [], 'no answer leaves no event');
  await newPass()();
  t.is(registryServer.asked.length, 10, 'they are put off for a process that starts anew, too');
  setTime(startedMs + 6 * minuteMs);
  await newPass()();
  t.is(registryServer.asked.length, 18);
  // After the last of their times they are put off by as long as they have been open.
  setTime(startedMs + 30 * hourMs);
  await newPass()();
  setTime(startedMs + 60 * hourMs - 1);
  await newPass()();
  t.is(registryServer.asked.length, 26);
  registryServer.answer((request, response) =>
    listOf(registryRecord(request.url?.at(-1) ?? ''))(request, response),
  );
  setTime(startedMs + 60 * hourMs);
  await newPass()();
  for (const id of bad) t.is((await types(id)).at(-1), 'PaymentSucceeded');
  t.is(await nextMs('A'), null);
});

test.serial(
  'an outage ends the pass and leaves no event; the next one begins with another payment',
  async (t) => {
    const { atTheBank, newPass, registryServer, setTime, startedMs, types } = await start(t);
    for (const id of ['A', 'B', 'C']) await atTheBank(id);
    registryServer.answer((request, response) => {
      if (request.url?.endsWith('=C')) listOf(registryRecord('C'))(request, response);
      else response.destroy();
    });
    setTime(startedMs + 3 * minuteMs);
    for (const _ of ['A', 'B']) {
      const error = await t.throwsAsync(newPass()(), { instanceOf: RegistryUnavailable });
      t.is(error.fault, 'unreachable');
    }
    await newPass()();
    t.is((await types('C')).at(-1), 'PaymentSucceeded');
    registryServer.answer((request, response) =>
      listOf(registryRecord(request.url?.at(-1) ?? ''))(request, response),
    );
    setTime(startedMs + 6 * minuteMs);
    await newPass()();
    for (const id of ['A', 'B'])
      t.deepEqual(await types(id), ['PaymentRequested', 'PaymentMethodChosen', 'PaymentSucceeded']);
  },
);

test.serial('a question loads its payment once', async (t) => {
  const parts = await start(t);
  await parts.atTheBank('A');
  parts.registryServer.answer(listOf(registryRecord('A')));
  const { eventStore, loadsOf } = countLoads(parts.eventStore);
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const runtime = testRuntime({ now: () => new Date(parts.startedMs + 3 * minuteMs) });
  const pass = createRequeryPass({ ...parts, eventStore, execute, runtime });
  await pass(new AbortController().signal);
  t.is(loadsOf(paymentStream('A')), 1);
  t.is((await parts.types('A')).at(-1), 'PaymentSucceeded');
});

test.serial('it runs by itself, with one leader, and stops at once', async (t) => {
  const parts = await start(t);
  await parts.atTheBank('A', new Date(Date.now() - hourMs).toISOString());
  parts.registryServer.answer(listOf(registryRecord('A')));
  const running = [1, 2].map(() =>
    startScheduledRequery({ ...parts, databaseUrl: parts.database.url, runtime: testRuntime() }),
  );
  await until(async () => (await parts.types('A')).includes('PaymentSucceeded'));
  await Promise.all(running.map((one) => one.stop()));
  t.is(parts.registryServer.asked.length, 1);
});
