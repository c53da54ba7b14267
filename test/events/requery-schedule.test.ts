// When the registry is asked about an open payment, from question to question in simulated time.
import test from 'ava';
import fc from 'fast-check';
import { evolve, noPayment, type PaymentEvent, type RequestedPayment } from '../../src/events/payment.ts';
import { nextRequeryAt, requeryAgainAt } from '../../src/events/requery-schedule.ts';
import { events } from '../support/arbitraries.ts';
import { applied, chosen, request, requested, requestedAt, result } from '../support/payments.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function after(...happened: readonly PaymentEvent[]): RequestedPayment {
  const payment = happened.reduce(evolve, noPayment);
  if (payment.status === 'none') throw new Error('nothing was requested');
  return payment;
}

const answeredAt = (at: string): PaymentEvent => ({
  type: 'RequeryAnswered',
  data: { at, status: 'attempted', evidence: { plain: {} } },
});

/** Milliseconds after the attempt at which each question is due, when each is asked the moment it is. */
function questions(...happened: readonly PaymentEvent[]): number[] {
  let payment = after(...happened);
  const dueMs: number[] = [];
  for (let next = nextRequeryAt(payment); next; next = nextRequeryAt(payment)) {
    dueMs.push(Date.parse(next) - Date.parse(requestedAt));
    payment = after(...happened, answeredAt(next));
  }
  return dueMs;
}

/** Within a tenth later than planned. */
function near(actualMs: readonly number[], plannedMs: readonly number[]): boolean {
  return (
    actualMs.length === plannedMs.length &&
    plannedMs.every((planned, index) => {
      const actual = actualMs[index] ?? 0;
      return actual >= planned && actual < planned * 1.1;
    })
  );
}

const planned = (hours: number) => [
  2 * minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  ...Array.from({ length: hours }, (_, index) => (index + 1) * hourMs),
];

test('2, 5 and 15 minutes after the attempt, then every hour for a day', (t) => {
  t.true(near(questions(requested(), chosen(1)), planned(24)));
  t.true(near(questions(requested(), chosen(1), applied(result(1, 'pending'))), planned(24)));
});

test('a corporate payment is asked about for seven days', (t) => {
  t.true(near(questions(requested(), chosen(1, { mode: 'fpx1' })), planned(168)));
});

test('the questions about payments of one moment are spread out', (t) => {
  const at = (transactionId: string) =>
    nextRequeryAt(after({ type: 'PaymentRequested', data: request({ transactionId }) }, chosen(1)));
  t.true(new Set(Array.from({ length: 50 }, (_, index) => at(`T${index}`))).size > 10);
});

test('a payment without an attempt, or one that has ended, is not asked about', (t) => {
  t.is(nextRequeryAt(after(requested())), null);
  for (const outcome of ['succeeded', 'failed', 'cancelled'] as const)
    t.is(nextRequeryAt(after(requested(), chosen(1), applied(result(1, outcome)))), null);
});

test('a new attempt after a failure starts the schedule anew', (t) => {
  const secondAt = '2026-11-20T05:00:00.000Z';
  const failed = applied(result(1, 'failed'));
  const pending = applied(result(2, 'pending'));
  const next = nextRequeryAt(after(requested(), chosen(1), failed, chosen(2, { at: secondAt }), pending));
  t.true(near([Date.parse(next ?? '') - Date.parse(secondAt)], [2 * minuteMs]));
});

test('times that were missed while nothing ran make one question', (t) => {
  const back = '2026-11-20T06:30:00.000Z';
  t.true((nextRequeryAt(after(requested(), chosen(1))) ?? '') < back);
  const next = nextRequeryAt(after(requested(), chosen(1), answeredAt(back)));
  t.true(near([Date.parse(next ?? '') - Date.parse(requestedAt)], [6 * hourMs]));
});

test('after any events, the answer is a time or null', (t) => {
  fc.assert(
    fc.property(fc.array(events), (happened) => {
      const payment = [requested(), ...happened].reduce(evolve, noPayment);
      const next = payment.status === 'none' ? null : nextRequeryAt(payment);
      return next === null || new Date(next).toISOString() === next;
    }),
  );
  t.pass();
});

test('after any events, a question that fails is asked again later', (t) => {
  fc.assert(
    fc.property(fc.array(events), fc.integer({ min: 0, max: 30 * 24 * hourMs }), (happened, lateMs) => {
      const payment = [requested(), ...happened].reduce(evolve, noPayment);
      const next = payment.status === 'none' ? null : nextRequeryAt(payment);
      if (payment.status === 'none' || next === null) return true;
      const failedAt = new Date(Date.parse(next) + lateMs);
      const again = requeryAgainAt(payment, failedAt);
      return again !== null && again > failedAt;
    }),
  );
  const payment = after(requested(), chosen(1));
  const [second = 0, third = 0] = questions(requested(), chosen(1)).slice(1);
  const sinceStart = (failedMs: number) =>
    Number(requeryAgainAt(payment, new Date(Date.parse(requestedAt) + failedMs))) - Date.parse(requestedAt);
  t.is(sinceStart(second - 1), second);
  t.is(sinceStart(second), third);
  t.is(sinceStart(30 * hourMs), 60 * hourMs);
});
