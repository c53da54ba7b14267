// Properties of what others do to a payment over weeks: requeries, verdicts, refunds, approvals, cancellations, deliveries
// and erasures beside results.
// What is decided for one command is what the next one begins with.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { type PaymentCommand, paymentDecider } from '../../src/commands/payment.ts';
import type { RecordRequery } from '../../src/commands/requery.ts';
import { isInBooks } from '../../src/commands/same-money.ts';
import { verdicts } from '../../src/commands/unknown-attempt-outcomes.ts';
import type { StaffAction } from '../../src/events/approvals.ts';
import { exceptionsOf, holdsMoneyInSuspense, resolutionsFor } from '../../src/events/exceptions.ts';
import { type Channel, type PaymentEvent, readPaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import type { RegistryAnswer, ReportedResult } from '../../src/events/payment-result.ts';
import { isClosed } from '../../src/events/payment-standing.ts';
import { type Account, type Books, enter } from '../../src/events/postings.ts';
import { type RecordedResult, resolutions, resultRoles } from '../../src/events/recorded-result.ts';
import { openAttempts } from '../../src/events/requery-schedule.ts';
import { unknownOutcomesOf } from '../../src/events/unknown-attempt-outcomes.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { choices, results } from '../support/arbitraries.ts';
import { amountSen, choose, chosen, orderNo, record, requested, result, sen } from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const { decide, evolve, initial } = paymentDecider;
const startMs = Date.parse('2026-11-20T01:00:00.000Z');
const minute = 60_000;
const day = 24 * 60 * minute;

/** All successes, else the latest other record, as the registry's answer is read. */
function answerOf(reported: readonly ReportedResult[]): RegistryAnswer {
  const successes = reported.filter(({ outcome }) => outcome === 'succeeded');
  const counted = successes.length > 0 ? successes : reported.slice(-1);
  const [first] = counted;
  const status = first && first.outcome !== 'cancelled' ? first.outcome : 'not_found';
  const others = reported
    .filter((each) => !counted.includes(each))
    .map(({ outcome, ...record }) => ({
      ...record,
      status: outcome === 'cancelled' ? ('attempted' as const) : outcome,
    }));
  return { status, results: status === 'not_found' ? [] : counted, others, raw: {} };
}

const requery = (at: string, channel: Channel, answer: RegistryAnswer): RecordRequery => ({
  type: 'RecordRequery',
  at,
  channel,
  merchantCode: 'council',
  answer,
  counted: 'none',
});

/** Of few orders and in one currency, so that they meet. */
const reports = results.map(
  (each): ReportedResult => ({
    ...each,
    currency: '',
    sellerOrderNo: [orderNo(1), orderNo(2)].includes(each.sellerOrderNo) ? each.sellerOrderNo : '',
  }),
);

const terms = {
  toldOf: ['reversed', 'refunded', 'partlyPaid'],
  takesParts: true,
  approvalAboveSen: sen(100),
} as const;
/** Whom nobody has to approve. */
const alone = { ...terms, approvalAboveSen: null };
const nos = fc.integer({ min: 1, max: 3 });
const amounts = fc.constantFrom(amountSen, sen(amountSen / 2), sen(1));
const staff = fc.constantFrom('staff:one', 'staff:two');
const actions: fc.Arbitrary<StaffAction> = fc.oneof(
  fc.record({
    kind: fc.constant('resolution' as const),
    resultNo: nos,
    resolution: fc.constantFrom(...resolutions),
    note: fc.constant('Seen'),
  }),
  fc.record({
    kind: fc.constant('refund' as const),
    chargeNo: nos,
    amountSen: amounts,
    gatewayReference: fc.constantFrom('RF-1', 'RF-2'),
    reason: fc.constant('Asked'),
  }),
);

const commands: fc.Arbitrary<(at: string) => PaymentCommand> = fc.oneof(
  choices.map((choice) => () => choice),
  reports.map((each) => (at: string) => record(each, { at })),
  fc.tuple(fc.array(reports, { maxLength: 2 }), fc.constantFrom(...channels)).map(
    ([reported, channel]) =>
      (at: string) =>
        requery(at, channel, answerOf(reported)),
  ),
  fc
    .record({
      no: nos,
      outcome: fc.constantFrom(...verdicts),
      amountSen: fc.option(amounts),
      gatewayTransactionId: fc.constantFrom('', 'P1', 'P2'),
    })
    .map(({ amountSen: given, ...verdict }) => (at: string) => ({
      type: 'GiveVerdict' as const,
      at,
      ...verdict,
      amountSen: verdict.outcome === 'failed' ? null : (given ?? amountSen),
      evidence: 'A statement',
    })),
  fc.tuple(actions, staff, fc.boolean()).map(([action, by, isAlone]) => (at: string) => ({
    type: 'TakeAction' as const,
    at,
    by,
    terms: isAlone ? alone : terms,
    action,
  })),
  fc.constantFrom('payer', 'merchant', 'expiry').map((source) => (at: string) => ({
    type: 'CancelPayment' as const,
    at,
    source,
  })),
  fc
    .tuple(fc.constantFrom('callback-1', 'callback-2', 'item-01', 'email', 'notice-1'), fc.boolean())
    .map(([delivery, isDelivered]) => (at: string) => ({
      type: 'RecordDeliveryAttempt' as const,
      at,
      delivery,
      attempt: 1,
      durationMs: 1,
      outcome: isDelivered
        ? { kind: 'delivered' as const, status: 200, messageId: 'M' }
        : { kind: 'abandoned' as const, status: 410, reason: 'answered 410' },
    })),
  fc.constant((at: string) => ({ type: 'AddNote' as const, at, note: 'Rang the bank' })),
  fc.tuple(nos, fc.constantFrom('granted', 'rejected'), staff).map(([no, outcome, by]) => (at: string) => ({
    type: 'DecideApproval' as const,
    at,
    by,
    terms,
    no,
    outcome,
    note: '',
  })),
  fc.constant((at: string) => ({
    type: 'ErasePersonalData' as const,
    at,
    reason: 'requested' as const,
    destroyed: [],
  })),
);

type Step = readonly [commandAt: (at: string) => PaymentCommand, afterMs: number];
const steps: fc.Arbitrary<Step> = fc.tuple(commands, fc.constantFrom(0, minute, day, 8 * day));
/** Without the first attempt's outcome, or after its schedule of requeries has ended without one. */
const beginnings = fc.constantFrom<readonly PaymentEvent[]>(
  [],
  [{ type: 'AttemptOutcomeUnknown', data: { at: new Date(startMs).toISOString(), orderNo: orderNo(1) } }],
);
const lives = fc.tuple(beginnings, fc.array(steps, { minLength: 1, maxLength: 20 }));

function play([beginning, script]: readonly [readonly PaymentEvent[], readonly Step[]]) {
  const events: PaymentEvent[] = [requested(), chosen(1), ...beginning];
  let state = events.reduce(evolve, initial);
  let nowMs = startMs;
  for (const [commandAt, afterMs] of script) {
    nowMs += afterMs;
    const decided = decide(commandAt(new Date(nowMs).toISOString()), state);
    if (decided instanceof Refused) continue;
    events.push(...decided);
    state = decided.reduce(evolve, state);
  }
  return { events, state, at: new Date(nowMs + minute).toISOString() };
}

test('whatever is decided can be stored, read and entered in the books, which give back no more than they took', (t) => {
  fc.assert(
    fc.property(lives, (life) => {
      const { events } = play(life);
      const owed = new Map<Account, bigint>();
      let books: Books | null = null;
      for (const event of events) {
        t.deepEqual(readPaymentEvent({ ...event, metadata: { schemaVersion } }), event);
        const { entry, books: next }: ReturnType<typeof enter> = enter(books, event);
        books = next;
        let sum = 0n;
        for (const { account, debitSen, creditSen } of entry?.postings ?? []) {
          owed.set(account, (owed.get(account) ?? 0n) + debitSen - creditSen);
          sum += debitSen - creditSen;
        }
        t.is(sum, 0n);
        for (const [account, left] of owed) if (account.startsWith('gateway:')) t.true(left >= 0n, account);
      }
    }),
    { numRuns: runs(12_000) },
  );
});

test('staff can close what they are asked about an attempt, whatever came before', (t) => {
  fc.assert(
    fc.property(lives, (life) => {
      const { at, state } = play(life);
      const asked = state.status === 'none' ? [] : unknownOutcomesOf(state).filter(({ settled }) => !settled);
      return asked.every(({ no }) => {
        const verdict = {
          outcome: 'failed',
          amountSen: null,
          gatewayTransactionId: '',
          evidence: 'None',
        } as const;
        const decided = decide({ type: 'GiveVerdict', at, no, ...verdict }, state);
        if (decided instanceof Refused) return false;
        const after = decided.reduce(evolve, state);
        return after.status !== 'none' && unknownOutcomesOf(after)[no - 1]?.settled !== null;
      });
    }),
    { numRuns: runs(4_000) },
  );
  t.pass();
});

test('suspense holds what is open, and every resolution that is offered closes an exception', (t) => {
  fc.assert(
    fc.property(lives, (life) => {
      const { at, events, state } = play(life);
      if (state.status === 'none') return;
      const open = exceptionsOf(state).filter(({ resolved }) => !resolved);
      const heldSen = open
        .filter(({ kind }) => holdsMoneyInSuspense(kind))
        .reduce((sum, { amountSen: sen }) => sum + BigInt(sen ?? 0), 0n);
      t.is(suspenseSen(events), heldSen);
      for (const exception of open)
        for (const resolution of resolutionsFor(state, exception)) {
          const { resultNo } = exception;
          const action = { kind: 'resolution', resultNo, resolution, note: 'Done' } as const;
          const decided = decide({ type: 'TakeAction', at, by: 'staff:two', terms: alone, action }, state);
          const after = (decided as PaymentEvent[]).reduce(evolve, state);
          t.truthy(
            after.status !== 'none' &&
              exceptionsOf(after).find((each) => each.resultNo === resultNo)?.resolved,
          );
        }
    }),
    { numRuns: runs(8_000) },
  );
});

function suspenseSen(events: readonly PaymentEvent[]): bigint {
  let books: Books | null = null;
  let sum = 0n;
  for (const event of events) {
    const entered: ReturnType<typeof enter> = enter(books, event);
    books = entered.books;
    for (const { account, creditSen, debitSen } of entered.entry?.postings ?? [])
      if (account.startsWith('suspense:')) sum += creditSen - debitSen;
  }
  return sum;
}

test('a payment for which no bank and no member of staff has anything left to say can be paid', (t) => {
  fc.assert(
    fc.property(lives, (life) => {
      const { at, state } = play(life);
      if (state.status === 'none' || state.status === 'succeeded') return;
      const isWaiting =
        openAttempts(state).length > 0 || exceptionsOf(state).some(({ resolved }) => !resolved);
      if (isWaiting || isClosed(state, at)) return;
      const decided = decide(choose(state.attempts.length + 1, { at }), state);
      t.like(decided, [{ type: 'PaymentMethodChosen' }]);
    }),
    { numRuns: runs(8_000) },
  );
});

test('charges that nobody has named so far leave a trace, and are more than those that were known, whatever came before', (t) => {
  const reported = fc.record({
    attempt: fc.constantFrom(1, 2),
    changes: fc.constantFrom({}, { sellerOrderNo: '' }, { receiptNo: 'R-1' }),
    amountSen: amounts,
    source: fc.constantFrom('gateway', 'requery'),
  });
  fc.assert(
    fc.property(lives, reported, (life, { attempt, changes, amountSen: sen, source }) => {
      const { at, state } = play(life);
      const known = state.status === 'none' ? 0 : state.results.length;
      let after = state;
      const decided = Array.from({ length: known + 1 }, (_, index) => {
        const charge = { gatewayTransactionId: `UNHEARD-${index}`, amountSen: sen, ...changes };
        const events = decide(record(result(attempt, 'succeeded', charge), { at, source }), after);
        if (events instanceof Refused) return [];
        after = events.reduce(evolve, after);
        return events;
      });
      const isTraced = decided.every((events) => events.length > 0);
      return isTraced && decided.flat().some(({ type }) => type in resultRoles);
    }),
    { numRuns: runs(12_000) },
  );
  t.pass();
});

test('that the bank has taken back a charge reaches staff, whatever came before and whoever reports it', (t) => {
  fc.assert(
    fc.property(lives, fc.constantFrom('failed', 'cancelled'), fc.boolean(), (life, outcome, isBeside) => {
      const { at, state } = play(life);
      const results = state.status === 'none' ? [] : state.results;
      const charges = results.filter(
        (each) => each.outcome === 'succeeded' && isInBooks(each) && each.gatewayTransactionId !== '',
      );
      const reportOf = (
        { amountSen: sen, gatewayTransactionId, sellerOrderNo }: RecordedResult,
        ...[as, paidAt]: [ReportedResult['outcome'], string | null]
      ) => result(1, as, { amountSen: sen, gatewayTransactionId, sellerOrderNo, paidAt });
      return charges.every((charge) => {
        // The registry may report it beside the success of another charge.
        const others = charges.filter((each) => each.gatewayTransactionId !== charge.gatewayTransactionId);
        const beside = others
          .slice(0, isBeside ? 1 : 0)
          .map((each) => reportOf(each, 'succeeded', each.paidAt));
        const answer = answerOf([...beside, reportOf(charge, 'failed', at)]);
        const commands = [record(reportOf(charge, outcome, at), { at }), requery(at, 'generic', answer)];
        return commands.every((command) => {
          const decided = decide(command, state);
          if (decided instanceof Refused) return false;
          const after = decided.reduce(evolve, state);
          const exceptions = after.status === 'none' ? [] : exceptionsOf(after);
          return exceptions.some(({ kind, resolved }) => kind === 'contradiction' && !resolved);
        });
      });
    }),
    { numRuns: runs(12_000) },
  );
  t.pass();
});
