// The payer or the merchant cancels, or the request expires: only while nothing can have been charged, and the merchant
// hears it.
import test from 'ava';
import type { CancelPayment } from '../../src/commands/cancel.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { nextRequeryAt } from '../../src/events/requery-schedule.ts';
import {
  applied,
  choose,
  chosen,
  mismatched,
  record,
  request,
  requested,
  requestedAt,
  requestPayment,
  resolvedAs,
  result,
  resultAt,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const when: CancelPayment = { type: 'CancelPayment', at: resultAt, source: 'payer' };
const cancelled = (change = 1, source: CancelPayment['source'] = 'payer'): PaymentEvent => ({
  type: 'PaymentCancelled',
  data: {
    at: resultAt,
    source,
    verified: true,
    result: {
      outcome: 'cancelled',
      mode: '',
      sellerOrderNo: '',
      gatewayTransactionId: '',
      amountSen: null,
      currency: '',
      paidAt: null,
      receiptNo: '',
      buyerBank: '',
    },
    personal: { plain: { buyerName: '' } },
    evidence: { plain: {} },
    orderNo: '',
    merchantCode: 'council',
    deliveries: [{ key: `callback-${change}`, kind: 'callback', url: 'https://council.example/callback' }],
  },
});

const { decide, evolve, initial } = paymentDecider;
const start = requested();
const wrong = mismatched(result(1, 'succeeded', { amountSen: sen(1) }));
const credited: PaymentEvent = {
  type: 'AmountMismatchCredited',
  data: {
    at: resultAt,
    by: 'staff:A',
    resultNo: 1,
    note: '',
    amountSen: sen(1),
    effect: 'partlyPaid',
    paidSen: sen(1),
    paidAt: resultAt,
    receiptNo: '',
    postingRule: 3,
    merchantCode: 'council',
    deliveries: [],
  },
};
const cases: Record<string, Spec<CancelPayment, PaymentEvent>> = {
  'a payment nobody requested': { given: [], when, expect: 'unknown_payment' },
  'before any attempt': { given: [start], when, expect: [cancelled()] },
  twice: { given: [start, cancelled()], when, expect: [] },
  'while an attempt is open': { given: [start, chosen(1)], when, expect: 'attempt_open' },
  'after a failed attempt': {
    given: [start, chosen(1), applied(result(1, 'failed'))],
    when,
    expect: [cancelled(2)],
  },
  'after a failed attempt, while another is open': {
    given: [start, chosen(1), chosen(2), applied(result(1, 'failed'))],
    when,
    expect: 'attempt_open',
  },
  'after the gateway has reported a cancellation': {
    given: [start, chosen(1), applied(result(1, 'cancelled'))],
    when,
    expect: [],
  },
  'cancelled, and tried again since': {
    given: [start, cancelled(), chosen(1)],
    when,
    expect: 'attempt_open',
  },
  'while the bank has not authorised yet': {
    given: [start, chosen(1), applied(result(1, 'pending'))],
    when,
    expect: 'payment_pending',
  },
  'after it was paid': {
    given: [start, chosen(1), succeeded(result(1, 'succeeded'))],
    when,
    expect: 'payment_succeeded',
  },
  'after a wrong amount was received': { given: [start, chosen(1), wrong], when, expect: 'wrong_amount' },
  'after a wrong amount was credited as a part': {
    given: [start, chosen(1), wrong, credited],
    when,
    expect: [],
  },
  'after the wrong amount was returned': {
    given: [start, chosen(1), wrong, resolvedAs('refunded', 1)],
    when,
    expect: [cancelled()],
  },
  'after the wrong amount of an attempt that had been pending was returned': {
    given: [start, chosen(1), applied(result(1, 'pending')), wrong, resolvedAs('refunded', 2)],
    when,
    expect: [cancelled(2)],
  },
};
for (const source of ['merchant', 'expiry'] as const) {
  const ends: CancelPayment = { ...when, source };
  const start: PaymentEvent = {
    type: 'PaymentRequested',
    data: request(source === 'expiry' ? { expiresAt: resultAt } : {}),
  };
  const ended = cancelled(1, source);
  const also: typeof cases = {
    'before any attempt': { given: [start], when: ends, expect: [ended] },
    'after the payer has cancelled': {
      given: [start, cancelled()],
      when: ends,
      expect: [cancelled(2, source)],
    },
    'after it has ended': { given: [start, cancelled(1, 'merchant')], when: ends, expect: [] },
    'after it has ended, and was paid all the same': {
      given: [
        start,
        chosen(1),
        applied(result(1, 'failed')),
        cancelled(2, source),
        succeeded(result(1, 'succeeded')),
      ],
      when: ends,
      expect: 'payment_succeeded',
    },
    'after it has ended, and a wrong amount was received all the same': {
      given: [start, cancelled(1, source), wrong],
      when: ends,
      expect: 'wrong_amount',
    },
    'after it has ended, and a part was received all the same': {
      given: [start, cancelled(1, source), wrong, { ...credited, data: { ...credited.data, resultNo: 2 } }],
      when: ends,
      expect: 'partly_paid',
    },
    'while an attempt is open': { given: [start, chosen(1)], when: ends, expect: 'attempt_open' },
    'while the bank has not authorised yet': {
      given: [start, chosen(1), applied(result(1, 'pending'))],
      when: ends,
      expect: 'payment_pending',
    },
    'after a part was received': {
      given: [start, chosen(1), wrong, credited],
      when: ends,
      expect: 'partly_paid',
    },
    'after it was paid': {
      given: [start, chosen(1), succeeded(result(1, 'succeeded'))],
      when: ends,
      expect: 'payment_succeeded',
    },
    ...(source === 'expiry' && {
      'before its time, which a changed row may claim': { given: [requested()], when: ends, expect: [] },
    }),
    'the payer cancels after it has ended': { given: [start, ended], when, expect: 'payment_closed' },
  };
  for (const [name, spec] of Object.entries(also))
    test(`${source}: ${name}`, (t) => checkSpec(t, paymentDecider, spec));

  test(`${source}: nobody can begin to pay any more, and money that comes all the same pays it, late`, (t) => {
    const given = [start, chosen(1), applied(result(1, 'failed')), cancelled(2, source)];
    const state = given.reduce(evolve, initial);
    t.like(decide(choose(2), state), { code: 'payment_closed' });
    const paid = decide(record(result(1, 'succeeded', { gatewayTransactionId: 'P9' })), state);
    t.like(paid, [{ type: 'PaymentSucceeded', data: { late: true } }]);
  });
}

test('from its expiry on nobody can begin to pay it, whether or not that is recorded', (t) => {
  const expiresAt = '2026-11-20T02:00:00.000Z';
  const state = evolve(initial, { type: 'PaymentRequested', data: request({ expiresAt }) });
  t.like(decide(choose(1, { at: '2026-11-20T01:59:59.999Z' }), state), { length: 1 });
  t.like(decide(choose(1, { at: expiresAt }), state), { code: 'payment_closed' });
  t.like(decide({ ...when, at: expiresAt }, state), { code: 'payment_closed' });
  const tried = evolve(state, chosen(1));
  t.like(decide(record(result(1, 'succeeded'), { at: expiresAt }), tried), [{ type: 'PaymentSucceeded' }]);
  const paid = evolve(tried, succeeded(result(1, 'succeeded')));
  t.like(decide(choose(2, { at: expiresAt }), paid), { code: 'payment_succeeded' });
  t.like(decide(requestPayment({ expiresAt: requestedAt }), initial), { code: 'expired_already' });
  t.deepEqual(decide(requestPayment({ expiresAt, at: '2026-11-21T01:00:00.000Z' }), state), []);
  t.like(decide(requestPayment({}), state), { code: 'request_differs' });
});

for (const [name, spec] of Object.entries(cases)) test(name, (t) => checkSpec(t, paymentDecider, spec));

test('the payer may change their mind, and pays in time', (t) => {
  const state = [start, cancelled(), chosen(1)].reduce(evolve, initial);
  const events = decide(record(result(1, 'succeeded')), state);
  t.like(events, [{ type: 'PaymentSucceeded', data: { late: false } }]);
});

test('the registry is not asked about a payment that was never sent to a bank', (t) => {
  const state = [start, cancelled()].reduce(evolve, initial);
  t.is(state.status !== 'none' && nextRequeryAt(state), null);
  const tried = [start, chosen(1), applied(result(1, 'failed')), cancelled(2)].reduce(evolve, initial);
  t.not(tried.status !== 'none' && nextRequeryAt(tried), null);
});
