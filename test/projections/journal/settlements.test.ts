// Settlement in the books: every clearing account is what an independent model says, and zero when all is settled.
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import fc from 'fast-check';
import type { Knex } from 'knex';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { chargeNameOf, type SettlementEvent, settlementStream } from '../../../src/events/settlement.ts';
import { schemaVersion } from '../../../src/events/upcast.ts';
import { ageing } from '../../../src/projections/journal/ageing.ts';
import { journalBalance, trialBalance } from '../../../src/projections/journal/queries.ts';
import { findCharges, findPaidOut, findTwin } from '../../../src/projections/journal/settlements.ts';
import {
  duplicated,
  mismatched,
  refunded,
  resolvedAs,
  result,
  sen,
  succeeded,
  superseded,
} from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { clearJournal, emptyJournal, feed, paid, recorded } from '../journals.ts';

const postgres = await createDatabase();
const dayMs = 86_400_000;
const start = Date.parse('2026-11-01T04:00:00.000Z');
const timeOn = (day: number) => new Date(start + day * dayMs).toISOString();
/** A Malaysian day; the times above are at noon. */
const nameOf = (day: number) => timeOn(day).slice(0, 10);

function settled(id: string, ...events: readonly SettlementEvent[]): RecordedEvent[] {
  return events.map((event, revision) => ({
    ...event,
    id: '',
    metadata: { schemaVersion },
    streamName: settlementStream(id),
    revision,
    position: { commit: 0n, prepare: 0n },
    created: new Date(),
  }));
}

type Part = { account: string; openedOn: string | null; amountSen: number };

function settlement(
  kind: 'payout' | 'remittance',
  day: number,
  parts: readonly Part[],
  reference = 'S',
  charges?: string,
): SettlementEvent {
  const net = parts.reduce(
    (sum, { account, amountSen }) => sum + (account.startsWith('fees:') ? -amountSen : amountSen),
    0,
  );
  return {
    type: 'SettlementRecorded',
    data: {
      at: timeOn(day),
      kind,
      reference,
      settledOn: nameOf(day),
      totalSen: sen(net),
      parts: parts.map((each) => ({ ...each, amountSen: sen(each.amountSen) })),
      ...(charges && { charges }),
      file: { sha256: 'a'.repeat(64), lines: 1 },
      postingRule: 1,
    },
  };
}

const reversed = (day: number): SettlementEvent => ({
  type: 'SettlementReversed',
  data: { at: timeOn(day), note: 'Wrong', postingRule: 1 },
});

type Step = {
  do: 'pay' | 'payTwice' | 'refund' | 'payOut' | 'handOn' | 'reverse';
  mode: 'fpx' | 'cc';
  chargeSen: number;
  isDated: boolean;
};

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('pay', 'pay', 'payTwice', 'refund', 'payOut', 'handOn', 'reverse'),
  mode: fc.constantFrom('fpx', 'cc'),
  chargeSen: fc.constantFrom(0, 50),
  isDated: fc.boolean(),
});

/** Money that came to an account on a day, and has not left it. */
type Item = { account: string; day: number; sen: number };

/** Runs a script, a step a day, and returns its log and what a list of open items says about each clearing account. */
function play(steps: readonly Step[]) {
  const log: RecordedEvent[] = [];
  const twice = new Map<string, { events: PaymentEvent[]; item: Item }>();
  const settlements: { id: string; events: SettlementEvent[]; items: Item[] }[] = [];
  let items: Item[] = [];
  const settle = (
    kind: 'payout' | 'remittance',
    prefix: string,
    day: number,
    isDated: boolean,
    feeSen = 0,
  ) => {
    const open = items.filter(({ account }) => account.startsWith(prefix));
    const parts = open.map(({ account, day: openedOn, sen: amountSen }) => ({
      account,
      openedOn: isDated ? nameOf(openedOn) : null,
      amountSen,
    }));
    if (parts.length === 0) return;
    if (kind === 'payout') parts.push({ account: 'fees:fpx', openedOn: null, amountSen: feeSen });
    const id = `S${settlements.length}`;
    const events = [settlement(kind, day, parts)];
    settlements.push({ id, events, items: open });
    items = items.filter((item) => !open.includes(item));
    log.push(...settled(id, ...events).slice(-1));
  };
  for (const [day, { do: what, mode, chargeSen, isDated }] of steps.entries()) {
    const id = `P${day}`;
    if (what === 'pay' || what === 'payTwice') {
      const events = paid({ at: timeOn(day), no: day + 1, mode, chargeSen });
      const amountSen = 1_001 + day;
      items.push({ account: `gateway:${mode}`, day, sen: amountSen + chargeSen });
      items.push({ account: 'merchant:council', day, sen: amountSen });
      if (what === 'payTwice') {
        const again = result(1, 'succeeded', { mode, amountSen: sen(77), gatewayTransactionId: 'G2' });
        const second = duplicated(again, 'G1');
        events.push({ ...second, data: { ...second.data, at: timeOn(day) } } as PaymentEvent);
        const item = { account: `gateway:${mode}`, day, sen: 77 };
        items.push(item, { account: 'suspense:duplicate', day, sen: 77 });
        twice.set(id, { events, item });
      }
      log.push(...recorded(id, events));
    }
    if (what === 'refund') {
      // Only one that the gateway has not paid out: otherwise we would owe it to the gateway.
      const found = [...twice].find(([, { item }]) => items.includes(item));
      if (!found) continue;
      const [paymentId, { events, item }] = found;
      twice.delete(paymentId);
      events.push({
        type: 'ExceptionResolved',
        data: { at: timeOn(day), resultNo: 2, resolution: 'refunded', note: '', postingRule: 2 },
      });
      log.push(...recorded(paymentId, events).slice(-1));
      const suspended = items.find((each) => each.account === 'suspense:duplicate' && each.day === item.day);
      items = items.filter((each) => each !== item && each !== suspended);
    }
    if (what === 'payOut') settle('payout', 'gateway:', day, isDated, 10);
    if (what === 'handOn') settle('remittance', 'merchant:', day, isDated);
    const last = settlements.at(-1);
    if (what === 'reverse' && last && last.events.length === 1) {
      last.events.push(reversed(day));
      log.push(...settled(last.id, ...last.events).slice(-1));
      items.push(...last.items);
    }
  }
  return { log, items };
}

async function openIn(db: Knex, day: number) {
  return await ageing(db, new Date(timeOn(day)));
}

/** What the model says: every open item in its age. */
function aged(items: readonly Item[], today: number) {
  const accounts = [...new Set(items.map(({ account }) => account))].sort();
  return accounts.map((account) => {
    const byAge = [0n, 0n, 0n, 0n, 0n];
    for (const item of items.filter((each) => each.account === account)) {
      const age = [1, 3, 7, 30].filter((last) => today - item.day > last).length;
      byAge[age] = (byAge[age] ?? 0n) + BigInt(item.sen);
    }
    return { account, figures: [...byAge, 0n, byAge.reduce((sum, each) => sum + each, 0n)] };
  });
}

test.serial('any history of payments, payouts and remittances leaves what is open, in its age', async (t) => {
  const db = await emptyJournal(t, postgres);
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), cuts, async (steps, sizes) => {
      const { log, items } = play(steps);
      await clearJournal(db);
      for (let from = 0, turn = 0; from < log.length; turn += 1) {
        const batch = log.slice(from, from + (sizes[turn % sizes.length] ?? 1));
        await feed(db, batch);
        // Again, as after a crash of the runner.
        await feed(db, batch);
        from += batch.length;
      }
      t.deepEqual(await openIn(db, steps.length), aged(items, steps.length));
      const { debitSen, creditSen, unbalanced } = await journalBalance(db);
      t.is(debitSen, creditSen);
      t.is(unbalanced, 0);
      t.deepEqual(await summed(db), await posted(db));
      // All is paid out and remitted.
      const rest = items.filter(({ account }) => !account.startsWith('suspense:'));
      const parts = rest.map(({ account, sen: amountSen }) => ({ account, openedOn: null, amountSen }));
      const of = (prefix: string) => parts.filter(({ account }) => account.startsWith(prefix));
      await feed(db, [
        ...settled('Z1', settlement('payout', steps.length, of('gateway:'))),
        ...settled('Z2', settlement('remittance', steps.length, of('merchant:'))),
      ]);
      const left = (await trialBalance(db, new Date(timeOn(steps.length)))).filter(
        ({ account, debitSen: debit, creditSen: credit }) =>
          debit !== credit && /^(gateway|merchant):/.test(account),
      );
      t.deepEqual(left, []);
    }),
    { numRuns: 40 },
  );
});

const summed = (db: Knex) => sumsOf(db, 'daily_sums', 'day');
const posted = (db: Knex) => sumsOf(db, 'postings', `(at at time zone 'Asia/Kuala_Lumpur')::date`);

async function sumsOf(db: Knex, table: string, day: string) {
  const { rows } = await db.raw(
    `select account, (${day})::text as day, opened_on::text, sum(debit_sen)::text as debit, sum(credit_sen)::text as credit
     from journal.${table} group by 1, 2, 3 order by 1, 2, 3`,
  );
  return rows;
}

test.serial('a charge is found by either id, as often as it was booked', async (t) => {
  const db = await emptyJournal(t, postgres);
  const again = result(1, 'succeeded', { mode: 'cc', amountSen: sen(1_001), gatewayTransactionId: 'G2' });
  const events = paid({ at: timeOn(0) });
  const second = duplicated(again, 'G1');
  events.push({ ...second, data: { ...second.data, at: timeOn(3) } } as PaymentEvent);
  await feed(db, [...recorded('P', events), ...recorded('Q', paid({ at: timeOn(1), no: 2 }))]);
  const charge = (line: number, transactionId: string, gatewayTransactionId = '', amount = 1_001) => ({
    line,
    transactionId,
    gatewayTransactionId,
    amountSen: sen(amount),
  });
  const found = await findCharges(db, '', [
    charge(2, 'P'),
    charge(3, '', 'G2'),
    charge(4, 'P'),
    charge(5, 'P', '', 1_000),
    charge(6, 'Q', 'G2', 1_002),
    charge(7, 'Q', 'new', 1_002),
    charge(8, '', 'nobody'),
    charge(9, "' or true --\0"),
  ]);
  const first = (id: string, day: number) => ({
    account: 'gateway:fpx',
    openedOn: nameOf(day),
    charge: chargeNameOf(`${id}/2`),
  });
  t.deepEqual(
    [...found].sort(([one], [other]) => one - other),
    [
      [2, first('P', 0)],
      [3, { account: 'gateway:cc', openedOn: nameOf(3), charge: chargeNameOf('P/3') }],
      [7, first('Q', 1)],
    ],
    'a third one, another amount, the number of another payment and unknown ones are not found',
  );
});

test.serial(
  'two charges of one payment are each found by their own number, in payouts of different days',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const again = result(1, 'succeeded', { mode: 'cc', amountSen: sen(1_001), gatewayTransactionId: 'G2' });
    const events = paid({ at: timeOn(0) });
    const second = duplicated(again, 'P1');
    events.push({ ...second, data: { ...second.data, at: timeOn(3) } } as PaymentEvent);
    await feed(db, recorded('P', events));
    const named = (line: number, gatewayTransactionId: string, transactionId = '') => ({
      line,
      transactionId,
      gatewayTransactionId,
      amountSen: sen(1_001),
    });
    const first = { account: 'gateway:fpx', openedOn: nameOf(0), charge: chargeNameOf('P/2') };
    const other = { account: 'gateway:cc', openedOn: nameOf(3), charge: chargeNameOf('P/3') };
    const found = async (...rows: ReturnType<typeof named>[]) =>
      Object.fromEntries(await findCharges(db, '', rows));
    t.deepEqual(await found(named(2, 'P1')), { 2: first });
    t.deepEqual(await found(named(2, 'G2', 'P')), { 2: other });
    t.deepEqual(await found(named(2, 'G2'), named(3, 'G2')), { 2: other }, 'it was booked once');
    t.deepEqual(await found(named(2, '', 'P'), named(3, 'P1')), { 2: other, 3: first });

    const part = { account: 'gateway:fpx', openedOn: nameOf(0), amountSen: 1_001 };
    await feed(db, settled('A', settlement('payout', 4, [part], 'PO-A', first.charge)));
    t.deepEqual(await found(named(2, '', 'P')), { 2: other }, 'the other one is paid out');
    t.deepEqual(await found(named(2, '', 'P'), named(3, '', 'P')), { 2: other, 3: first });
  },
);

test.serial(
  'a charge whose wrong amount was superseded is found on the day of the report that is in the books',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const [begun, choice, success] = paid({ at: timeOn(2), mode: 'cc' });
    const report = result(1, 'succeeded', { mode: 'cc', amountSen: sen(1_001), gatewayTransactionId: 'P1' });
    const wrong = mismatched(report, sen(1_051));
    const withdrawn = superseded(1);
    const at = { at: timeOn(2) };
    const events = [
      begun,
      choice,
      { ...wrong, data: { ...wrong.data, at: timeOn(0) } },
      { ...withdrawn, data: { ...withdrawn.data, ...at } },
      success,
    ] as PaymentEvent[];
    for (const size of [events.length, 1]) {
      await clearJournal(db);
      const log = recorded('P', events);
      for (let start = 0; start < log.length; start += size) await feed(db, log.slice(start, start + size));
      const rows = [{ line: 2, transactionId: '', gatewayTransactionId: 'P1', amountSen: sen(1_001) }];
      t.deepEqual(Object.fromEntries(await findCharges(db, '', rows)), {
        2: { account: 'gateway:cc', openedOn: nameOf(2), charge: chargeNameOf('P/4') },
      });
    }
  },
);

test.serial(
  'a charge is found by the number that a later report gives it, and keeps the one it has',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const identified = (resultNo: number, gatewayTransactionId: string): PaymentEvent => ({
      type: 'GatewayResultIdentified',
      data: { at: timeOn(1), source: 'gateway', resultNo, gatewayTransactionId, sellerOrderNo: '' },
    });
    const charge = { amountSen: sen(1_001), mode: 'fpx' } as const;
    const unnamed = succeeded(result(1, 'succeeded', { ...charge, gatewayTransactionId: '' }));
    const again = duplicated(result(1, 'succeeded', { ...charge, gatewayTransactionId: 'G2' }), 'P1');
    const events = paid({ at: timeOn(0) });
    await feed(db, recorded('P', [...events.slice(0, 2), unnamed, identified(1, 'G1')]));
    await feed(db, recorded('Q', [...events, again, identified(2, 'G2')]));
    const named = { transactionId: '', amountSen: sen(1_001) };
    const rows = ['G1', 'G2'].map((gatewayTransactionId, line) => ({ ...named, line, gatewayTransactionId }));
    const found = await Promise.all(rows.map((row) => findCharges(db, '', [row])));
    t.deepEqual(
      found.map((lines, line) => lines.get(line)?.charge),
      [chargeNameOf('P/2'), chargeNameOf('Q/3')],
    );
  },
);

test.serial('each of two payments with one number has its charge found', async (t) => {
  const db = await emptyJournal(t, postgres);
  await feed(db, recorded('P', paid({ at: timeOn(0) })));
  await feed(db, recorded('Q', paid({ at: timeOn(1), no: 2, mode: 'cc' })));
  await feed(db, recorded('R', [...paid({ at: timeOn(1), no: 2 }).slice(0, 2)]));
  const named = (line: number, transactionId: string) => ({
    line,
    transactionId,
    gatewayTransactionId: 'P1',
  });
  const found = await findCharges(db, '', [
    { ...named(2, 'Q'), amountSen: sen(1_002) },
    { ...named(3, 'P'), amountSen: sen(1_001) },
    { ...named(4, 'R'), amountSen: sen(1_002) },
    { ...named(5, 'P'), amountSen: sen(1_002) },
  ]);
  t.deepEqual(Object.fromEntries(found), {
    2: { account: 'gateway:cc', openedOn: nameOf(1), charge: chargeNameOf('Q/2') },
    3: { account: 'gateway:fpx', openedOn: nameOf(0), charge: chargeNameOf('P/2') },
  });
});

/** A wrong amount of RM 9.00, credited as what pays the payment. */
const creditedOn = (day: number): PaymentEvent => ({
  type: 'AmountMismatchCredited',
  data: {
    at: timeOn(day),
    by: 'staff:A',
    resultNo: 1,
    note: '',
    amountSen: sen(900),
    effect: 'paid',
    paidSen: sen(900),
    paidAt: timeOn(0),
    receiptNo: 'R-1',
    postingRule: 3,
    merchantCode: 'council',
    deliveries: [],
  },
});

test.serial(
  'a wrong amount is as old at the gateway after it was credited, and gone once refunded',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const wrong = mismatched(result(1, 'succeeded', { mode: 'fpx', amountSen: sen(900) }));
    const [begun, choice] = paid({ at: timeOn(0) });
    const events = [begun, choice, { ...wrong, data: { ...wrong.data, at: timeOn(0) } }, creditedOn(20)];
    await feed(db, recorded('P', events as PaymentEvent[]));
    t.deepEqual(await openIn(db, 40), [
      { account: 'gateway:fpx', figures: [0n, 0n, 0n, 0n, 900n, 0n, 900n] },
      { account: 'merchant:council', figures: [0n, 0n, 0n, 900n, 0n, 0n, 900n] },
    ]);
    events.push(refunded({ at: timeOn(40), amountSen: sen(900) }));
    await feed(db, recorded('P', events as PaymentEvent[]));
    t.deepEqual(await openIn(db, 40), []);
  },
);

test.serial('a credited charge is found once, and a replaced or explained one not at all', async (t) => {
  const db = await emptyJournal(t, postgres);
  const report = (amount: number) =>
    mismatched(result(1, 'succeeded', { amountSen: sen(amount), gatewayTransactionId: 'G1' }));
  const [begun, choice, success] = paid({ at: timeOn(2) });
  const credited = creditedOn(2);
  const again = (id: string) =>
    duplicated(
      result(1, 'succeeded', { mode: 'fpx', amountSen: sen(1_001), gatewayTransactionId: id }),
      'P1',
    );
  const thrice = [begun, choice, success, again('G2'), again('G3'), resolvedAs('explained', 2)];
  const histories = {
    credited: [begun, choice, report(900), credited],
    replaced: [begun, choice, report(1_001), superseded(1), success],
    explained: [begun, choice, success, again('G2'), resolvedAs('explained', 2)],
    oneExplained: thrice,
    bothExplained: [...thrice, resolvedAs('explained', 3)],
    oneAfterwards: [begun, choice, success, again('G2'), resolvedAs('explained', 2), again('G3')],
  };
  for (const [id, events] of Object.entries(histories))
    await feed(db, recorded(id, events as PaymentEvent[]));
  const found = async (transactionId: string, amountSen: number, gatewayTransactionId = '') => {
    const named = { transactionId, gatewayTransactionId, amountSen: sen(amountSen) };
    const charges = await findCharges(
      db,
      '',
      [2, 3].map((line) => ({ ...named, line })),
    );
    return Array.from(charges, ([line, { charge }]) => [line, charge]);
  };
  t.deepEqual(await found('credited', 900), [[2, chargeNameOf('credited/2')]]);
  t.deepEqual(await found('replaced', 1_001), [[2, chargeNameOf('replaced/4')]]);
  t.deepEqual(await found('explained', 1_001), [[2, chargeNameOf('explained/2')]]);
  t.deepEqual(await found('explained', 1_001, 'G2'), []);
  t.deepEqual(await found('oneExplained', 1_001, 'G3'), [[2, chargeNameOf('oneExplained/4')]]);
  t.deepEqual(await found('bothExplained', 1_001), [[2, chargeNameOf('bothExplained/2')]]);
  t.deepEqual(
    (await found('oneAfterwards', 1_001)).map(([, charge]) => charge),
    ['oneAfterwards/2', 'oneAfterwards/5'].map(chargeNameOf),
  );
});

test.serial('a payout of tens of thousands of charges is looked up line by line', async (t) => {
  const db = await emptyJournal(t, await createDatabase());
  const count = 30_000;
  await db.raw(
    `insert into journal.postings
     select 'T' || no, 2, 1, 'payment', 'gateway:fpx', 'council', 1000, 0, now(), now(), current_date
     from generate_series(1, ?) no`,
    [count],
  );
  await db.raw('analyze journal.postings');
  const rows = Array.from({ length: count }, (_, index) => ({
    line: index + 2,
    transactionId: `T${index + 1}`,
    gatewayTransactionId: '',
    amountSen: sen(1_000),
  }));
  // It fails after 30 s, as it does if each line is compared with each charge.
  t.is((await findCharges(db, '', rows)).size, count);
});

test.serial('another settlement of the day with the same total is found unless it is reversed', async (t) => {
  const db = await emptyJournal(t, postgres);
  const parts = [{ account: 'gateway:fpx', openedOn: null, amountSen: 200 }];
  const payout = settlement('payout', 2, parts);
  const twinOf = (id: string, kind: 'payout' | 'remittance', day: number, totalSen: number) =>
    findTwin(db, { id, kind, settledOn: nameOf(day), totalSen: sen(totalSen) });
  await feed(db, settled('A', payout));
  t.is(await twinOf('B', 'payout', 2, 200), 'S');
  t.is(await twinOf('A', 'payout', 2, 200), null);
  t.is(await twinOf('B', 'payout', 1, 200), null);
  t.is(await twinOf('B', 'payout', 2, 201), null);
  t.is(await twinOf('B', 'remittance', 2, 200), null);
  await feed(db, settled('A', payout, reversed(3)));
  t.is(await twinOf('B', 'payout', 2, 200), null);
  await feed(db, settled('A', payout, reversed(3), settlement('payout', 2, parts, 's')));
  t.is(await twinOf('B', 'payout', 2, 200), 's', 'as it was spelled last');
});

test.serial(
  'a charge is in a payout until that is reversed, and again if it is recorded again',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    const [one, other] = ['P/2', 'Q/2'].map(chargeNameOf);
    const parts = [{ account: 'gateway:fpx', openedOn: null, amountSen: 200 }];
    const payout = (charges: string) => settlement('payout', 2, parts, 'PO-A', charges);
    const row = { transactionId: 'R', gatewayTransactionId: '', amountSen: sen(1) };
    const asked = [one, other].map((charge = '', index) => ({ ...row, line: index + 2, charge }));
    const found = async (id = 'B') => Object.fromEntries(await findPaidOut(db, id, asked));
    const events = [payout(`${one}${other}`), reversed(3), payout(`${other}`)];
    await feed(db, settled('A', ...events.slice(0, 1)));
    t.deepEqual(await found(), { 2: 'PO-A', 3: 'PO-A' });
    t.deepEqual(await found('A'), {}, 'the payout itself is no other');
    await feed(db, settled('A', ...events.slice(0, 2)));
    t.deepEqual(await found(), {});
    await feed(db, settled('A', ...events));
    t.deepEqual(await found(), { 3: 'PO-A' });
    await clearJournal(db);
    await feed(db, settled('A', ...events));
    t.deepEqual(await found(), { 3: 'PO-A' }, 'also where all of it is read at once');
  },
);

test.serial(
  'more settled than came shows as a negative amount, and as of an earlier time it did not',
  async (t) => {
    const db = await emptyJournal(t, postgres);
    await feed(db, recorded('P', paid({ at: timeOn(0) })));
    await feed(
      db,
      settled('A', settlement('payout', 5, [{ account: 'gateway:fpx', openedOn: null, amountSen: 1_500 }])),
    );
    const none = [0n, 0n, 0n, 0n, 0n];
    const merchant = (age: number) => ({
      account: 'merchant:council',
      figures: [...none.with(age, 1_001n), 0n, 1_001n],
    });
    t.deepEqual(await openIn(db, 4), [{ ...merchant(2), account: 'gateway:fpx' }, merchant(2)]);
    t.deepEqual(await openIn(db, 5), [
      { account: 'gateway:fpx', figures: [...none, -499n, -499n] },
      merchant(2),
    ]);
    t.deepEqual(await openIn(db, 40), [
      { account: 'gateway:fpx', figures: [...none, -499n, -499n] },
      merchant(4),
    ]);
  },
);
