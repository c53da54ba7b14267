// Decisions about the verdict of staff on an attempt whose outcome nobody knows: given, when, then.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import type { GiveVerdict } from '../../src/commands/unknown-attempt-outcomes.ts';
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import { unknownOutcomesOf } from '../../src/events/unknown-attempt-outcomes.ts';
import {
  amountSen,
  applied,
  chosen,
  contradicted,
  orderNo,
  plain,
  record,
  requested,
  result,
  sen,
  succeeded,
} from '../support/payments.ts';

const at = '2026-11-25T03:00:00.000Z';
const unknown = (attempt: number): PaymentEvent => ({
  type: 'AttemptOutcomeUnknown',
  data: { at: '2026-11-21T03:00:00.000Z', orderNo: orderNo(attempt) },
});
const charged: GiveVerdict = {
  type: 'GiveVerdict',
  at,
  no: 1,
  outcome: 'succeeded',
  amountSen,
  gatewayTransactionId: 'P9',
  evidence: 'Bank statement of 20 November, line 7',
};
const notCharged: GiveVerdict = { ...charged, outcome: 'failed', amountSen: null, gatewayTransactionId: '' };

const fold = (events: readonly PaymentEvent[]) => [requested(), ...events].reduce(evolve, noPayment);

function give(given: readonly PaymentEvent[], verdict: GiveVerdict): readonly PaymentEvent[] {
  const events = paymentDecider.decide(verdict, fold(given));
  if (events instanceof Refused) throw events;
  return events;
}

const types = (events: readonly PaymentEvent[]) => events.map(({ type }) => type);

function settledIn(events: readonly PaymentEvent[]) {
  const state = fold(events);
  return state.status === 'none'
    ? []
    : unknownOutcomesOf(state).map(({ settled }) => settled?.outcome ?? null);
}

test('charged: the payment is paid by staff, about that attempt, with what they named as evidence', (t) => {
  const given = [chosen(1, { mode: 'cc' }), chosen(2), unknown(1)];
  t.deepEqual(settledIn(given), [null]);
  const [paid, ...more] = give(given, charged);
  t.deepEqual(more, []);
  const result = { mode: 'cc', sellerOrderNo: orderNo(1), gatewayTransactionId: 'P9', amountSen };
  const said = { at, source: 'staff', verified: true, orderNo: orderNo(1), late: false, result } as const;
  t.like(paid, { type: 'PaymentSucceeded', data: said });
  t.deepEqual(paid && 'evidence' in paid.data && plain(paid.data.evidence), {
    verdict: 'succeeded',
    evidence: charged.evidence,
  });
  t.deepEqual(settledIn(paid ? [...given, paid] : []), ['succeeded']);
});

test('charged after all: a late success, a double charge or a wrong amount, as with any result', (t) => {
  const failedThen = [chosen(1), chosen(2), applied(result(1, 'failed')), unknown(2)];
  t.like(give(failedThen, charged)[0], { type: 'PaymentSucceeded', data: { late: true } });
  const paidThen = [chosen(1), chosen(2), succeeded(result(1, 'succeeded')), unknown(2)];
  t.deepEqual(types(give(paidThen, charged)), ['DuplicatePaymentDetected']);
  t.deepEqual(types(give([chosen(1), unknown(1)], { ...charged, amountSen: sen(1) })), [
    'AmountMismatchDetected',
  ]);
});

test('not charged: an open payment fails; one that was paid by another attempt keeps its status without a contradiction', (t) => {
  t.deepEqual(types(give([chosen(1), unknown(1)], notCharged)), ['PaymentFailed']);
  const given = [chosen(1), chosen(2), succeeded(result(1, 'succeeded')), unknown(2)];
  t.deepEqual(settledIn(given), [null]);
  const firstFailed = [chosen(1), chosen(2), unknown(1), applied(result(1, 'failed'))];
  t.deepEqual(settledIn([...firstFailed, succeeded(result(2, 'succeeded'))]), ['failed']);
  const events = give(given, notCharged);
  t.deepEqual(types(events), ['AttemptEnded']);
  t.deepEqual(settledIn([...given, ...events]), ['failed']);
});

test('not charged: also an attempt that had failed before the gateway reported it as pending again', (t) => {
  const again = applied(result(1, 'pending', { gatewayTransactionId: 'P2' }));
  for (const paidAt of ['2026-11-20T01:04:30.000Z', null]) {
    const given = [chosen(1), applied(result(1, 'failed', { paidAt })), again, unknown(1)];
    const failed = give(given, notCharged);
    t.deepEqual(types(failed), ['PaymentFailed']);
    t.deepEqual(settledIn([...given, ...failed]), ['failed']);
    const paidByAnother = [...given, chosen(2), succeeded(result(2, 'succeeded'))];
    t.deepEqual(types(give(paidByAnother, notCharged)), ['AttemptEnded']);
  }
});

test('a verdict that would only complete an earlier report, and leave the attempt open, is refused', (t) => {
  const { amountSen, ...wrong } = result(1, 'succeeded', { sellerOrderNo: '', amountSen: sen(6_025) });
  const state = fold([chosen(1)]);
  const mismatch = paymentDecider.decide(record({ ...wrong, amountSen }), state) as PaymentEvent[];
  const pendingSince = applied(result(1, 'pending', { gatewayTransactionId: 'P2' }));
  const given = [chosen(1), ...mismatch, pendingSince, unknown(1)];
  const verdict = { ...charged, amountSen, gatewayTransactionId: '' };
  t.is(t.throws(() => give(given, verdict), { instanceOf: Refused }).code, 'charge_recorded');
  t.deepEqual(settledIn(given), [null]);
  t.deepEqual(settledIn([...given, ...give(given, charged)]), ['succeeded']);
});

test('sent twice it is the same; another verdict, or one after a result has come, is refused', (t) => {
  const given = [chosen(1), unknown(1)];
  const settled = [...given, ...give(given, charged)];
  const unnamed = { ...charged, gatewayTransactionId: '' };
  t.deepEqual(give(settled, charged), []);
  t.deepEqual(give(settled, unnamed), []);
  const code = (events: readonly PaymentEvent[], verdict: GiveVerdict) =>
    t.throws(() => give(events, verdict), { instanceOf: Refused }).code;
  t.is(code(settled, notCharged), 'exception_resolved');
  t.is(code(settled, { ...charged, gatewayTransactionId: 'P8' }), 'exception_resolved');
  t.is(code(settled, { ...charged, amountSen: sen(1) }), 'exception_resolved');
  const reported = succeeded(result(1, 'succeeded', { gatewayTransactionId: 'P9' }));
  t.is(code([...given, reported], charged), 'exception_resolved', 'the gateway has said it');
  t.is(
    code([...given, ...give(given, unnamed)], charged),
    'exception_resolved',
    'its number is not recorded',
  );
  t.is(code([...given, succeeded(result(1, 'succeeded'))], charged), 'exception_resolved');
  t.is(code(given, { ...charged, no: 2 }), 'unknown_exception');
  t.is(code([chosen(1)], charged), 'unknown_exception', 'the registry is still being asked');
  const recorded = [chosen(1), chosen(2), unknown(1), succeeded(result(1, 'succeeded')), unknown(2)];
  const same = { ...charged, no: 2, gatewayTransactionId: 'P1' };
  t.is(code(recorded, same), 'charge_recorded');
  t.is(code(recorded, { ...same, amountSen: sen(1) }), 'charge_recorded');
  const pending = [...given, applied(result(1, 'pending', { gatewayTransactionId: 'P3' }))];
  t.is(code(pending, { ...notCharged, gatewayTransactionId: 'P1' }), 'charge_recorded', 'P3 is pending');
  t.is(t.throws(() => paymentDeciderOnNothing()).message, 'Payment not found');
});

function paymentDeciderOnNothing(): never {
  throw paymentDecider.decide(charged, noPayment) as Refused;
}

test('not charged: another transaction of the order has failed, and the pending one has ended too', (t) => {
  const pending = applied(result(1, 'pending', { gatewayTransactionId: 'P3' }));
  const failed = contradicted(result(1, 'failed', { gatewayTransactionId: 'P1' }), 'pending');
  const given = [chosen(1), pending, failed, unknown(1)];
  t.deepEqual(settledIn(given), [null]);
  const decided = give(given, notCharged);
  t.like(decided[0], {
    data: { source: 'staff', result: { outcome: 'failed', gatewayTransactionId: 'P3' } },
  });
  t.deepEqual(settledIn([...given, ...decided]), ['failed']);
});
