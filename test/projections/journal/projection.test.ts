// The journal in Postgres: the same rows however it is fed, and answers of any time that a replay confirms.
import { indexable } from '@ledger/postgres/table.ts';
import test from 'ava';
import fc from 'fast-check';
import { dayOf } from '../../../src/common/malaysian-time.ts';
import { displaySen } from '../../../src/common/money.ts';
import { unopened } from '../../../src/events/open-payment.ts';
import { evolve, noPayment, type Payment, type PaymentEvent } from '../../../src/events/payment.ts';
import { type Books, type Entry, enter } from '../../../src/events/postings.ts';
import {
  collectedReceipts,
  collectionPage,
  collectionTotals,
} from '../../../src/projections/journal/collection-queries.ts';
import {
  type AccountStatement,
  accountPages,
  accountStatement,
  accountSums,
  journalBalance,
  merchantsWithAccount,
  trialBalance,
} from '../../../src/projections/journal/queries.ts';
import { receiptOf } from '../../../src/receipts/receipt.ts';
import { until } from '../../embedded/helpers.ts';
import { mismatched, request, result, sen, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';
import { history } from '../histories.ts';
import { clearJournal, emptyJournal, feed, paid, recorded } from '../journals.ts';

const postgres = await createDatabase();

const always = new Date('2999-01-01T00:00:00Z');

type Fed = { id: string; at: string; entry: Entry };

/** The entries of some payments, by the pure rule. */
function replay(histories: readonly (readonly PaymentEvent[])[], until = always): Fed[] {
  return histories.flatMap((events, index) => {
    let books: Books | null = null;
    return events.flatMap((event): Fed[] => {
      if (new Date(event.data.at) > until) return [];
      const entered = enter(books, event);
      books = entered.books;
      return entered.entry ? [{ id: `P${index}`, at: event.data.at, entry: entered.entry }] : [];
    });
  });
}

function sumsOf(fed: readonly Fed[]) {
  const sums = new Map<string, { account: string; debitSen: bigint; creditSen: bigint }>();
  for (const { account: named, debitSen, creditSen } of fed.flatMap(({ entry }) => entry.postings)) {
    const account = indexable(named);
    const before = sums.get(account) ?? { account, debitSen: 0n, creditSen: 0n };
    sums.set(account, {
      account,
      debitSen: before.debitSen + debitSen,
      creditSen: before.creditSen + creditSen,
    });
  }
  return sums;
}

const byAccount = (rows: readonly { account: string }[]) =>
  rows.toSorted((a, b) => (a.account < b.account ? -1 : 1));

/** In the order of time, as a log has them. */
const inOrder = history.map((events) => {
  const times = events.map(({ data }) => data.at).sort();
  return events.map(
    (event, index) => ({ ...event, data: { ...event.data, at: times[index] } }) as PaymentEvent,
  );
});

const fewHistories = fc.array(inOrder, { minLength: 1, maxLength: 6 });

test.serial('any history, cut into any batches, some of them again: the same rows', async (t) => {
  const db = await emptyJournal(t, postgres);
  const tables = ['postings', 'daily_sums', 'books'];
  const dump = () =>
    Promise.all(
      tables.map(
        async (table) =>
          (await db.raw('select t::text as row from ?? t order by 1', [`journal.${table}`])).rows,
      ),
    );
  const cuts = fc.array(fc.tuple(fc.nat(60), fc.nat(20)), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fewHistories, cuts, async (histories, batches) => {
      const streams = histories.map((events, index) => recorded(`P${index}`, events));
      const longest = Math.max(...streams.map((stream) => stream.length));
      const events = Array.from({ length: longest }, (_, revision) =>
        streams.flatMap((stream) => stream[revision] ?? []),
      ).flat();
      await clearJournal(db);
      await feed(db, events);
      const atOnce = await dump();
      await clearJournal(db);
      let start = 0;
      // Each batch begins somewhat before the end of the last.
      for (const [length, again] of batches) {
        await feed(db, events.slice(Math.max(0, start - again), start + length));
        start += length;
      }
      await feed(db, events.slice(start));
      await feed(db, events);
      t.deepEqual(await dump(), atOnce);

      const { debitSen, creditSen, unbalanced } = await journalBalance(db);
      t.is(debitSen, creditSen);
      t.is(unbalanced, 0);
      t.deepEqual(
        byAccount(await trialBalance(db, always)),
        byAccount([...sumsOf(replay(histories)).values()]),
      );
    }),
    { numRuns: runs(25) },
  );
});

test.serial('a balance of any time is that of a replay up to then', async (t) => {
  const db = await emptyJournal(t, postgres);
  const moment = fc.date({ min: new Date('2020-01-01Z'), max: new Date('2030-01-02Z'), noInvalidDate: true });
  await fc.assert(
    fc.asyncProperty(fewHistories, fc.array(moment, { maxLength: 3 }), async (histories, moments) => {
      await clearJournal(db);
      for (const [index, events] of histories.entries()) await feed(db, recorded(`P${index}`, events));
      const exact = replay(histories).map(({ at }) => new Date(at));
      for (const asOf of [...moments, ...exact.slice(0, 3)]) {
        const expected = sumsOf(replay(histories, asOf));
        t.deepEqual(byAccount(await trialBalance(db, asOf)), byAccount([...expected.values()]));
        for (const account of ['suspense:duplicate', ...expected.keys()].slice(0, 3))
          t.deepEqual(
            await accountSums(db, account, asOf),
            expected.get(account) ?? { account, debitSen: 0n, creditSen: 0n },
          );
      }
    }),
    { numRuns: runs(25) },
  );
});

const stateOf = (events: readonly PaymentEvent[]) => events.reduce<Payment>(evolve, noPayment);

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test.serial(
  'a day’s collection is the receipts of that value date, whenever they were recorded',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const [start, end] = ['2026-11-19T16:00:00.000Z', '2026-11-20T16:00:00.000Z'];
    const lastMoment = new Date(Date.parse(end) - 1).toISOString();
    const payments = {
      before: paid({ no: 1, at: start, paidAt: new Date(Date.parse(start) - 1).toISOString() }),
      first: paid({ no: 2, at: start, paidAt: start, chargeSen: 50 }),
      last: paid({ no: 3, at: lastMoment, paidAt: lastMoment, mode: 'cc' }),
      late: paid({ no: 4, at: '2026-11-23T01:00:00.000Z', paidAt: '2026-11-20T03:00:00.000Z' }),
      unnamed: paid({ no: 5, at: '2026-11-20T04:00:00.000Z' }),
      next: paid({ no: 6, at: end, paidAt: end }),
    };
    for (const [id, events] of Object.entries(payments)) await feed(db, recorded(id, events));
    const collection = { merchantCode: 'council', day: '2026-11-20', asOf: always };
    const receipts = await all(collectedReceipts(db, collection));
    t.deepEqual(
      receipts.map(({ transactionId, isLate }) => `${transactionId} ${isLate}`),
      ['first false', 'late true', 'unnamed false', 'last false'],
    );
    for (const { transactionId, receiptNo, reference, method, amountSen, chargeSen, paidAt } of receipts) {
      const state = stateOf(payments[transactionId as keyof typeof payments]);
      if (state.status === 'none') return t.fail();
      t.like(receiptOf(unopened(state)), {
        receiptNo,
        reference,
        mode: method as 'fpx',
        amount: displaySen(amountSen),
        fee: chargeSen === 0 ? '' : displaySen(chargeSen),
        at: paidAt.toISOString(),
      });
    }
    t.deepEqual(await collectionTotals(db, collection), [
      { method: 'cc', receipts: 1, amountSen: 1_003n, chargeSen: 0n },
      { method: 'fpx', receipts: 3, amountSen: 3_011n, chargeSen: 50n },
    ]);
    const asKnown = { ...collection, asOf: new Date(end) };
    t.is((await all(collectedReceipts(db, asKnown))).length, 3, 'as it was known at the end of the day');
    t.is((await collectionTotals(db, asKnown))[1]?.receipts, 2);
    t.deepEqual(await all(collectedReceipts(db, { ...collection, merchantCode: 'other' })), []);
    t.deepEqual(await merchantsWithAccount(db), ['council']);
  },
);

test.serial('pages of a day and of a statement come to the whole, each line once', async (t) => {
  const db = await emptyJournal(t, postgres);
  const at = '2026-11-20T04:00:00.000Z';
  for (let no = 1; no <= 23; no += 1)
    await feed(db, recorded(`P${no % 7}-${no}`, paid({ no, at, paidAt: at })));
  const collection = { merchantCode: 'council', day: '2026-11-20', asOf: always };
  const whole = await all(collectedReceipts(db, collection));
  t.is(new Set(whole.map(({ transactionId }) => transactionId)).size, 23);
  const pages = [];
  for (let after = null; ; ) {
    const page = await collectionPage(db, collection, { after, limit: 5 });
    pages.push(...page);
    if (page.length < 5) break;
    after = page.at(-1) ?? null;
  }
  t.deepEqual(pages, whole);

  const period = { account: 'merchant:council', from: '2026-11-20', to: '2026-11-20' };
  let added = 0;
  db.on('query', ({ sql }) => {
    if (/^select coalesce\(sum.*journal\.postings/s.test(sql)) added += 1;
  });
  for (const isGiven of [true, false]) {
    const lines: AccountStatement['lines'] = [];
    for (;;) {
      const last = lines.at(-1) ?? null;
      const after = isGiven ? last : last && { cursor: last.cursor };
      const page = await accountStatement(db, { ...period, after, limit: 5 });
      lines.push(...page.lines);
      if (page.lines.length < 5) break;
    }
    t.is(lines.length, 23);
    t.is(lines.at(-1)?.balanceSen, 23n * 1_000n + 276n);
    t.is(
      added,
      isGiven ? 0 : 4,
      'the lines before a page are added up only where nobody knows their balance',
    );
  }
  await db.raw(
    `insert into journal.postings
       select transaction_id, revision, 100 + no, kind, account, merchant_code, 0, 1, at, value_at, opened_on
       from (select * from journal.postings where account = ? limit 1) as one, generate_series(1, 5000) as no`,
    [period.account],
  );
  const statement = await Array.fromAsync(accountPages(db, period));
  t.deepEqual(
    statement.map(({ lines }) => lines.length),
    [5_000, 23],
  );
  t.is(statement.at(-1)?.lines.at(-1)?.balanceSen, 23n * 1_000n + 276n + 5_000n);
});

test.serial('a statement opens with what was there, and closes with it and its lines', async (t) => {
  const db = await emptyJournal(t, postgres);
  const other = mismatched(result(1, 'succeeded', { amountSen: sen(70) }));
  const credited: PaymentEvent = {
    type: 'ExceptionResolved',
    data: {
      at: '2026-11-20T16:00:00.000Z',
      resultNo: 1,
      resolution: 'credited',
      note: 'ours',
      postingRule: 1,
    },
  };
  const creditedLater: PaymentEvent = {
    type: 'AmountMismatchCredited',
    data: {
      at: '2026-11-20T16:00:01.000Z',
      by: 'staff:1',
      postingRule: 3,
      merchantCode: 'council',
      deliveries: [],
      resultNo: 3,
      note: 'ours, too',
      amountSen: sen(5),
      effect: 'nothing',
      paidSen: sen(0),
      paidAt: '2026-11-20T16:00:00.000Z',
      receiptNo: '',
    },
  };
  const [requested, ...paying] = paid({ no: 2, at: '2026-11-20T15:59:59.999Z' });
  if (!requested) return t.fail();
  await feed(db, recorded('A', paid({ no: 1, at: '2026-11-18T00:00:00.000Z' })));
  await feed(db, recorded('B', [requested, other, ...paying, credited, creditedLater]));
  const ask = { account: 'merchant:council', after: null, limit: 10 };
  const day = await accountStatement(db, { ...ask, from: '2026-11-20', to: '2026-11-20' });
  t.is(day.openingSen, 1_001n);
  t.is(day.closingSen, 2_003n);
  t.deepEqual(
    day.lines.map(({ transactionId, revision, kind, receiptNo, reference, creditSen, balanceSen }) => [
      transactionId,
      revision,
      kind,
      receiptNo,
      reference,
      creditSen,
      balanceSen,
    ]),
    [['B', 3, 'payment', 'R-2', 'INV-2', 1_002n, 2_003n]],
  );
  const two = await accountStatement(db, { ...ask, from: '2026-11-20', to: '2026-11-21' });
  t.is(two.closingSen, 2_073n);
  t.is(two.lines.at(-1)?.kind, 'credit');
  t.is(two.lines.at(-1)?.balanceSen, two.closingSen);
  const quiet = await accountStatement(db, { ...ask, from: '2026-11-22', to: '2026-11-30' });
  t.deepEqual(quiet, { openingSen: 2_073n, lines: [], closingSen: 2_073n });
  await t.throwsAsync(accountStatement(db, { ...ask, from: '2026-11-31', to: '2026-12-01' }), {
    instanceOf: RangeError,
  });
});

test.serial('what is posted while a statement is read is not in part of it', async (t) => {
  const db = await emptyJournal(t, postgres);
  await feed(db, recorded('A', paid({ at: '2026-11-18T00:00:00.000Z' })));
  await feed(db, recorded('B', paid({ no: 2, at: '2026-11-20T01:00:00.000Z' })));
  const writing = await db.transaction();
  await writing.raw('lock table journal.postings in access exclusive mode');
  const [from, to] = ['2026-11-20', '2026-11-20'];
  const read = accountStatement(db, { account: 'merchant:council', from, to, after: null, limit: 10 });
  const waiting = `select from pg_locks where not granted and relation = 'journal.postings'::regclass
    and database = (select oid from pg_database where datname = current_database())`;
  await until(async () => (await db.raw(waiting)).rowCount > 0);
  await feed(writing, recorded('C', paid({ no: 3, at: '2026-11-19T00:00:00.000Z' })));
  await writing.commit();
  const { openingSen, lines, closingSen } = await read;
  t.is(lines.length, 1);
  t.is(closingSen, openingSen + (lines[0]?.creditSen ?? 0n));
});

test.serial('sums past 64 bits are exact', async (t) => {
  const db = await emptyJournal(t, postgres);
  const amountSen = sen(Number.MAX_SAFE_INTEGER);
  const events = (no: number): PaymentEvent[] => [
    { type: 'PaymentRequested', data: request({ amountSen, reference: `${no}` }) },
    succeeded(result(1, 'succeeded', { amountSen })),
  ];
  const count = 2_000;
  await feed(db, Array.from({ length: count }, (_, no) => recorded(`P${no}`, events(no))).flat());
  const total = BigInt(amountSen) * BigInt(count);
  t.true(total > 2n ** 63n);
  t.deepEqual(await journalBalance(db), { debitSen: total, creditSen: total, unbalanced: 0 });
  t.is((await accountSums(db, 'merchant:council', always)).creditSen, total);
  const at = dayOf('2026-11-20T01:05:00.000Z');
  const { closingSen } = await accountStatement(db, {
    account: 'merchant:council',
    from: at,
    to: at,
    after: null,
    limit: 1,
  });
  t.is(closingSen, total);
});

test.serial('an entry that was tampered with is counted', async (t) => {
  const db = await emptyJournal(t, postgres);
  await feed(db, recorded('A', paid({ at: '2026-11-20T04:00:00.000Z', chargeSen: 50 })));
  await db.raw(`update journal.postings set credit_sen = credit_sen + 1 where line = 2`);
  t.deepEqual(await journalBalance(db), { debitSen: 1_051n, creditSen: 1_052n, unbalanced: 1 });
});

test.serial(
  'what might be about money and is not known stops the journal; what is not about money does not',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const [requested] = recorded('A', paid({ at: '2026-11-20T04:00:00.000Z' }));
    if (!requested) return t.fail();
    const named = (type: string) => ({ ...requested, type, data: {}, revision: 1 });
    await t.throwsAsync(feed(db, [requested, named('PaymentReversed')]), { name: 'UnreadableEvent' });
    await feed(db, [requested, named('CallbackDelivered'), named('RequeryAnswered')]);
    const [, , success] = recorded('B', paid({ at: '2026-11-20T04:00:00.000Z' }));
    if (!success) return t.fail();
    await t.throwsAsync(feed(db, [success]), { name: 'ProjectionFault' });
  },
);
