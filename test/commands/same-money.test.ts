// Each charge of the bank is in the books once, however often, by whom and how incompletely it is reported.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import type { Payment, PaymentEvent } from '../../src/events/payment.ts';
import { type Books, enter } from '../../src/events/postings.ts';
import { amountSen, chosen, orderNo, record, requested, result, sen } from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const { decide, evolve, initial } = paymentDecider;

/** Money that the bank took from the payer, once. */
type Charge = { attempt: number; id: string; sen: number };

/** The attempts of a payment, each with its fee, and what the bank charged. */
const banks = fc
  .record({
    fees: fc.array(fc.constantFrom(0, 50, 150), { minLength: 1, maxLength: 3 }),
    omitsIds: fc.boolean(),
    modes: fc.array(fc.constantFrom('fpx' as const, 'cc' as const), { minLength: 3, maxLength: 3 }),
    isCharged: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    offSen: fc.array(fc.constantFrom(0, 0, 0, 700), { minLength: 3, maxLength: 3 }),
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
  .filter(
    ({ charges, omitsIds }) => !omitsIds || new Set(charges.map((each) => each.sen)).size === charges.length,
  );

/** The gateway names the order; either may lack the transaction's id and the method. */
const reportsOf = (charge: Charge, mode: 'fpx' | 'cc', omitsIds: boolean) =>
  fc
    .tuple(fc.constantFrom('gateway', 'requery'), fc.boolean(), fc.boolean())
    .map(([source, hasId, hasMode]) => ({
      source: source as 'gateway' | 'requery',
      reported: result(charge.attempt, 'succeeded', {
        sellerOrderNo: source === 'gateway' ? orderNo(charge.attempt) : '',
        gatewayTransactionId: hasId || !omitsIds ? charge.id : '',
        mode: hasMode ? mode : '',
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
      amountSen: sen(charge.sen),
    });
    return fc
      .array(reportsOf(charge, mode, bank.omitsIds), { maxLength: 3 })
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

/** What the gateway owes us by the books. */
function bookedSen(events: readonly PaymentEvent[]): number {
  let books: Books | null = null;
  let sum = 0n;
  for (const event of events) {
    const entered = enter(books, event);
    books = entered.books;
    for (const { account, debitSen, creditSen } of entered.entry?.postings ?? [])
      if (account.startsWith('gateway:')) sum += debitSen - creditSen;
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

test('a gateway that never names its transactions: each charge is in the books once all the same', (t) => {
  const anonymous = histories.map(({ reports, ...bank }) => ({
    ...bank,
    reports: reports.map((each) => ({ ...each, reported: { ...each.reported, gatewayTransactionId: '' } })),
  }));
  fc.assert(
    fc.property(anonymous, (history) => {
      const sums = history.charges.map((charge) => charge.sen);
      fc.pre(new Set(sums).size === sums.length);
      return bookedSen(carryOut(history).events) === sums.reduce((sum, each) => sum + each, 0);
    }),
    { numRuns: runs(10_000) },
  );
  t.pass();
});
