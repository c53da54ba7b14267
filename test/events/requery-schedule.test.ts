// When the registry is asked about an open payment, from question to question in simulated time.
import test from 'ava';
import fc from 'fast-check';
import { evolve, noPayment, type PaymentEvent, type RequestedPayment } from '../../src/events/payment.ts';
import { standingOf } from '../../src/events/payment-standing.ts';
import { attemptsAtTheirEnd, nextRequeryAt, openAttempts } from '../../src/events/requery-schedule.ts';
import { events } from '../support/arbitraries.ts';
import {
  applied,
  chosen,
  contradicted,
  mismatched,
  orderNo,
  requested,
  requestedAt,
  result,
  resultAt,
  succeeded,
} from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

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

/** Milliseconds after `since` at which each question is due, when each is asked the moment it is. */
function questions(happened: readonly PaymentEvent[], since = requestedAt): number[] {
  const events = [...happened];
  const dueMs: number[] = [];
  for (let payment = after(...events), next = nextRequeryAt(payment); next; next = nextRequeryAt(payment)) {
    dueMs.push(Date.parse(next) - Date.parse(since));
    events.push(answeredAt(next));
    for (const { sellerOrderNo } of attemptsAtTheirEnd(payment, next))
      events.push({ type: 'AttemptOutcomeUnknown', data: { at: next, orderNo: sellerOrderNo } });
    payment = after(...events);
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

// Who may pay and what is asked must agree: otherwise the payer pays again while the bank may still take the money.
test('a failure of one gateway transaction leaves what is pending in another', (t) => {
  const pending = applied(result(1, 'pending', { gatewayTransactionId: 'P2' }));
  const failure = contradicted(result(1, 'failed'), 'pending');
  const payment = after(requested(), chosen(1), pending, failure);
  t.is(openAttempts(payment).length, 1);
  t.is(standingOf(payment), 'pending');
  t.truthy(nextRequeryAt(payment));
  const ended = after(
    requested(),
    chosen(1),
    pending,
    failure,
    applied(result(1, 'failed', { gatewayTransactionId: '' })),
  );
  t.deepEqual([openAttempts(ended), standingOf(ended)], [[], 'failed']);
});

test('an attempt whose end turns out to be that of another one is pending again', (t) => {
  const pending = applied(result(2, 'pending', { gatewayTransactionId: '' }));
  for (const outcome of ['failed', 'cancelled'] as const) {
    const { type, data } = applied(result(1, outcome, { sellerOrderNo: '' }));
    const inferred = { type, data: { ...data, orderNo: orderNo(2) } } as PaymentEvent;
    const history = [requested(), chosen(1), chosen(2), pending, inferred];
    t.is(standingOf(after(...history)), outcome);
    const named = {
      at: resultAt,
      source: 'gateway',
      resultNo: 2,
      gatewayTransactionId: '',
      sellerOrderNo: orderNo(1),
    } as const;
    const corrected = after(...history, { type: 'GatewayResultIdentified', data: named });
    t.is(standingOf(corrected), 'pending');
    t.deepEqual(
      openAttempts(corrected).map(({ sellerOrderNo }) => sellerOrderNo),
      [orderNo(2)],
    );
  }
  const paid = after(requested(), chosen(1), chosen(2), pending, succeeded(result(1, 'succeeded')));
  t.deepEqual([openAttempts(paid).length, standingOf(paid)], [1, 'succeeded']);
});

const planned = (hours: number) => [
  2 * minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  ...Array.from({ length: hours }, (_, index) => (index + 1) * hourMs),
];

const days = (first: number) => [0, 1, 2].map((day) => (first + day) * 24 * hourMs);
const failed = applied(result(1, 'failed'));

test('2, 5 and 15 minutes after the attempt, then every hour for a day', (t) => {
  t.true(near(questions([requested(), chosen(1)]), planned(24)));
  t.true(near(questions([requested(), chosen(1), applied(result(1, 'pending'))]), planned(24)));
});

test('a corporate attempt is asked about for seven days', (t) => {
  t.true(near(questions([requested(), chosen(1, { mode: 'fpx1' })]), planned(168)));
});

test('the questions about attempts of one moment are spread out', (t) => {
  const at = (sellerOrderNo: string) => nextRequeryAt(after(requested(), chosen(1, { sellerOrderNo })));
  t.true(new Set(Array.from({ length: 50 }, (_, index) => at(`T${index}-1`))).size > 10);
});

test('a payment without an attempt, or one that is paid, is not asked about', (t) => {
  t.is(nextRequeryAt(after(requested())), null);
  t.is(nextRequeryAt(after(requested(), chosen(1), succeeded(result(1, 'succeeded')))), null);
});

for (const outcome of ['failed', 'cancelled'] as const)
  test(`once a day for three days after the payment ended as ${outcome}: the bank may have taken the money all the same`, (t) => {
    t.true(near(questions([requested(), chosen(1), applied(result(1, outcome))], resultAt), days(1)));
  });

test('a payer who was told of a failure pays again: the failed attempt is asked about all the same, unless its own order was paid', (t) => {
  const paid = (number: number) => succeeded(result(number, 'succeeded'));
  t.true(near(questions([requested(), chosen(1), failed, chosen(2), paid(2)], resultAt), days(1)));
  const ended: PaymentEvent = { ...failed, type: 'AttemptEnded' } as PaymentEvent;
  t.true(near(questions([requested(), chosen(1), chosen(2), paid(2), ended], resultAt), days(1)));
  t.deepEqual(questions([requested(), chosen(1), failed, paid(1)]), []);
  const withdrawn = applied(result(1, 'cancelled', { sellerOrderNo: '', gatewayTransactionId: '' }));
  t.deepEqual(questions([requested(), withdrawn, chosen(1), paid(1)]), []);
  t.deepEqual(questions([requested(), chosen(1), failed, withdrawn, paid(1)]), []);
});

test('a second attempt is asked about although the payment has failed, and for three days longer', (t) => {
  const events = [requested(), chosen(1), failed, chosen(2, { at: resultAt })];
  const asked = questions(events, resultAt);
  const own = asked.filter((ms) => ms < 27 * hourMs || ms > 47 * hourMs);
  t.true(
    near(
      own.slice(0, 3),
      [2, 5, 15].map((minutes) => minutes * minuteMs),
    ),
  );
  t.true((asked.at(-1) ?? 0) >= 96 * hourMs && (asked.at(-1) ?? 0) < 106 * hourMs);
  const [open, ...more] = openAttempts(after(...events));
  t.deepEqual([open?.sellerOrderNo, more], [orderNo(2), []]);
});

test('an attempt that a success leaves open is asked about: its money may come too', (t) => {
  const asked = questions([requested(), chosen(1), chosen(2), succeeded(result(2, 'succeeded'))]);
  t.true(near(asked, [...planned(24), ...days(2)]));
});

test('what closes an attempt: any final result about it, but no pending one', (t) => {
  const open = (...events: PaymentEvent[]) =>
    openAttempts(after(requested(), chosen(1), chosen(2), ...events)).map(
      ({ sellerOrderNo }) => sellerOrderNo,
    );
  t.deepEqual(open(), [orderNo(1), orderNo(2)]);
  t.deepEqual(open(applied(result(1, 'pending'))), [orderNo(1), orderNo(2)]);
  t.deepEqual(open(mismatched(result(1, 'succeeded'))), [orderNo(2)]);
  t.deepEqual(open(failed, applied(result(2, 'pending'))), [orderNo(2)]);
  t.deepEqual(open(succeeded(result(2, 'succeeded'))), [orderNo(1)]);
  const noNews = (order: number | 'unknown') =>
    contradicted(
      result(1, 'pending', { sellerOrderNo: order === 'unknown' ? order : orderNo(order) }),
      'failed',
    );
  t.deepEqual(open(failed, noNews(1), noNews(2), noNews('unknown')), [orderNo(2)]);
  t.deepEqual(open(applied(result(1, 'pending', { sellerOrderNo: 'unknown' }))), [
    orderNo(1),
    orderNo(2),
    'unknown',
  ]);
});

test('a new attempt after a failure starts a schedule of its own', (t) => {
  const secondAt = '2026-11-20T05:00:00.000Z';
  const pending = applied(result(2, 'pending'));
  const next = nextRequeryAt(after(requested(), chosen(1), failed, chosen(2, { at: secondAt }), pending));
  t.true(near([Date.parse(next ?? '') - Date.parse(secondAt)], [2 * minuteMs]));
});

test('times that were missed while nothing ran make one question', (t) => {
  const back = '2026-11-20T06:30:00.000Z';
  t.true((nextRequeryAt(after(requested(), chosen(1))) ?? '') < back);
  for (const next of [
    nextRequeryAt(after(requested(), chosen(1), answeredAt(back))),
    nextRequeryAt(after(requested(), chosen(1)), back),
  ])
    t.true(near([Date.parse(next ?? '') - Date.parse(requestedAt)], [6 * hourMs]));
});

test('an attempt whose last time was missed is asked about once more, and then never again', (t) => {
  const monthLater = '2026-12-20T01:00:00.000Z';
  const payment = after(requested(), chosen(1), answeredAt('2026-11-20T01:20:00.000Z'));
  t.true((nextRequeryAt(payment) ?? '') < monthLater);
  t.deepEqual(attemptsAtTheirEnd(payment, '2026-11-20T02:00:00.000Z'), []);
  t.is(attemptsAtTheirEnd(payment, monthLater).length, 1);
  // A question that was only counted left it to nobody.
  t.true((nextRequeryAt(payment, monthLater) ?? '') > '2026-11-21T01:00:00.000Z');
  const unknown: PaymentEvent = {
    type: 'AttemptOutcomeUnknown',
    data: { at: monthLater, orderNo: orderNo(1) },
  };
  t.is(nextRequeryAt(evolve(payment, unknown) as RequestedPayment), null);
});

test('after any events, the answer is a time or null, and questions end', (t) => {
  fc.assert(
    fc.property(fc.array(events), (happened) => {
      const payment = [requested(), ...happened].reduce(evolve, noPayment);
      const next = payment.status === 'none' ? null : nextRequeryAt(payment);
      return next === null || new Date(next).toISOString() === next;
    }),
  );
  fc.assert(
    fc.property(fc.array(events), (happened) => questions([requested(), ...happened]).length < 2_000),
    { numRuns: runs(50) },
  );
  t.pass();
});
