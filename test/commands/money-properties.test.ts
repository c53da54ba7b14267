// Properties of money over the life of a payment: charges with fees, wrong amounts, duplicates, parts, refunds and
// reversals, in any order. Staff do only what the console offers them.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { type PaymentCommand, paymentDecider } from '../../src/commands/payment.ts';
import type { StaffAction } from '../../src/events/approvals.ts';
import { chargesOf, priceOf } from '../../src/events/charges.ts';
import { exceptionsOf, holdsMoneyInSuspense, resolutionsFor } from '../../src/events/exceptions.ts';
import type { Payment, PaymentEvent, RequestedPayment } from '../../src/events/payment.ts';
import { type Account, type Books, enter } from '../../src/events/postings.ts';
import { amountSen, choose, chosen, orderNo, record, requested, result, sen } from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const { decide, evolve, initial } = paymentDecider;
const startMs = Date.parse('2026-11-20T01:00:00.000Z');
const feeSen = 150;

type Step = (state: RequestedPayment, at: string) => PaymentCommand | null;

const half = amountSen / 2;
/** What the gateway's transactions are in truth: their amounts, and the orders that they are of. */
const truth = {
  P1: [amountSen, 1],
  P2: [half, 1],
  P3: [amountSen + feeSen, 2],
  P4: [half + feeSen, 2],
} as const;

/** A report may leave out anything but the amount. */
const report = fc.record({
  charge: fc.constantFrom(...(Object.keys(truth) as (keyof typeof truth)[])),
  outcome: fc.constantFrom('succeeded', 'succeeded', 'succeeded', 'failed', 'pending'),
  isOrderNamed: fc.boolean(),
  isTransactionNamed: fc.boolean(),
  mode: fc.constantFrom('', 'fpx', 'cc'),
  source: fc.constantFrom('gateway', 'requery'),
});

/** `wrong` is an amount that the gateway reports instead of the right one, now and then. */
const reportsOf = (wrong: fc.Arbitrary<number | null>): fc.Arbitrary<Step> =>
  fc
    .tuple(report, wrong)
    .map(([{ charge, isOrderNamed, isTransactionNamed, mode, outcome, source }, other]) => (_, at) => {
      const [amount, attempt] = truth[charge];
      const named = {
        mode,
        sellerOrderNo: isOrderNamed ? orderNo(attempt) : '',
        gatewayTransactionId: isTransactionNamed ? charge : '',
        amountSen: sen(other ?? amount),
        paidAt: at,
      };
      return record(result(attempt, outcome, named), { at, source });
    });

const terms = { toldOf: [], takesParts: true, approvalAboveSen: null };
const staff: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom('resolve', 'refund'), fc.nat(5), fc.nat(3), fc.constantFrom(1, 2, 100))
  .map(([what, which, how, part]) => (state, at) => {
    const action = what === 'resolve' ? resolutionOf(state, which, how) : refundOf(state, which, part, at);
    return action && { type: 'TakeAction', at, by: 'staff:one', terms, action };
  });

const choices: fc.Arbitrary<Step> = fc
  .constantFrom(0, feeSen)
  .map(
    (charge) => (state, at) => choose(state.attempts.length + 1, { at, mode: 'cc', chargeSen: sen(charge) }),
  );

function resolutionOf(state: RequestedPayment, which: number, how: number): StaffAction | null {
  const open = exceptionsOf(state).filter(({ resolved }) => !resolved);
  const exception = open[which % open.length];
  if (!exception) return null;
  const offered = resolutionsFor(state, exception);
  const resolution = offered[how % offered.length] ?? 'explained';
  return { kind: 'resolution', resultNo: exception.resultNo, resolution, note: 'Done' };
}

/** Of a charge that is left: all, half, or a sen or so. */
function refundOf(
  state: RequestedPayment,
  which: number,
  part: number,
  reference: string,
): StaffAction | null {
  const left = chargesOf(state).filter(({ leftSen }) => leftSen > 0);
  const charge = left[which % left.length];
  if (!charge) return null;
  const refundedSen = sen(Math.ceil(charge.leftSen / part));
  return {
    kind: 'refund',
    chargeNo: charge.resultNo,
    amountSen: refundedSen,
    gatewayReference: reference,
    reason: '',
  };
}

const livesWith = (reports: fc.Arbitrary<Step>) =>
  fc.array(
    fc.oneof(
      { weight: 5, arbitrary: reports },
      { weight: 4, arbitrary: staff },
      { weight: 1, arbitrary: choices },
    ),
    { minLength: 4, maxLength: 16, size: 'max' },
  );
const anyLives = livesWith(reportsOf(fc.option(fc.constantFrom(amountSen, half - 1, 1))));
const truthfulLives = livesWith(reportsOf(fc.constant(null)));

const beginning: PaymentEvent[] = [
  requested(),
  chosen(1),
  chosen(2, { mode: 'cc', bankCode: '', chargeSen: sen(feeSen) }),
];

function play(steps: readonly Step[]) {
  const events = [...beginning];
  let state: Payment = events.reduce(evolve, initial);
  for (const [index, step] of steps.entries()) {
    if (state.status === 'none') break;
    const command = step(state, new Date(startMs + index * 3_600_000).toISOString());
    const decided = command && decide(command, state);
    if (!decided || decided instanceof Refused) continue;
    events.push(...decided);
    state = decided.reduce(evolve, state);
  }
  if (state.status === 'none') throw new Error('It was requested');
  return { events, state };
}

type Balances = Map<Account, bigint>;

function add(balances: Balances, account: Account, senOrBigint: number | bigint): void {
  balances.set(account, (balances.get(account) ?? 0n) + BigInt(senOrBigint));
}

/** Credits less debits of each account. */
function bookedBy(events: readonly PaymentEvent[]): { balances: Balances; books: Books | null } {
  const balances: Balances = new Map();
  let books: Books | null = null;
  for (const event of events) {
    const entered: ReturnType<typeof enter> = enter(books, event);
    books = entered.books;
    for (const { account, creditSen, debitSen } of entered.entry?.postings ?? [])
      add(balances, account, creditSen - debitSen);
  }
  return { balances, books };
}

test('the accounts hold what is left of each charge and what is open for staff', (t) => {
  fc.assert(
    fc.property(anyLives, (life) => {
      const { events, state } = play(life);
      const { balances, books } = bookedBy(events);
      for (const { feeSen: fee, leftSen, mode } of chargesOf(state)) {
        const feeLeft = Math.min(fee, leftSen);
        add(balances, 'merchant:council', feeLeft - leftSen);
        add(balances, `charges:${mode || 'unknown'}`, -feeLeft);
        add(balances, `gateway:${mode || 'unknown'}`, leftSen);
      }
      for (const { amountSen: heldSen, kind, resolved, resultNo } of exceptionsOf(state)) {
        if (resolved || !holdsMoneyInSuspense(kind) || !heldSen) continue;
        add(balances, kind === 'duplicate' ? 'suspense:duplicate' : 'suspense:mismatch', -heldSen);
        const held = books?.held.find((each) => each.resultNo === resultNo);
        if (held) add(balances, held.gateway, heldSen);
      }
      for (const [account, leftSen] of balances) t.is(leftSen, 0n, account);
    }),
    { numRuns: runs(8_000) },
  );
});

test('what a receipt says that was paid never changes', (t) => {
  fc.assert(
    fc.property(anyLives, (life) => {
      let state: Payment = initial;
      const told = new Set<string>();
      for (const event of play(life).events) {
        state = evolve(state, event);
        if (state.status === 'succeeded') told.add(JSON.stringify(priceOf(state)));
      }
      t.true(told.size <= 1, [...told].join());
    }),
    { numRuns: runs(8_000) },
  );
});

test('however incompletely a transaction is reported, the books have it once', (t) => {
  fc.assert(
    fc.property(truthfulLives, (life) => {
      const { state } = play(life);
      const held = exceptionsOf(state)
        .filter(({ kind, resolved }) => !resolved && holdsMoneyInSuspense(kind))
        .flatMap(({ resultNo }) => state.results[resultNo - 1] ?? []);
      const named = [...chargesOf(state), ...held]
        .map(({ gatewayTransactionId }) => gatewayTransactionId)
        .filter((id) => id !== '');
      t.is(new Set(named).size, named.length, named.join());
    }),
    { numRuns: runs(8_000) },
  );
});
