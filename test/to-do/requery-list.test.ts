// The list of payments that the registry is to be asked about, from real stores: what is due, who claims it, how fast.
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { evolve, noPayment, type PaymentEvent, paymentStream } from '../../src/events/payment.ts';
import { nextRequeryAt } from '../../src/events/requery-schedule.ts';
import { createSources } from '../../src/monitoring/metric-sources.ts';
import { requeryList } from '../../src/to-do/requery-list.ts';
import { createAnswerCounts, createRequeryQueue } from '../../src/to-do/requery-queue.ts';
import { feed } from '../projections/filled.ts';
import { append, emptyDatabase, log, reached, run, startStores } from '../projections/helpers.ts';
import { events } from '../support/arbitraries.ts';
import { applied, chosen, orderNo, requested, result, resultAt, succeeded } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';

const postgres = await createDatabase();

async function start(t: ExecutionContext) {
  const { database, store } = await startStores(t, postgres);
  run(t, requeryList, store, database);
  const { db } = database;
  return {
    db,
    queue: createRequeryQueue(db),
    counts: createAnswerCounts(db),
    /** Appends a payment's events; resolves when the list has them. */
    async payment(
      id: string,
      happened: readonly PaymentEvent[],
      expected: number | 'no_stream' = 'no_stream',
    ) {
      await reached(db, requeryList.name, await append(store.eventStore, id, happened, expected));
    },
    row: async (id: string) => await db(`${requeryList.name}.requeries`).where('transaction_id', id).first(),
  };
}

const at = (text: string) => new Date(`2026-11-20T${text}Z`);
const claimAt = (now: Date, over: object = {}) => ({
  now,
  leaseUntil: new Date(now.getTime() + 60_000),
  holder: 'me',
  limit: 100,
  perSecond: 1_000,
  ...over,
});

test.serial('after any events the row is due when the payment’s own fold says so', async (t) => {
  const { db } = await emptyDatabase(postgres);
  await prepare(db, requeryList, requeryList.name);
  let serial = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(events, { minLength: 1, maxLength: 12 }), async (happened) => {
      serial += 1;
      const id = `P${serial}`;
      const all = [requested(), ...happened, applied(result(1, 'pending'))];
      const isDueAsFolded = async (length: number) => {
        const state = all.slice(0, length).reduce(evolve, noPayment);
        const dueAt = state.status === 'none' ? null : nextRequeryAt(state);
        const row = await db('reactor_requeries.requeries').where('transaction_id', id).first('due_at');
        t.is(row?.due_at?.toISOString() ?? null, dueAt);
      };
      for (let length = 1; length <= all.length; length += 1) {
        await feed(db, requeryList, paymentStream(id), all.slice(0, length), length - 1);
        await isDueAsFolded(length);
      }
      await feed(db, requeryList, paymentStream(id), all);
      await isDueAsFolded(all.length);
    }),
    { numRuns: runs(60) },
  );
  await feed(db, requeryList, 'of-another-program-1', [{ type: 'PaymentMethodChosen', data: {} }]);
});

test.serial(
  'a question after a failure is not asked more than a week late, one about an open attempt is',
  async (t) => {
    const { db, payment, queue, row } = await start(t);
    await payment('A', [requested(), chosen(1), applied(result(1, 'failed'))]);
    await payment('B', [requested(), chosen(1)]);
    const dueAt: Date = (await row('A')).due_at;
    /** What is claimed so many days late, with a clock that is so many days ahead of PostgreSQL's. */
    const claimed = async (days: number, aheadDays = 0, limit = 100) => {
      const at = (after: number) => new Date(Date.now() + after * 86_400_000);
      await db(`${requeryList.name}.requeries`).update({ wake_at: at(-days), lease_until: null });
      const found = await queue.claim(claimAt(at(aheadDays), { limit }));
      return found.map(({ transactionId }) => transactionId).toSorted();
    };
    t.deepEqual(await claimed(6), ['A', 'B']);
    t.deepEqual(await claimed(6, 30), ['A', 'B']);
    t.deepEqual(await claimed(8), ['B']);
    t.is((await row('A')).wake_at, null);
    t.deepEqual((await row('A')).due_at, dueAt, 'as the log says');
    await db(`${requeryList.name}.requeries`).where({ transaction_id: 'A' }).update({ counted: 1 });
    t.deepEqual(await claimed(8, 0, 0), []);
    t.not((await row('A')).wake_at, null, 'it waits for a claim that has room');
    t.deepEqual(await claimed(8), ['A', 'B'], 'its counted answers are still to be recorded');
  },
);

for (const outcome of ['succeeded', 'cancelled'] as const)
  test.serial(
    `an attempt is asked about again once its end (${outcome}) turns out to be that of another one`,
    async (t) => {
      const { payment, row } = await start(t);
      const named = { source: 'gateway', gatewayTransactionId: 'P1', sellerOrderNo: orderNo(1) } as const;
      const unnamed = result(1, outcome, { sellerOrderNo: '' });
      const { type, data } = applied(unnamed);
      const ended = { type, data: { ...data, orderNo: orderNo(2) } } as PaymentEvent;
      const given = [requested(), chosen(1), applied(result(1, 'failed')), chosen(2), ended];
      await payment('A', given);
      const { due_at: before } = await row('A');
      const identified = { at: resultAt, resultNo: 2, ...named };
      await payment('A', [{ type: 'GatewayResultIdentified', data: identified }], given.length - 1);
      const { due_at: after } = await row('A');
      t.true(before === null || after < before, 'the second attempt is open');
    },
  );

test.serial(
  'the metrics: how many are due, since when, and the age of the oldest open attempt',
  async (t) => {
    const { db, payment } = await start(t);
    const metrics = async (now: Date) => {
      const sources = createSources({ db, runtime: { now: () => now } } as Parameters<
        typeof createSources
      >[0]);
      return (await sources.requeries()).map(([, value]) => Number(value));
    };
    t.deepEqual(await metrics(at('01:00:30')), [0, 0, 0]);
    await payment('A', [requested(), chosen(1, { at: '2026-11-20T01:00:00.000Z' })]);
    await payment('B', [
      requested(),
      chosen(1, { at: '2026-11-20T00:00:00.000Z' }),
      applied(result(1, 'succeeded')),
    ]);
    // PostgreSQL cannot read this order number as JSON.
    await payment('C', [requested(), chosen(1, { at: '2026-11-20T01:01:00.000Z', sellerOrderNo: '\0' })]);
    t.deepEqual(await metrics(at('01:00:30')), [0, 0, 30]);
    const [due, overdue, open] = await metrics(at('01:21:00'));
    t.deepEqual([due, open], [2, 21 * 60]);
    t.true((overdue ?? 0) > 0 && (overdue ?? 0) < 21 * 60);
  },
);

test.serial('the longest due is claimed first, once, until its lease ends or it is given back', async (t) => {
  const { payment, queue } = await start(t);
  await payment('B', [requested(), chosen(1, { at: '2026-11-20T01:01:00.000Z' })]);
  await payment('A', [requested(), chosen(1, { at: '2026-11-20T01:00:00.000Z' })]);
  t.deepEqual(await queue.claim(claimAt(at('01:01:00'))), [], 'nothing is due yet');
  const [first, ...others] = await queue.claim(claimAt(at('01:10:00'), { limit: 1 }));
  t.deepEqual([first?.transactionId, others], ['A', []]);
  const [second] = await queue.claim(claimAt(at('01:10:00'), { holder: 'another' }));
  t.is(second?.transactionId, 'B');
  t.deepEqual(await queue.claim(claimAt(at('01:10:59'))), []);
  t.is((await queue.claim(claimAt(at('01:11:01')))).length, 2, 'both leases have ended');
  if (first) await queue.release(first, 'me', at('01:20:00'));
  t.deepEqual(
    (await queue.claim(claimAt(at('01:19:59')))).map(({ transactionId }) => transactionId),
    ['B'],
  );
});

test.serial(
  'all processes together keep to the rate, and a pause saves up no more than a second',
  async (t) => {
    const { payment, queue } = await start(t);
    for (let index = 0; index < 40; index += 1) await payment(`P${index}`, [requested(), chosen(1)]);
    const startMs = at('02:00:00').getTime();
    const claimed: number[] = [];
    for (let second = 0; second < 6; second += 0.5) {
      const now = new Date(startMs + second * 1_000);
      const leaseUntil = at('05:00:00');
      const both = await Promise.all(
        ['one', 'two'].map((holder) => queue.claim(claimAt(now, { holder, leaseUntil, perSecond: 5 }))),
      );
      claimed.push(both.flat().length);
    }
    // A second ahead at most: then as many as the rate allows.
    t.is(claimed[0], 5);
    const total = claimed.reduce((sum, count) => sum + count, 0);
    t.true(total >= 30 && total <= 33, `${total} in six seconds: ${claimed}`);
  },
);

test.serial('a process whose clock was a month ahead for a moment stops no questions', async (t) => {
  const { payment, queue } = await start(t);
  await payment('A', [requested(), chosen(1)]);
  await payment('B', [requested(), chosen(1)]);
  const ahead = new Date('2026-12-20T02:00:00Z');
  t.is((await queue.claim(claimAt(ahead, { limit: 1, perSecond: 1, leaseUntil: at('02:00:00') }))).length, 1);
  t.is((await queue.claim(claimAt(at('02:00:00'), { perSecond: 5 }))).length, 2);
});

test.serial(
  'a paid payment leaves the list; a release does not undo what the log has said meanwhile',
  async (t) => {
    const { payment, queue, row } = await start(t);
    await payment('A', [requested(), chosen(1)]);
    const [claimed] = await queue.claim(claimAt(at('01:10:00')));
    await payment('A', [succeeded(result(1, 'succeeded'))], 1);
    if (claimed) await queue.release(claimed, 'whoever held it before', at('01:30:00'));
    t.is((await row('A')).leased_by, 'me');
    if (claimed) await queue.release(claimed, 'me', at('01:30:00'));
    t.like(await row('A'), { due_at: null, wake_at: null, leased_by: null });
  },
);

test.serial('answers are counted in the row, and recorded soon after the payment has ended', async (t) => {
  const { counts, payment, queue, row } = await start(t);
  t.is(await counts.read('A'), 'none', 'no row');
  t.false(await counts.add('A', { status: 'attempted', at: at('01:02:00').toISOString() }, null));
  await payment('A', [requested(), chosen(1)]);
  t.is(await counts.read('A'), null);
  const since = '2026-11-20T01:00:00.000Z';
  for (const minute of ['03', '05', '04'])
    t.true(await counts.add('A', { status: 'attempted', at: `2026-11-20T01:${minute}:00.000Z` }, since));
  const counted = { status: 'attempted', count: 3, at: '2026-11-20T01:05:00.000Z' } as const;
  t.deepEqual(await counts.read('A'), counted);
  await payment('A', [succeeded(result(1, 'succeeded'))], 1);
  const [claimed] = await queue.claim(claimAt(at('01:06:00')));
  t.is(claimed?.transactionId, 'A');
  await counts.clear('A', '2026-11-20T01:04:59.000Z');
  t.deepEqual(await counts.read('A'), counted, 'what came later stays');
  await counts.clear('A', counted.at);
  t.is(await counts.read('A'), null);
  if (claimed) await queue.release(claimed, 'me', null);
  // What has been recorded already is not counted again.
  await counts.add('A', { status: 'failed', at: '2026-11-20T02:00:00.000Z' }, since);
  await counts.add('A', { status: 'failed', at: '2026-11-20T03:00:00.000Z' }, '2026-11-20T02:30:00.000Z');
  t.like(await counts.read('A'), { status: 'failed', count: 1 });
  t.deepEqual((await row('A')).wake_at, at('03:00:00'), 'an hour after the first');
});

test.serial(
  'a new attempt is asked about in time, although the next question about another one is later',
  async (t) => {
    const { counts, payment, queue, row } = await start(t);
    const first = [requested(), chosen(1, { at: '2026-11-20T01:00:00.000Z' })];
    await payment('A', first);
    const [claimed] = await queue.claim(claimAt(at('01:20:00')));
    await counts.add('A', { status: 'attempted', at: at('01:20:00').toISOString() }, null);
    if (claimed) await queue.release(claimed, 'me', at('02:00:00'));
    await payment('A', [chosen(2, { at: '2026-11-20T01:30:00.000Z' })], first.length - 1);
    t.true((await row('A')).wake_at <= at('01:33:00'), (await row('A')).wake_at.toISOString());
    const [again] = await queue.claim(claimAt(at('01:33:00')));
    // While the registry is asked about the second one, the payer makes a third.
    await payment('A', [chosen(3, { at: '2026-11-20T01:33:00.000Z' })], first.length);
    if (again) await queue.release(again, 'me', at('02:00:00'));
    t.true((await row('A')).wake_at <= at('01:36:00'), (await row('A')).wake_at.toISOString());
  },
);

test.serial(
  'an answer counted by a process whose clock was years ahead does not hold up a new attempt',
  async (t) => {
    const { counts, payment, queue } = await start(t);
    await payment('A', [requested(), chosen(1)]);
    await counts.add('A', { status: 'attempted', at: '2126-01-01T00:00:00.000Z' }, null);
    await payment('A', [chosen(2, { at: '2026-11-20T01:30:00.000Z' })], 1);
    const claimed = await queue.claim(claimAt(new Date()));
    t.deepEqual(
      claimed.map(({ transactionId }) => transactionId),
      ['A'],
    );
  },
);

test('while Postgres is down nothing can be counted, and nothing rejects', async (t) => {
  const db = connectPostgres({ url: 'postgres://127.0.0.1:9/nowhere', log });
  t.teardown(() => db.destroy());
  const counts = createAnswerCounts(db);
  t.is(await counts.read('A'), 'none');
  t.false(await counts.add('A', { status: 'failed', at: '2026-11-20T02:00:00.000Z' }, null));
  await t.notThrowsAsync(counts.clear('A', '2026-11-20T02:00:00.000Z'));
});
