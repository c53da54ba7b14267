// The background check: silent while all agrees, and what was changed behind its back is named until it is mended.
import { randomUUID } from 'node:crypto';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test, { type ExecutionContext } from 'ava';
import { type CheckResult, check } from '../../../src/audit/background-check/check.ts';
import {
  forgedRows,
  forgetForgedRows,
  reportForgedRow,
} from '../../../src/audit/background-check/forged-rows.ts';
import {
  lastCheck,
  recordVerified,
  startDailyVerify,
  startHourlyCheck,
} from '../../../src/audit/background-check/schedule.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { sqlOf } from '../../../src/common/sql.ts';
import { ownCause } from '../../../src/events/envelope.ts';
import { type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import { createErase } from '../../../src/personal-data/erase.ts';
import { journal } from '../../../src/projections/journal/projection.ts';
import { accountSums } from '../../../src/projections/journal/queries.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { unmatched } from '../../../src/projections/unmatched/projection.ts';
import { importSettlement } from '../../../src/reconciliation/settle.ts';
import { until } from '../../embedded/helpers.ts';
import { append, caughtUp, log, reached, run, statusOf } from '../../projections/helpers.ts';
import { idOf, pieces, startLedger } from '../../reconciliation/helpers.ts';
import { electionOn } from '../../support/leader-election.ts';
import {
  chosen,
  contradicted,
  duplicated,
  mismatched,
  requestPayment,
  result,
  sen,
  succeeded,
} from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';

const postgres = await createDatabase();
const at = '2026-11-20T03:00:00.000Z';
const success = (no: number) =>
  succeeded(result(1, 'succeeded', { gatewayTransactionId: `G${no}`, paidAt: at }), {
    at,
    receiptNo: `R-${no}`,
  });
const clock = { time: new Date('2026-11-21T04:00:00.000Z') };
const runtime = testRuntime({ now: () => clock.time, sleep: async () => {} });
const { signal } = new AbortController();

async function start(t: ExecutionContext) {
  const ledger = await startLedger(t, postgres);
  const { database, store } = ledger;
  for (const projection of [journal, unmatched]) run(t, projection, store, database);
  await database.db.raw('drop table if exists last_check, last_verify');
  const again = result(1, 'succeeded', { gatewayTransactionId: 'D', amountSen: sen(700) });
  const pay = async (no: number) => {
    const last = no === 2 ? [duplicated(again, 'G2')] : [];
    const position = await ledger.pay(idOf(no), [chosen(1), success(no), ...last]);
    for (const name of ['payments', 'journal']) await reached(database.db, name, position);
  };
  for (const no of [1, 2, 3]) await pay(no);
  for (const name of [unmatched.name, 'reconciliation']) await until(() => statusOf(database.db, name));
  const dependencies = { eventStore: store.eventStore, db: database.db, personalData, runtime };
  return { database, dependencies, ledger, db: database.db, url: database.url, pay };
}

/** As if the last check had been before everything. */
const fromStart: CheckResult = { at: '', checked: [], violations: [], until: null, streams: [], days: [] };

const countOf = ({ checked }: CheckResult, what: RegExp) =>
  checked.find((each) => what.test(each.what))?.count;

test.serial('a row whose MAC was wrong when it was read is compared with its stream', async (t) => {
  const { db, dependencies } = await start(t);
  const agreed = await check(dependencies, { last: null, signal });
  await db.raw(sqlOf('audit-tables'));
  await db('payments.payments').where('transaction_id', idOf(3)).update({ mac: 'none' });
  t.deepEqual(
    (await check(dependencies, { last: agreed, signal })).violations,
    [],
    'nothing has happened in its stream',
  );
  await reportForgedRow(paymentStream(idOf(3)), { db, log });
  await reportForgedRow(paymentStream(idOf(3)), { db, log });
  const suspected = await forgedRows(db);
  t.deepEqual(suspected, [paymentStream(idOf(3))]);
  const { violations } = await check(dependencies, { last: agreed, signal, suspected });
  t.like(violations[0], { kind: 'rows of payments.payments', count: 1 });
  await forgetForgedRows(db, suspected);
  t.deepEqual(await forgedRows(db), []);
});

test.serial('all agrees; the next check compares what has come since', async (t) => {
  const { dependencies, pay } = await start(t);
  const first = await check(dependencies, { last: null, signal });
  t.deepEqual(first.violations, []);
  t.is(countOf(first, /^rows of payments/), 3, 'the payment with the open exception, and its payer');
  await pay(4);
  const second = await check(dependencies, { last: first, signal });
  t.deepEqual(second.violations, []);
  t.is(countOf(second, /^rows of payments/), 2 + 3, 'and the new payment with its payer');
  t.is(countOf(second, /^rows of journal/), 1 + 2 + 1 + 4);
  t.deepEqual((await check(dependencies, { last: fromStart, signal })).violations, []);
  // An hourly check leaves the rest to the next one; for `verify --since` there is none.
  const ofFirst = async (most: number) =>
    countOf(await check(dependencies, { last: fromStart, signal, most }), /^rows of payments/);
  t.deepEqual([await ofFirst(1), await ofFirst(Number.POSITIVE_INFINITY)], [5, 9]);
});

test.serial(
  'an older copy of the log, which ends before the last check, is compared from its start',
  async (t) => {
    const { dependencies } = await start(t);
    const beyond = { commit: '999999999', prepare: '999999999' };
    const found = await check(dependencies, { last: { ...fromStart, until: beyond }, signal });
    t.is(
      countOf(found, /^rows of journal/),
      countOf(await check(dependencies, { last: fromStart, signal }), /^rows of journal/),
    );
    t.not(found.until?.commit, beyond.commit);
  },
);

const tampered: readonly [name: string, sql: string, undo: string, expected: RegExp][] = [
  [
    'a row that was changed',
    `update payments.payments set status = 'failed' where transaction_id = '${idOf(1)}'`,
    `update payments.payments set status = 'succeeded' where transaction_id = '${idOf(1)}'`,
    /^The row 0+1 is not what the events lead to \(status\): 1$/m,
  ],
  [
    'an exception that is closed here and open in the log',
    `update payments.exceptions set resolved_at = at`,
    `update payments.exceptions set resolved_at = null`,
    /^The row 0+2 payment 2 is not what the events lead to \(resolved_at\): 1$/m,
  ],
  [
    'a posting of another amount',
    `update journal.postings set credit_sen = 1 where transaction_id = '${idOf(3)}' and line = 2`,
    `update journal.postings set credit_sen = 12050 where transaction_id = '${idOf(3)}' and line = 2`,
    /^The row 0+3 2 2 is not what the events lead to \(credit_sen\): 1$/m,
  ],
  [
    'sums that are not those of the postings',
    `update journal.daily_sums set credit_sen = credit_sen + 1 where account = 'merchant:council'`,
    `update journal.daily_sums set credit_sen = credit_sen - 1 where account = 'merchant:council'`,
    // These, and that all debits and all credits differ.
    /^The sums of merchant:council on 2026-11-20 are not those of its postings: 2$/m,
  ],
];

const textsOf = ({ violations }: CheckResult) => violations.map(({ count, first }) => `${first}: ${count}`);

test.serial('what was changed is named, also by the checks after it, until it is mended', async (t) => {
  const { dependencies, db } = await start(t);
  for (const [name, sql, undo, expected] of tampered) {
    await db.raw(sql);
    const found = await check(dependencies, { last: fromStart, signal });
    const texts = textsOf(found);
    t.regex(texts.join('\n'), expected, name);
    const before = clock.time;
    clock.time = new Date(before.getTime() + 24 * 60 * 60_000);
    const next = await check(dependencies, { last: found, signal });
    clock.time = before;
    t.deepEqual(textsOf(next), texts, name);
    await db.raw(undo);
    t.deepEqual((await check(dependencies, { last: next, signal })).violations, [], name);
  }
});

test.serial('rows of a payment that is being erased while they are compared', async (t) => {
  const { database, dependencies, db } = await start(t);
  const { eventStore } = dependencies;
  const { seal, store } = personalData;
  const id = idOf(9);
  const execute = createExecute({ eventStore, decider: paymentDecider, seal });
  await execute(paymentStream(id), requestPayment({ transactionId: id }), ownCause(randomUUID(), 'payer'), {
    creates: true,
  });
  await caughtUp([payments], { eventStore }, database);
  const append = Promise.withResolvers<void>();
  const destroyed = Promise.withResolvers<void>();
  const slowly: typeof eventStore.append = async (...given) => {
    destroyed.resolve();
    await append.promise;
    return await eventStore.append(...given);
  };
  const erase = createErase({
    store,
    eventStore: { ...eventStore, append: slowly },
    onErased: async () => true,
    runtime,
  });
  const erased = erase([{ subject: id, reason: 'requested', actor: 'staff:test' }]);
  await destroyed.promise;
  const sleep = async (ms: number) => {
    if (ms < 60_000) return;
    append.resolve();
    t.deepEqual(await erased, [id]);
    await caughtUp([payments], { eventStore }, database);
  };
  const found = await check({ ...dependencies, runtime: { ...runtime, sleep } }, { last: fromStart, signal });
  t.deepEqual(await db('payments.payers').where({ transaction_id: id }), [], 'it was looked at twice');
  t.deepEqual(found.violations, []);
  t.deepEqual(found.streams, []);
});

test.serial('a stream whose row is gone', async (t) => {
  const { dependencies, db } = await start(t);
  await db.raw(`update payments.payments set transaction_id = 'X' where transaction_id = ?`, [idOf(1)]);
  const { streams, violations } = await check(dependencies, { last: fromStart, signal });
  t.deepEqual(violations, [
    { kind: 'rows of payments.payments', count: 1, first: `The row ${idOf(1)} is missing` },
  ]);
  t.deepEqual(streams, [paymentStream(idOf(1))]);
});

test.serial(
  'a stream that cannot be folded is named, and the others are compared all the same',
  async (t) => {
    const { dependencies, db } = await start(t);
    const unreadable: typeof dependencies.eventStore.load = async (name, ...more) =>
      (await dependencies.eventStore.load(name, ...more)).map((event) =>
        name === paymentStream(idOf(2)) && event.revision > 0 ? { ...event, type: 'Unheard' } : event,
      );
    await db.raw(`update payments.payments set status = 'failed' where transaction_id = ?`, [idOf(1)]);
    const eventStore = { ...dependencies.eventStore, load: unreadable };
    const { streams, violations } = await check({ ...dependencies, eventStore }, { last: fromStart, signal });
    t.deepEqual(streams.toSorted(), [paymentStream(idOf(1)), paymentStream(idOf(2))]);
    t.deepEqual(violations.map(({ kind }) => kind).toSorted(), [
      'rows of journal',
      'rows of payments',
      'rows of payments.payments',
    ]);
    t.true(violations.some(({ first }) => first.startsWith(`${paymentStream(idOf(2))} cannot be folded: `)));
  },
);

test.serial('rows of a parked stream agree with its events up to where it is parked', async (t) => {
  const { db, dependencies } = await start(t);
  const { eventStore } = dependencies;
  const { length } = await eventStore.load(paymentStream(idOf(1)));
  await append(eventStore, idOf(1), [{ type: 'Unheard', data: {} }], length - 1);
  for (const { name } of [payments, journal])
    await until(async () => (await statusOf(db, name))?.parked.length === 1);
  const { streams, violations } = await check(dependencies, { last: fromStart, signal });
  t.deepEqual({ streams, violations }, { streams: [], violations: [] });
});

test.serial('an event that the rows have not come to is left to a later check', async (t) => {
  const { dependencies } = await start(t);
  const { eventStore } = dependencies;
  const position = { commit: 2n ** 60n, prepare: 2n ** 60n };
  const load: typeof eventStore.load = async (...asked) => {
    const events = await eventStore.load(...asked);
    const last = events.at(-1);
    return last ? [...events, { ...last, ...chosen(2), revision: last.revision + 1, position }] : events;
  };
  const ahead = { ...dependencies, eventStore: { ...eventStore, load } };
  const { streams, violations } = await check(ahead, { last: fromStart, signal });
  t.deepEqual({ streams, violations }, { streams: [], violations: [] });
});

test.serial('credits, refunds, reversals and settlements agree', async (t) => {
  const { database, dependencies, ledger } = await start(t);
  const adjusted = { at, by: 'staff:A', postingRule: 3 as const, merchantCode: 'council', deliveries: [] };
  const received = (no: number, amount: number, name: string) =>
    result(no, 'succeeded', { gatewayTransactionId: name, amountSen: sen(amount) });
  const credited = (effect: 'paid' | 'partlyPaid', amount: number, receiptNo: string): PaymentEvent => ({
    type: 'AmountMismatchCredited',
    data: {
      ...adjusted,
      resultNo: 1,
      note: '',
      amountSen: sen(amount),
      effect,
      paidSen: sen(amount),
      paidAt: at,
      receiptNo,
    },
  });
  const returned = { ...adjusted, chargeNo: 1, feeSen: sen(0), mode: 'fpx' } as const;
  const refunded = (amount: number): PaymentEvent => ({
    type: 'PaymentRefunded',
    data: { ...returned, amountSen: sen(amount), gatewayReference: `R${amount}`, reason: '' },
  });
  await ledger.pay(idOf(11), [
    chosen(1),
    mismatched(received(1, 13_000, 'W1')),
    credited('paid', 13_000, 'R-11'),
    refunded(700),
  ]);
  await ledger.pay(idOf(12), [
    chosen(1),
    mismatched(received(1, 2_050, 'W2')),
    credited('partlyPaid', 2_050, ''),
    succeeded(received(2, 10_000, 'W3'), { receiptNo: 'R-12' }),
  ]);
  const last = await ledger.pay(idOf(13), [
    chosen(1),
    succeeded(received(1, 12_050, 'W4'), { receiptNo: 'R-13' }),
    contradicted(result(1, 'failed', { gatewayTransactionId: 'W4' }), 'succeeded'),
    { type: 'PaymentReversed', data: { ...returned, amountSen: sen(12_050), resultNo: 2, note: '' } },
  ]);
  for (const name of ['payments', 'journal']) await reached(database.db, name, last);
  const csv = `REFERENCE,SETTLED_ON,TOTAL,TRANS_ID,PAYMENT_MODE,AMOUNT\nPO-1,2026-11-20,120.50,${idOf(1)},,120.50`;
  const commandId = randomUUID();
  await importSettlement(dependencies, {
    file: pieces(Buffer.from(csv)),
    isConfirmed: false,
    cause: { commandId, correlationId: commandId, causationId: commandId, actor: 'staff:test' },
    onBadRow: () => t.fail(),
  });
  await until(async () => (await accountSums(database.db, 'bank', new Date())).debitSen > 0n);
  const found = await check(dependencies, { last: fromStart, signal });
  t.deepEqual(found.violations, []);
  // For each payment and the payout a row of the books, and their postings; the charge of the payout.
  t.is(countOf(found, /^rows of journal/), 3 + 8 + 3 + 18 + 1 + 2 + 1);
});

test.serial('one process of several checks, once an hour, and keeps the result', async (t) => {
  const { dependencies, db, url } = await start(t);
  let waiting = 0;
  const slow = testRuntime({
    now: () => clock.time,
    // A minute or more passes as soon as the clock is moved.
    async sleep(ms, stop) {
      if (ms < 60_000) return await systemRuntime.sleep(20, stop);
      const target = clock.time.getTime() + ms;
      waiting += 1;
      await until(async () => stop?.aborted || clock.time.getTime() >= target);
      waiting -= 1;
    },
  });
  const both = [1, 2].map(() =>
    startHourlyCheck({ ...dependencies, election: electionOn(url, slow), runtime: slow, log }),
  );
  t.teardown(() => Promise.all(both.map((each) => each.stop())));
  t.is(await lastCheck(db), null);
  const next = async (minutes: number) => {
    const before = (await lastCheck(db))?.at;
    // Whoever begins to wait later would wait for a later time.
    await until(async () => waiting > 0);
    clock.time = new Date(clock.time.getTime() + minutes * 60_000);
    await until(async () => (await lastCheck(db))?.at !== before);
    return await lastCheck(db);
  };
  t.is((await next(1))?.at, '2026-11-21T04:01:00.000Z');
  t.is((await next(60))?.at, '2026-11-21T05:01:00.000Z');
  t.deepEqual((await lastCheck(db))?.violations, []);
  // Whoever writes a result of the future does not stop the checks.
  await db.raw(
    `update last_check set result = jsonb_set(result::jsonb, '{at}', '"2999-01-01T00:00:00.000Z"')`,
  );
  t.is((await next(1))?.at, '2026-11-21T05:02:00.000Z');
  // A row that was found changed is compared at once, and no longer suspected when it agrees.
  await reportForgedRow(paymentStream(idOf(3)), { db, log });
  const suspecting = await next(1);
  t.is(suspecting?.at, '2026-11-21T05:03:00.000Z');
  t.is(suspecting && countOf(suspecting, /^rows of payments/), 3 + 2, 'its payment and payer, too');
  await until(async () => (await forgedRows(db)).length === 0);
});

test.serial(
  'everything is verified once a day, by one process, and again after an interruption',
  async (t) => {
    const { db, url } = await start(t);
    // 12:01 in Malaysia.
    clock.time = new Date('2026-11-21T04:01:00.000Z');
    const began: string[] = [];
    let interruptions = 1;
    const violation = { kind: 'the log', count: 1, first: 'It ends early' } as const;
    const verify = async () => {
      began.push(clock.time.toISOString());
      if (interruptions-- > 0) return;
      await recordVerified(db, clock.time, { checked: [], violations: [violation] });
    };
    let sleeps = 0;
    let triesAgain = 0;
    const quick = testRuntime({
      now: () => clock.time,
      async sleep(ms, stop) {
        sleeps += ms === 60_000 ? 1 : 0;
        triesAgain += ms === 600_000 ? 1 : 0;
        await systemRuntime.sleep(Math.min(ms, 5), stop);
      },
    });
    const dependencies = { db, log, runtime: quick, at: '12:30', verify };
    const both = [1, 2].map(() => startDailyVerify({ ...dependencies, election: electionOn(url, quick) }));
    t.teardown(() => Promise.all(both.map((each) => each.stop())));
    const lookedAgain = async () => {
      const before = sleeps;
      await until(async () => sleeps > before + 4);
    };
    await lookedAgain();
    t.deepEqual(began, [], 'yesterday it did not run yet');
    clock.time = new Date('2026-11-21T04:30:00.000Z');
    await until(async () => (await lastCheck(db, 'verify')) !== null);
    await lookedAgain();
    t.deepEqual(began, ['2026-11-21T04:30:00.000Z', '2026-11-21T04:30:00.000Z']);
    t.deepEqual((await lastCheck(db, 'verify'))?.violations, [violation]);
    t.is(await lastCheck(db), null);
    clock.time = new Date('2026-11-22T04:29:00.000Z');
    await lookedAgain();
    t.is(began.length, 2);
    interruptions = 1;
    clock.time = new Date('2026-11-22T05:00:00.000Z');
    await until(async () => began.length === 4);
    await until(async () => (await lastCheck(db, 'verify'))?.at === '2026-11-22T05:00:00.000Z');
    await recordVerified(db, new Date('2999-01-01T00:00:00.000Z'), { checked: [], violations: [] });
    t.is(triesAgain, 2, 'ten minutes after each interruption');
    clock.time = new Date('2026-11-23T05:00:00.000Z');
    await until(async () => began.length === 5);
    clock.time = new Date('2026-11-21T04:00:00.000Z');
  },
);

test.serial('a process that cannot reach the log lets another check after an hour', async (t) => {
  const { dependencies, db, url } = await start(t);
  const hour = new AbortController();
  const asked = Promise.withResolvers<void>();
  let looks = 0;
  const stuck = testRuntime({
    now: () => clock.time,
    timeout: (ms) => (ms === 60 * 60_000 ? hour.signal : systemRuntime.timeout(ms)),
    // It looks once; then the others may.
    sleep: (ms, stop) => systemRuntime.sleep(ms === 60_000 && looks++ > 0 ? 2 ** 30 : Math.min(ms, 20), stop),
  });
  const unreachable = {
    ...dependencies.eventStore,
    async firstAfter() {
      asked.resolve();
      throw new EventStoreUnavailable('It does not answer');
    },
  };
  const begin = (given: Partial<typeof dependencies>) => {
    const election = electionOn(url, given.runtime);
    const check = startHourlyCheck({ ...dependencies, ...given, election, log });
    t.teardown(check.stop);
  };
  begin({ eventStore: unreachable, runtime: stuck });
  await asked.promise;
  const quick = (ms: number, stop?: AbortSignal) => systemRuntime.sleep(Math.min(ms, 20), stop);
  begin({ runtime: testRuntime({ now: () => clock.time, sleep: quick }) });
  await systemRuntime.sleep(300);
  t.is(await lastCheck(db), null, 'the first has the lock');
  hour.abort();
  await until(async () => (await lastCheck(db)) !== null);
  t.deepEqual((await lastCheck(db))?.violations, []);
});

test.serial('nothing is compared while a read model is behind', async (t) => {
  const { database, store, pay } = await startLedger(t, postgres);
  const { db, url } = database;
  await db.raw('drop table if exists last_check');
  const books = run(t, journal, store, database);
  run(t, unmatched, store, database);
  await reached(db, journal.name, await pay(idOf(1), [chosen(1), success(1)]));
  await books.stop();
  await reached(db, 'payments', await pay(idOf(2), [chosen(1), success(2)]));
  const { eventStore } = store;
  const quick = testRuntime({ sleep: (ms, stop) => systemRuntime.sleep(Math.min(ms, 20), stop) });
  const hourly = startHourlyCheck({
    eventStore,
    db,
    election: electionOn(url, quick),
    personalData,
    runtime: quick,
    log,
  });
  t.teardown(hourly.stop);
  await systemRuntime.sleep(500);
  t.is(await lastCheck(db), null, 'the books lack a payment');
  run(t, journal, store, database);
  await until(async () => (await lastCheck(db)) !== null);
  t.deepEqual((await lastCheck(db))?.violations, []);
});
