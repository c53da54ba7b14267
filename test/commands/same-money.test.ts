// Each charge of the bank is in the books once, however often, by whom and how incompletely it is reported, and
// whatever staff do with it.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import type { StaffAction } from '../../src/events/approvals.ts';
import { exceptionsOf, holdsMoneyInSuspense } from '../../src/events/exceptions.ts';
import type { Payment, PaymentEvent, RequestedPayment } from '../../src/events/payment.ts';
import { type Books, enter } from '../../src/events/postings.ts';
import { receiptOf } from '../../src/receipts/receipt.ts';
import { compareRecords } from '../../src/reconciliation/compare.ts';
import type { ExportRecord } from '../../src/reconciliation/export-format.ts';
import {
  amountSen,
  chosen,
  opened,
  orderNo,
  record,
  requested,
  resolving,
  result,
  sen,
  transactionId,
} from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const { decide, evolve, initial } = paymentDecider;

/** Money that the bank took from the payer, once. */
type Charge = { attempt: number; id: string; sen: number };

const areDistinct = (sums: readonly number[]) => new Set(sums).size === sums.length;

/** The attempts of a payment, each with its fee, and what the bank charged. */
const banks = fc
  .record({
    fees: fc.array(fc.constantFrom(0, 50, 150), { minLength: 1, maxLength: 3 }),
    omitsIds: fc.boolean(),
    modes: fc.array(fc.constantFrom('fpx' as const, 'cc' as const), { minLength: 3, maxLength: 3 }),
    isCharged: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    offSen: fc.array(fc.constantFrom(0, 0, 0, 700, -amountSen / 2), { minLength: 3, maxLength: 3 }),
  })
  .map(({ fees, modes, isCharged, offSen, omitsIds }) => ({
    attempts: fees.map((fee, index) =>
      chosen(index + 1, { chargeSen: sen(fee), mode: modes[index] ?? 'fpx' }),
    ),
    charges: fees.flatMap((fee, index): Charge[] =>
      isCharged[index]
        ? [{ attempt: index + 1, id: `G${index + 1}`, sen: amountSen + fee + (offSen[index] ?? 0) }]
        : [],
    ),
    modes,
    omitsIds,
  }))
  // Nobody can tell reports of two charges of the same amount apart that name neither an order nor a transaction.
  .map((bank) => ({
    ...bank,
    omitsBoth: bank.omitsIds && areDistinct(bank.charges.map((each) => each.sen)),
  }));

const receiptNoOf = ({ id }: Charge) => `R-${id}`;

type Omissions = { omitsIds: boolean; omitsBoth: boolean };

/** The gateway names the order; either may lack the transaction's id, the method and the receipt number. */
const reportsOf = (charge: Charge, mode: 'fpx' | 'cc', { omitsIds, omitsBoth }: Omissions) =>
  fc
    .tuple(fc.constantFrom('gateway', 'requery'), fc.boolean(), fc.boolean(), fc.boolean())
    .map(([source, hasId, hasMode, hasReceipt]) => ({
      source: source as 'gateway' | 'requery',
      reported: result(charge.attempt, 'succeeded', {
        sellerOrderNo: source === 'gateway' ? orderNo(charge.attempt) : '',
        gatewayTransactionId: hasId || !(source === 'gateway' ? omitsIds : omitsBoth) ? charge.id : '',
        mode: hasMode ? mode : '',
        receiptNo: hasReceipt ? receiptNoOf(charge) : '',
        amountSen: sen(charge.sen),
      }),
    }));

/** Every charge is reported by the gateway with its order and its id at least once, in any order among the others. */
const histories = banks.chain((bank) => {
  const sets = bank.charges.map((charge) => {
    const mode = bank.modes[charge.attempt - 1] ?? 'fpx';
    const whole = result(charge.attempt, 'succeeded', {
      gatewayTransactionId: charge.id,
      mode,
      receiptNo: receiptNoOf(charge),
      amountSen: sen(charge.sen),
    });
    return fc
      .array(reportsOf(charge, mode, bank), { maxLength: 3 })
      .map((reports) => [...reports, { source: 'gateway' as const, reported: whole }]);
  });
  return fc
    .tuple(...sets)
    .map((all) => all.flat())
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }))
    .map((reports) => ({ ...bank, reports }));
});

function carryOut({ attempts, reports }: { attempts: PaymentEvent[]; reports: Parameters<typeof play>[1] }) {
  return play([requested(), ...attempts], reports);
}

function play(
  begun: readonly PaymentEvent[],
  reports: readonly { source: 'gateway' | 'requery'; reported: ReturnType<typeof result> }[],
) {
  let state: Payment = begun.reduce(evolve, initial);
  const events = [...begun];
  for (const { source, reported } of reports) {
    const decided = decide(record(reported, { source }), state);
    if (decided instanceof Refused) continue;
    events.push(...decided);
    state = decided.reduce(evolve, state);
  }
  return { events, state };
}

/** The sum of the accounts whose names begin like this, by the books: debits less credits. */
function bookedSen(events: readonly PaymentEvent[], accounts = 'gateway:'): number {
  let books: Books | null = null;
  let sum = 0n;
  for (const event of events) {
    const entered = enter(books, event);
    books = entered.books;
    for (const { account, debitSen, creditSen } of entered.entry?.postings ?? [])
      if (account.startsWith(accounts)) sum += debitSen - creditSen;
  }
  return Number(sum);
}

test('each charge of the bank is in the books once', (t) => {
  fc.assert(
    fc.property(histories, (history) => {
      const chargedSen = history.charges.reduce((sum, charge) => sum + charge.sen, 0);
      return bookedSen(carryOut(history).events) === chargedSen;
    }),
    { numRuns: runs(20_000) },
  );
  t.pass();
});

/** Of one amount; two of them are of one order. A report names the order, the transaction, or both. */
const alike = [
  { attempt: 1, id: 'G1' },
  { attempt: 1, id: 'G2' },
  { attempt: 2, id: 'G3' },
  { attempt: 3, id: 'G4' },
];
const partlyNamed = fc
  .record({
    whole: fc
      .subarray(alike, { minLength: 1 })
      .map((made) => made.map((charge) => ({ charge, names: 'both' }))),
    parts: fc.array(fc.record({ of: fc.nat(3), names: fc.constantFrom('order', 'transaction') }), {
      maxLength: 8,
    }),
  })
  .chain(({ whole, parts }) => {
    const partly = parts.map(({ of, names }) => ({ ...(whole[of % whole.length] ?? whole[0]), names }));
    const all = [...whole, ...partly] as typeof whole;
    return fc.shuffledSubarray(all, { minLength: all.length });
  });

type Named = { charge: (typeof alike)[number]; names: string };

/** The fewest charges that can be behind the reports: a transaction has one order, and an order may have several. */
function fewestCharges(reports: readonly Named[]): number {
  const named = (part: string) => reports.filter(({ names }) => names === part || names === 'both');
  const whole = reports.filter(({ names }) => names === 'both');
  const ids = new Set(named('transaction').map(({ charge }) => charge.id));
  const certain = new Set(whole.map(({ charge }) => charge.id));
  const paired = new Set(whole.map(({ charge }) => charge.attempt));
  const ordered = new Set(named('order').map(({ charge }) => charge.attempt));
  return certain.size + Math.max(ids.size - certain.size, ordered.size - paired.size);
}

const partly = (reports: readonly Named[]) =>
  reports.map(({ charge: { attempt, id }, names }) => ({
    source: 'gateway' as const,
    reported: result(attempt, 'succeeded', {
      sellerOrderNo: names === 'transaction' ? '' : orderNo(attempt),
      gatewayTransactionId: names === 'order' ? '' : id,
      receiptNo: '',
    }),
  }));

test('charges of one amount: after every report the books have as many as the reports show', (t) => {
  fc.assert(
    fc.property(partlyNamed, (reports) =>
      reports.every((_, index) => {
        const come = reports.slice(0, index + 1);
        const { events } = play([requested(), chosen(1), chosen(2), chosen(3)], partly(come));
        return bookedSen(events) === amountSen * fewestCharges(come);
      }),
    ),
    { numRuns: runs(3_000) },
  );
  t.pass();
});

test('charges of one amount, which is wrong for one of the attempts: the books lack none', (t) => {
  fc.assert(
    fc.property(partlyNamed, fc.integer({ min: 1, max: 3 }), (reports, dearer) => {
      const attempts = [1, 2, 3].map((no) => chosen(no, { chargeSen: sen(no === dearer ? 700 : 0) }));
      const { events } = play([requested(), ...attempts], partly(reports));
      return bookedSen(events) >= amountSen * fewestCharges(reports);
    }),
    { numRuns: runs(3_000) },
  );
  t.pass();
});

// An order and a transaction, '-' for one that is not named; '+' is another amount, which is that of attempt 2 if it has a
// fee. 'R1' is a refund of the first result.
const pairs: Record<string, { charges: number; others?: number; hasFee?: boolean }> = {
  '1- -A 1A 2- 1B': { charges: 3 },
  '1- -A 1B+ 2-': { charges: 2, others: 1 },
  '1-+ -A+ R1 2A+': { charges: 0, others: 0 },
  '1-+ -A+ R1 2-+ 1B+': { charges: 0, others: 2 },
  '-A 1- 1B 1A': { charges: 2, hasFee: true },
  '-A 1- 2A': { charges: 2, hasFee: true },
  '-A+ 1-+ 1B+': { charges: 0, others: 2, hasFee: true },
};

for (const [script, { charges, others = 0, hasFee = false }] of Object.entries(pairs))
  test(`${script}: ${charges} of the amount asked for and ${others} of another amount are in the books`, (t) => {
    const otherSen = amountSen + 700;
    const events = script.split(' ').reduce<PaymentEvent[]>(
      (before, step) => {
        if (step === 'R1')
          return acted(before, [{ kind: 'resolution', resultNo: 1, resolution: 'refunded', note: 'x' }]);
        const [order = '', id = '', other] = step;
        const reported = result(Number(order) || 1, 'succeeded', {
          sellerOrderNo: order === '-' ? '' : orderNo(Number(order)),
          gatewayTransactionId: id === '-' ? '' : id,
          amountSen: sen(other ? otherSen : amountSen),
          receiptNo: '',
        });
        return play(before, [{ source: 'gateway', reported }]).events;
      },
      [requested(), chosen(1), chosen(2, { chargeSen: sen(hasFee ? 700 : 0) })],
    );
    t.is(bookedSen(events), charges * amountSen + others * otherSen);
  });

test('a gateway that never names its transactions: each charge is in the books once all the same', (t) => {
  const anonymous = histories.map(({ reports, ...bank }) => ({
    ...bank,
    reports: reports.map((each) => ({ ...each, reported: { ...each.reported, gatewayTransactionId: '' } })),
  }));
  fc.assert(
    fc.property(anonymous, (history) => {
      const sums = history.charges.map((charge) => charge.sen);
      fc.pre(areDistinct(sums));
      return bookedSen(carryOut(history).events) === sums.reduce((sum, each) => sum + each, 0);
    }),
    { numRuns: runs(10_000) },
  );
  t.pass();
});

test('two charges that only their receipt numbers tell apart are two, unless only the registry names one of them', (t) => {
  const nameless = { sellerOrderNo: '', gatewayTransactionId: '' };
  for (const second of [nameless, { sellerOrderNo: '' }, { gatewayTransactionId: '' }]) {
    const reports = [
      result(1, 'succeeded', { ...nameless, receiptNo: 'RD-1' }),
      result(1, 'succeeded', { ...second, receiptNo: 'RD-2' }),
      result(1, 'succeeded', { ...nameless, receiptNo: 'RD-2' }),
      result(1, 'succeeded', { ...nameless, receiptNo: 'RD-1' }),
    ];
    const { events } = play(
      [requested(), chosen(1)],
      reports.map((reported) => ({ source: 'gateway', reported })),
    );
    t.deepEqual(
      events.slice(2).map(({ type }) => type),
      ['PaymentSucceeded', 'DuplicatePaymentDetected'],
    );
    const [first, otherForm] = reports;
    if (!first || !otherForm) return t.fail();
    const asked = play(
      [requested(), chosen(1)],
      [
        { source: 'gateway', reported: { ...first, gatewayTransactionId: 'P1' } },
        { source: 'requery', reported: { ...otherForm, gatewayTransactionId: '' } },
      ],
    );
    t.false(asked.events.some(({ type }) => type === 'DuplicatePaymentDetected'));
  }
});

for (const source of ['gateway', 'registry'] as const)
  test(`an export of the ${source} that has each charge once agrees with what was recorded of them`, (t) => {
    fc.assert(
      fc.property(histories, (history) => {
        const { state } = carryOut(history);
        const records = history.charges.map(
          ({ attempt, id, sen: charged }, index): ExportRecord => ({
            line: index + 2,
            transactionId,
            recordId: id,
            gatewayTransactionId: id,
            sellerOrderNo: source === 'gateway' ? orderNo(attempt) : '',
            merchantCode: '',
            status: 'succeeded',
            amountSen: sen(charged),
            currency: '',
            paidAt: null,
          }),
        );
        return compareRecords(records, state, source).every((verdict) => verdict.class === 'matched');
      }),
      { numRuns: runs(5_000) },
    );
    t.pass();
  });

/** Between and after the reports: staff act, the bank takes charges back, and reports come again. */
const staffHistories = histories.chain((history) => {
  const resultNo = fc.integer({ min: 1, max: 5 });
  const action: fc.Arbitrary<StaffAction> = fc.oneof(
    fc.record({
      kind: fc.constant('resolution' as const),
      resultNo,
      resolution: fc.constantFrom('refunded', 'credited', 'explained', 'reversed'),
      note: fc.constant('seen'),
    }) as fc.Arbitrary<StaffAction>,
    fc.record({
      kind: fc.constant('refund' as const),
      chargeNo: resultNo,
      amountSen: fc.constantFrom(sen(1), sen(amountSen / 2), sen(amountSen)),
      gatewayReference: fc.constantFrom('RF-1', 'RF-2', 'RF-3'),
      reason: fc.constant('seen'),
    }),
  );
  const step = fc.oneof(
    { weight: 3, arbitrary: action },
    { weight: 2, arbitrary: fc.constantFrom('next', 'again', 'taken back') },
  );
  // Without ids, nobody can tell a report of money that was refunded from one of other money.
  const early = history.omitsIds ? fc.constant(history.reports.length) : fc.nat(history.reports.length);
  return fc.tuple(fc.constant(history), early, fc.array(step, { maxLength: 10 }), fc.boolean());
});

test('whatever staff do, each charge is in the books once, less what went back, and in suspense while it is open', (t) => {
  fc.assert(
    fc.property(staffHistories, ([history, early, steps, takesParts]) => {
      const terms = { toldOf: [], takesParts, approvalAboveSen: null };
      const come = history.reports.slice(0, early);
      const coming = history.reports.slice(early);
      let { state, events } = carryOut({ ...history, reports: come });
      /** By the gateway's transaction: what the bank holds for us of each charge. */
      const held = new Map(history.charges.map(({ id, sen: charged }) => [id, charged]));
      const idOf = (resultNo: number) => {
        const found = state.status === 'none' ? null : state.results[resultNo - 1];
        const charge = history.charges.find(({ attempt }) => orderNo(attempt) === found?.sellerOrderNo);
        return found?.gatewayTransactionId || (charge?.id ?? '');
      };
      for (const step of steps) {
        if (step === 'next') {
          come.push(...coming.splice(0, 1));
          ({ state, events } = play(events, come.slice(-1)));
          continue;
        }
        if (step === 'again' || step === 'taken back') {
          const outcome = step === 'again' ? 'succeeded' : 'failed';
          const reports = come.map(({ source, reported }) => ({
            source,
            reported: { ...reported, outcome } as typeof reported,
          }));
          ({ state, events } = play(events, reports));
          continue;
        }
        // As long as the bank still reports a charge, staff do not explain it away.
        if (step.kind === 'resolution' && step.resolution === 'explained' && coming.length > 0) continue;
        const command = { type: 'TakeAction', at: '2026-12-01T00:00:00.000Z', by: 'staff:A', terms } as const;
        const decided = decide({ ...command, action: step }, state);
        if (decided instanceof Refused || decided.length === 0) continue;
        const id = idOf(step.kind === 'refund' ? step.chargeNo : step.resultNo);
        if (step.kind === 'refund') held.set(id, (held.get(id) ?? 0) - step.amountSen);
        // A contradiction of the same charge only says that there is nothing to do.
        else if (step.resolution !== 'credited' && !isOnlyExplained(state, step)) held.set(id, 0);
        events = [...events, ...decided];
        state = decided.reduce(evolve, state);
      }
      ({ state, events } = play(events, coming));
      if (state.status === 'none') return false;
      const open = exceptionsOf(state).filter(
        ({ kind, resolved }) => holdsMoneyInSuspense(kind) && !resolved,
      );
      const openSen = open.reduce((sum, each) => sum + (each.amountSen ?? 0), 0);
      const heldSen = [...held.values()].reduce((sum, each) => sum + each, 0);
      return bookedSen(events) === heldSen && bookedSen(events, 'suspense:') === -openSen;
    }),
    { numRuns: runs(20_000) },
  );
  t.pass();
});

function isOnlyExplained(
  state: Payment,
  { resultNo, resolution }: StaffAction & { kind: 'resolution' },
): boolean {
  const role = state.status === 'none' ? null : state.results[resultNo - 1]?.role;
  return resolution === 'explained' && role !== 'amountMismatch' && role !== 'duplicate';
}

for (const resolution of ['refunded', 'explained'] as const)
  test(`a report of money that staff have ${resolution} pays nothing, even if it is what is outstanding now`, (t) => {
    const half = (attempt: number, over = {}) =>
      result(attempt, 'succeeded', { amountSen: sen(amountSen / 2), ...over });
    const { state, events } = play(
      [requested(), chosen(1), chosen(2)],
      [half(1), half(2)].map((reported) => ({ source: 'gateway', reported })),
    );
    const terms = { toldOf: [], takesParts: true, approvalAboveSen: null };
    const credited = { ...resolving(1, 'credited'), terms };
    const settled = [credited, resolving(2, resolution)].reduce<Payment>((payment, command) => {
      const decided = decide(command, payment);
      return decided instanceof Refused ? payment : decided.reduce(evolve, payment);
    }, state);
    t.is(settled.status, 'partlyPaid');
    t.is(events.length, 5);
    for (const named of [{ gatewayTransactionId: '' }, { sellerOrderNo: '' }, {}])
      t.deepEqual(decide(record(half(2, named)), settled), []);
    t.like(decide(record(half(3)), settled), [{ type: 'PaymentSucceeded' }]);
  });

for (const over of [{}, { gatewayTransactionId: '' }])
  test(`a report that names nothing pays what is outstanding, although that much was refunded: ${JSON.stringify(over)}`, (t) => {
    const reports = [
      result(1, 'succeeded', { amountSen: sen(6_000), ...over }),
      result(2, 'succeeded', { amountSen: sen(6_050) }),
    ];
    const { events } = play(
      [requested(), chosen(1), chosen(2)],
      reports.map((reported) => ({ source: 'gateway', reported })),
    );
    const settled = acted(events, [
      { kind: 'resolution', resultNo: 1, resolution: 'refunded', note: 'x' },
      { kind: 'resolution', resultNo: 2, resolution: 'credited', note: 'x' },
    ]);
    const named = { amountSen: sen(6_000), sellerOrderNo: '', gatewayTransactionId: '' };
    const decided = decide(record(result(1, 'succeeded', named)), settled.reduce(evolve, initial));
    t.like(decided, [{ type: 'PaymentSucceeded' }]);
  });

/** The events after what staff do; it throws where they are refused. */
function acted(begun: readonly PaymentEvent[], actions: readonly StaffAction[]): PaymentEvent[] {
  const terms = { toldOf: [], takesParts: true, approvalAboveSen: null };
  const events = [...begun];
  for (const action of actions) {
    const context = { at: '2026-11-22T00:00:00.000Z', by: 'staff:A', terms };
    const decided = decide({ type: 'TakeAction', action, ...context }, events.reduce(evolve, initial));
    if (decided instanceof Refused) throw decided;
    events.push(...decided);
  }
  return events;
}

const refundOf = (chargeNo: number, amount: number): StaffAction => ({
  kind: 'refund',
  chargeNo,
  amountSen: sen(amount),
  gatewayReference: 'RF-1',
  reason: 'x',
});

test('a refund leaves the account to which the money came, although a later report names an order of another method', (t) => {
  const report = (sellerOrderNo: string) =>
    result(1, 'succeeded', { mode: '', sellerOrderNo, gatewayTransactionId: 'T' });
  const { events, state } = play(
    [requested(), chosen(1, { mode: 'fpx' }), chosen(2, { mode: 'cc' })],
    [report(''), report(orderNo(1))].map((reported) => ({ source: 'gateway', reported })),
  );
  t.like(events.at(-1), { type: 'GatewayResultIdentified' });
  t.is(bookedSen(events, 'gateway:cc'), amountSen);
  t.is(receiptOf(opened(state as RequestedPayment)).mode, 'cc');
  const refunded = acted(events, [refundOf(1, amountSen)]);
  t.is(bookedSen(refunded, 'gateway:cc'), 0);
  t.is(bookedSen(refunded, 'gateway:fpx'), 0);
});

test('a part that came before any attempt is refunded from the account to which it came', (t) => {
  const reported = result(1, 'succeeded', { mode: '', sellerOrderNo: '', amountSen: sen(6_000) });
  const { events } = play([requested()], [{ source: 'gateway', reported }]);
  const credited = acted(events, [{ kind: 'resolution', resultNo: 1, resolution: 'credited', note: 'x' }]);
  const refunded = acted([...credited, chosen(1)], [refundOf(1, 6_000)]);
  t.is(bookedSen(refunded, 'gateway:unknown'), 0);
  t.is(bookedSen(refunded, 'gateway:fpx'), 0);
});

test('a transaction whose money was refunded pays nothing, whatever amount is reported of it later', (t) => {
  const wrong = result(1, 'succeeded', { amountSen: sen(9_000) });
  const { events } = play([requested(), chosen(1), chosen(2)], [{ source: 'gateway', reported: wrong }]);
  const refunded = acted(events, [{ kind: 'resolution', resultNo: 1, resolution: 'refunded', note: 'x' }]);
  for (const amount of [amountSen, 9_500]) {
    const reported = result(1, 'succeeded', { amountSen: sen(amount) });
    const once = play(refunded, [{ source: 'gateway', reported }]);
    t.like(once.events.at(-1), { type: 'GatewayResultContradicted', data: { standing: 'succeeded' } });
    t.is(bookedSen(once.events), 0);
    t.deepEqual(play(once.events, [{ source: 'requery', reported }]).events, once.events);
    const paid = play(once.events, [{ source: 'gateway', reported: result(2, 'succeeded') }]);
    t.is(paid.state.status, 'succeeded');
  }
});

test('a report names the transaction of the money that is in the books, not of what that superseded', (t) => {
  const report = (over: Parameters<typeof result>[2]) => ({
    source: 'gateway' as const,
    reported: result(1, 'succeeded', over),
  });
  const { state } = play(
    [requested(), chosen(1), chosen(2, { chargeSen: sen(50) })],
    [report({ sellerOrderNo: '' }), report({ gatewayTransactionId: '' }), report({})],
  );
  t.like(state, {
    results: [
      { role: 'amountMismatch', resolved: { resolution: 'superseded' } },
      { role: 'applied', gatewayTransactionId: 'P1' },
    ],
  });
});
