// Which attempt a result belongs to, the amount it must have, and the receipt number it gives.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import type { RecordGatewayResult } from '../../src/commands/payment-result.ts';
import { inferOrder } from '../../src/commands/same-attempt.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import type { PaymentResult, ReportedResult } from '../../src/events/payment-result.ts';
import {
  amountSen,
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  orderNo,
  record,
  recorded,
  request,
  requested,
  resolvedAs,
  result,
  resultAt,
  resultDecider,
  sen,
  succeeded,
  superseded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const { evolve, initial } = paymentDecider;
const start = requested();
const success = result(1, 'succeeded');
const noOrder = { sellerOrderNo: '' };
const noIds = { sellerOrderNo: '', gatewayTransactionId: '' };
const afterwards = '2026-11-20T01:05:30.000Z';
const charged = sen(amountSen + 150);
const card = chosen(1, { mode: 'cc', bankCode: '', chargeSen: sen(150) });
const cardSuccess = result(1, 'succeeded', { amountSen: charged });

/** A second attempt, by card, which an incomplete report of a success is taken to be about. */
const cardInferred = [
  chosen(2, { mode: 'cc', bankCode: '', chargeSen: sen(150) }),
  succeeded({ ...cardSuccess, ...noIds }, { orderNo: orderNo(2) }),
];

/** A result without an order, as it is recorded about the second attempt. */
const inferred = (reported: ReportedResult, about = orderNo(2)): PaymentEvent => {
  const { type, data } = applied(reported);
  return { type, data: { ...data, orderNo: about } } as PaymentEvent;
};

const { data: wrong } = mismatched({ ...success, ...noIds }, charged);
const refundedLater = {
  type: 'AmountMismatchDetected',
  data: { ...wrong, orderNo: orderNo(2) },
} as PaymentEvent;

const otherAmount = { ...success, amountSen: sen(700) };
/** With the order that was inferred, as events have it since version 2. */
const inferredOrder = (event: PaymentEvent, attempt: number): PaymentEvent =>
  ({ ...event, data: { ...event.data, orderNo: orderNo(attempt) } }) as PaymentEvent;
const otherWithoutIds = inferredOrder(mismatched({ ...otherAmount, ...noIds }), 1);
const explainedWithoutIds = [start, chosen(1), otherWithoutIds, resolvedAs('explained', 1)];

/** Another report has named the order of the first result. */
const ordered = (attempt: number, gatewayTransactionId = ''): PaymentEvent => ({
  type: 'GatewayResultIdentified',
  data: {
    at: resultAt,
    source: 'gateway',
    resultNo: 1,
    gatewayTransactionId,
    sellerOrderNo: orderNo(attempt),
  },
});

const cases: Record<string, Spec<RecordGatewayResult, PaymentEvent>> = {
  'no such payment': { given: [], when: record(success), expect: 'unmatched_result' },
  'of the other channel': {
    given: [start],
    when: record(success, { channel: 'landreg' }),
    expect: 'unmatched_result',
  },
  'of another merchant': {
    given: [start],
    when: record(success, { merchantCode: 'water' }),
    expect: 'unmatched_result',
  },
  'of another merchant, on a paid payment': {
    given: [start, succeeded(success)],
    when: record(success, { merchantCode: 'COUNCIL' }),
    expect: 'unmatched_result',
  },

  'the fee of the attempt is part of the amount': {
    given: [start, card],
    when: record(cardSuccess),
    expect: [succeeded(cardSuccess)],
  },
  'without the fee it is another amount': {
    given: [start, card],
    when: record(success),
    expect: [mismatched(success, charged)],
  },
  'every attempt has its own fee': {
    given: [start, card, chosen(2)],
    when: record(cardSuccess),
    expect: [succeeded(cardSuccess)],
  },
  'the fee of another attempt makes another amount': {
    given: [start, card, chosen(2)],
    when: record(result(2, 'succeeded', { amountSen: charged })),
    expect: [mismatched(result(2, 'succeeded', { amountSen: charged }))],
  },
  'a success that names no order is of the latest attempt': {
    given: [start, chosen(1), chosen(2, { chargeSen: sen(150) })],
    when: record(result(2, 'succeeded', { ...noIds, amountSen: charged })),
    expect: [succeeded(result(2, 'succeeded', { ...noIds, amountSen: charged }))],
  },
  'a success that names no order is of the attempt with its gateway transaction': {
    given: [start, card, applied(result(1, 'failed')), chosen(2)],
    when: record({ ...cardSuccess, ...noOrder }),
    expect: [succeeded({ ...cardSuccess, ...noOrder }, { late: true })],
  },
  'a success of an order we never made is measured by the latest attempt': {
    given: [start, card],
    when: record(result(7, 'succeeded', { amountSen: charged })),
    expect: [succeeded(result(7, 'succeeded', { amountSen: charged }))],
  },
  'in suspense for its amount when the registry names no order, paid when the gateway names it': {
    given: [start, card, chosen(2), mismatched({ ...cardSuccess, ...noOrder })],
    when: record(cardSuccess),
    expect: [superseded(1), succeeded(cardSuccess)],
  },

  'in suspense: another wrong amount of the same transaction takes its place': {
    given: [start, chosen(1), mismatched({ ...success, amountSen: sen(700) })],
    when: record({ ...success, amountSen: sen(800) }),
    expect: [superseded(1), mismatched({ ...success, amountSen: sen(800) })],
  },
  'in suspense until a later report took its place: a report of that amount without ids is other money': {
    given: [
      start,
      chosen(1),
      mismatched({ ...success, amountSen: sen(700) }),
      superseded(1),
      succeeded(success),
    ],
    when: record({ ...success, ...noIds, amountSen: sen(700) }),
    expect: [mismatched({ ...success, ...noIds, amountSen: sen(700) })],
  },
  'paid, and charged twice: the transaction tells which of them a report is about': {
    given: [
      start,
      chosen(1),
      succeeded({ ...success, gatewayTransactionId: '', receiptNo: 'R2' }),
      duplicated({ ...success, receiptNo: 'R1' }, ''),
    ],
    when: record({ ...success, receiptNo: '1' }, { source: 'requery' }),
    expect: [],
  },
  'refunded without any id: a transaction of another order is other money': {
    given: [
      ...[start, chosen(1), chosen(2, { chargeSen: sen(150) })],
      refundedLater,
      resolvedAs('refunded', 1),
    ],
    when: record(success),
    expect: [succeeded(success)],
  },
  'credited without effect, as in earlier versions: the right amount takes its place': {
    given: [start, chosen(1), mismatched({ ...success, amountSen: sen(700) }), resolvedAs('credited', 1)],
    when: record(success),
    expect: [superseded(1), succeeded(success)],
  },
  'a wrong amount that staff have explained stays so when the right one comes': {
    given: [start, chosen(1), mismatched({ ...success, amountSen: sen(700) }), resolvedAs('explained', 1)],
    when: record(success),
    expect: [succeeded(success)],
  },

  'explained without any id: a report that names them is of money that staff have not seen': {
    given: explainedWithoutIds,
    when: record(otherAmount),
    expect: [mismatched(otherAmount)],
  },
  'explained without any id: the transaction alone makes it such money': {
    given: explainedWithoutIds,
    when: record({ ...otherAmount, ...noOrder }),
    expect: [mismatched({ ...otherAmount, ...noOrder })],
  },
  'explained without any id: the same report again is known': {
    given: explainedWithoutIds,
    when: record({ ...otherAmount, ...noIds }),
    expect: [],
  },
  'explained without any id, on a paid payment: a report that names them is another charge': {
    given: [
      ...[start, chosen(1), chosen(2), succeeded(success)],
      inferredOrder(duplicated({ ...result(2, 'succeeded'), ...noIds, receiptNo: 'R2' }, 'P1'), 2),
      resolvedAs('explained', 2),
    ],
    when: record(result(2, 'succeeded')),
    expect: [duplicated(result(2, 'succeeded'), 'P1')],
  },
  'refunded without any id: a report that names them is of the money that went back': {
    given: [start, chosen(1), otherWithoutIds, resolvedAs('refunded', 1)],
    when: record(otherAmount),
    expect: [ordered(1, 'P1')],
  },
  'refunded without any id, which another report has named: the next one is of other money': {
    given: [start, chosen(1), otherWithoutIds, resolvedAs('refunded', 1), ordered(1, 'P1')],
    when: record({ ...otherAmount, gatewayTransactionId: 'P2' }),
    expect: [mismatched({ ...otherAmount, gatewayTransactionId: 'P2' })],
  },
  'explained by its order: the transaction of that order is named': {
    given: [
      ...[start, chosen(1), mismatched({ ...otherAmount, gatewayTransactionId: '' })],
      resolvedAs('explained', 1),
    ],
    when: record(otherAmount),
    expect: [ordered(1, 'P1')],
  },
  'explained by its order, of which another report has named the transaction: the next one is of other money':
    {
      given: [
        ...[start, chosen(1), mismatched({ ...otherAmount, gatewayTransactionId: '' })],
        ...[resolvedAs('explained', 1), ordered(1, 'P1')],
      ],
      when: record({ ...otherAmount, gatewayTransactionId: 'P2' }),
      expect: [mismatched({ ...otherAmount, gatewayTransactionId: 'P2' })],
    },

  'without any id: failed': {
    given: [start, chosen(1)],
    when: record(result(1, 'failed', noIds)),
    expect: [applied(result(1, 'failed', noIds))],
  },
  'without any id: the latest attempt contradicts itself': {
    given: [start, chosen(1), applied(result(1, 'failed'))],
    when: record(result(1, 'cancelled', noIds)),
    expect: [contradicted(result(1, 'cancelled', noIds), 'failed')],
  },
  'without any id, after a new attempt: it is of the new attempt': {
    given: [start, chosen(1), applied(result(1, 'failed')), chosen(2)],
    when: record(result(2, 'failed', { ...noIds, paidAt: afterwards })),
    expect: [applied(result(2, 'failed', { ...noIds, paidAt: afterwards }))],
  },
  'without any id, after an earlier attempt that named no transaction either': {
    given: [start, chosen(1), applied(result(1, 'failed', { gatewayTransactionId: '' })), chosen(2)],
    when: record(result(2, 'failed', { ...noIds, paidAt: afterwards })),
    expect: [applied(result(2, 'failed', { ...noIds, paidAt: afterwards }))],
  },
  'without any id, before any method was chosen: the first attempt is a new one': {
    given: [start, applied(result(1, 'failed', noIds)), chosen(1)],
    when: record(result(1, 'pending')),
    expect: [applied(result(1, 'pending'))],
  },
  'without any id, on a paid payment: the success that is known': {
    given: [start, chosen(1), chosen(2), succeeded(success)],
    when: record(result(2, 'succeeded', noIds)),
    expect: [],
  },
  'paid without any id: other money is recognised all the same': {
    given: [start, chosen(1), succeeded(result(1, 'succeeded', noIds)), chosen(2)],
    when: record(result(2, 'succeeded')),
    expect: [duplicated(result(2, 'succeeded'), '')],
  },
  'paid without any id: the gateway names it later': {
    given: [start, chosen(1), succeeded(result(1, 'succeeded', noIds))],
    when: record(success),
    expect: [ordered(1, 'P1')],
  },
  'paid by an order that was inferred: one with another fee, named later, is a contradiction': {
    given: [start, chosen(1), ...cardInferred],
    when: record(cardSuccess),
    expect: [contradicted(cardSuccess, 'succeeded')],
  },
  'paid by an order that was inferred: the same contradiction again adds nothing': {
    given: [
      start,
      chosen(1),
      chosen(2, { mode: 'cc', bankCode: '', chargeSen: sen(150) }),
      succeeded({ ...cardSuccess, ...noOrder }, { orderNo: orderNo(2) }),
      contradicted(cardSuccess, 'succeeded'),
    ],
    when: record(cardSuccess),
    expect: [],
  },
  'paid by an order that was inferred, and not the latest: reported again without it': {
    given: [start, card, succeeded({ ...cardSuccess, ...noOrder }, { orderNo: orderNo(1) }), chosen(2)],
    when: record({ ...cardSuccess, ...noOrder }),
    expect: [],
  },
  'paid by an order that was inferred: a failure of the transaction names another order': {
    given: [start, chosen(1), chosen(2), succeeded({ ...success, ...noOrder }, { orderNo: orderNo(2) })],
    when: record(result(1, 'failed')),
    expect: [contradicted(result(1, 'failed'), 'succeeded')],
  },
  'paid by an order that was inferred: one with the same fee is named later': {
    given: [start, card, ...cardInferred],
    when: record(cardSuccess),
    expect: [ordered(1, 'P1')],
  },
  'a cancellation whose order was inferred: its copy names another order, and is no news': {
    given: [start, chosen(1), chosen(2), inferred(result(1, 'cancelled', noOrder))],
    when: record(result(1, 'cancelled')),
    expect: [ordered(1)],
  },
  'a cancellation whose order was inferred: its copy names the same order': {
    given: [start, chosen(1), inferred(result(2, 'cancelled', noOrder), orderNo(1))],
    when: record(result(2, 'cancelled', { sellerOrderNo: orderNo(1) })),
    expect: [],
  },
  'a failure whose order was inferred: a success of the transaction names another order': {
    given: [start, chosen(1), chosen(2), inferred(result(1, 'failed', noOrder))],
    when: record(success),
    expect: [ordered(1), succeeded(success, { late: true })],
  },
  'a failure whose order was inferred: another transaction names another order': {
    given: [start, chosen(1), chosen(2), inferred(result(2, 'failed', noOrder))],
    when: record(result(1, 'failed')),
    expect: [applied(result(1, 'failed'))],
  },
  'a pending result whose order was inferred: its end names another order': {
    given: [start, chosen(1), chosen(2), inferred(result(1, 'pending', noOrder))],
    when: record(result(1, 'failed')),
    expect: [ordered(1), applied(result(1, 'failed'))],
  },
  'a pending result whose order was inferred: its copy names another order, and is no news': {
    given: [start, chosen(1), chosen(2), inferred(result(1, 'pending', noOrder))],
    when: record(result(1, 'pending')),
    expect: [ordered(1)],
  },
  'a failure whose order was inferred from a report of its transaction: another order is a new attempt': {
    given: [
      start,
      chosen(1),
      chosen(2),
      applied(result(2, 'pending')),
      inferred(result(2, 'failed', noOrder)),
    ],
    when: record(result(2, 'failed', { sellerOrderNo: orderNo(1) })),
    expect: [applied(result(2, 'failed', { sellerOrderNo: orderNo(1) }))],
  },
  'a known gateway transaction without its order is of its own attempt, not of the latest': {
    given: [start, chosen(1), applied(result(1, 'failed')), chosen(2)],
    when: record(result(1, 'failed', noOrder)),
    expect: [],
  },
  'a new gateway transaction without its order is of the latest attempt': {
    given: [start, chosen(1), applied(result(1, 'cancelled', { gatewayTransactionId: '' })), chosen(2)],
    when: record(result(2, 'failed', { ...noOrder, paidAt: afterwards })),
    expect: [applied(result(2, 'failed', { ...noOrder, paidAt: afterwards }))],
  },
  'a failure without its order, at the time of one without its transaction: that one again': {
    given: [start, chosen(1), applied(result(1, 'failed', { gatewayTransactionId: '' })), chosen(2)],
    when: record(result(1, 'failed', noOrder)),
    expect: [],
  },
  'a failure without any id, at the time of an earlier one: that one again': {
    given: [start, chosen(1), applied(result(1, 'failed')), chosen(2)],
    when: record(result(1, 'failed', noIds)),
    expect: [],
  },
  'a failure without any id, at the time of one of another amount: it is of the latest attempt': {
    given: [start, chosen(1), applied(result(1, 'failed', { amountSen: sen(700) })), chosen(2)],
    when: record(result(2, 'failed', noIds)),
    expect: [applied(result(2, 'failed', noIds))],
  },
  'a success without any id, at the time of a failure: it is of the latest attempt': {
    given: [start, card, applied(result(1, 'failed')), chosen(2)],
    when: record(result(2, 'succeeded', noIds)),
    expect: [succeeded(result(2, 'succeeded', noIds))],
  },
  'a cancellation whose order was inferred of two attempts: its copy names the same order': {
    given: [start, chosen(1), chosen(2), inferred(result(2, 'cancelled', noOrder))],
    when: record(result(2, 'cancelled')),
    expect: [],
  },
  'a failure whose order was inferred, after one that named its order: its copy names another': {
    given: [
      start,
      chosen(1),
      chosen(2),
      chosen(3),
      inferred(result(1, 'failed', noOrder)),
      applied(result(3, 'failed')),
    ],
    when: record(result(1, 'failed')),
    expect: [ordered(1)],
  },
  'a failure of an attempt that the registry has reported as ended: it is that of the payment': {
    given: [start, chosen(1), { type: 'AttemptEnded', data: recorded(result(1, 'failed')) }],
    when: record(result(1, 'failed')),
    expect: [applied(result(1, 'failed'))],
  },
  'a failure that said no time, and one at a time after the attempt was paid: a reversal': {
    given: [start, chosen(1), applied(result(1, 'failed', { paidAt: null })), succeeded(success)],
    when: record(result(1, 'failed')),
    expect: [contradicted(result(1, 'failed'), 'succeeded')],
  },
  'a failure that said no time, again after the attempt was paid: no news': {
    given: [start, chosen(1), applied(result(1, 'failed', { paidAt: null })), succeeded(success)],
    when: record(result(1, 'failed', { paidAt: null })),
    expect: [],
  },
  'a failure from before its attempt was pending, once more': {
    given: [start, chosen(1), applied(result(1, 'failed')), applied(result(1, 'pending'))],
    when: record(result(1, 'failed')),
    expect: [],
  },
  'a failure that said no time, once more while another attempt is pending': {
    given: [
      start,
      chosen(1),
      applied(result(1, 'failed', { paidAt: null })),
      chosen(2),
      applied(result(2, 'pending')),
    ],
    when: record(result(1, 'failed', { paidAt: null })),
    expect: [],
  },
  'failures that say no time are of the latest attempt': {
    given: [start, chosen(1), applied(result(1, 'failed', { paidAt: null })), chosen(2)],
    when: record(result(2, 'failed', { ...noIds, paidAt: null })),
    expect: [applied(result(2, 'failed', { ...noIds, paidAt: null }))],
  },
};

// An attempt that ended without ids must not swallow or contradict what the next attempt reports.
for (const ids of [noIds, noOrder]) {
  for (const first of ['failed', 'cancelled', 'pending'] as const) {
    for (const second of ['failed', 'cancelled', 'pending'] as const) {
      const end = result(1, 'failed');
      const earlier = first === 'pending' ? [applied(result(1, 'pending', ids)), applied(end)] : [];
      const ended = first === 'pending' ? earlier : [applied(result(1, first, ids))];
      const id = 'gatewayTransactionId' in ids ? 'any id' : 'an order';
      cases[`${first} without ${id}, tried again: ${second} of the new attempt`] = {
        given: [start, chosen(1), ...ended, chosen(2)],
        when: record(result(2, second, { gatewayTransactionId: '' })),
        expect: [applied(result(2, second, { gatewayTransactionId: '' }))],
      };
    }
  }
}

test('the event says which order the result is about', (t) => {
  const decided = (given: PaymentEvent[], over: Partial<PaymentResult>) => {
    const state = given.reduce(paymentDecider.evolve, paymentDecider.initial);
    const events = paymentDecider.decide(record(result(1, 'failed', over)), state);
    return events instanceof Refused ? [] : events.map(({ data }) => 'orderNo' in data && data.orderNo);
  };
  t.deepEqual(decided([start, chosen(1), chosen(2)], {}), [orderNo(1)]);
  t.deepEqual(decided([start, chosen(1), chosen(2)], noIds), [orderNo(2)]);
  t.deepEqual(decided([start, chosen(1), applied(result(1, 'cancelled')), chosen(2)], noIds), [orderNo(1)]);
  t.deepEqual(decided([start, chosen(1), chosen(2, { mode: 'cc' })], noIds), [orderNo(1)], 'of its method');
  t.deepEqual(decided([start, chosen(1), chosen(2)], { ...noIds, mode: 'dnqr' }), [orderNo(2)], 'of any');
  const failedBefore = [start, chosen(1), applied(result(1, 'failed')), chosen(2)];
  t.deepEqual(decided(failedBefore, { ...noOrder, gatewayTransactionId: 'P2' }), [orderNo(2)]);
  t.deepEqual(decided([start], noIds), ['']);
});

for (const [name, spec] of Object.entries(cases)) test(name, (t) => checkSpec(t, resultDecider, spec));

const receiptNumbers: Record<string, [Partial<typeof success>, string]> = {
  "the gateway's own": [{ receiptNo: 'R-2026/17' }, 'R-2026/17'],
  'the Malaysian day of the payment': [{ paidAt: '2026-11-20T15:59:59.999Z' }, '7-20261120-HE7CEVBBN545JZX2'],
  'the day after UTC 16:00': [{ paidAt: '2026-11-20T16:00:00.000Z' }, '7-20261121-HE7CEVBBN545JZX2'],
  'over the year': [{ paidAt: '2025-12-31T16:00:00.000Z' }, '7-20260101-HE7CEVBBN545JZX2'],
  'the day it was recorded when no time was said': [{ paidAt: null }, '7-20261120-HE7CEVBBN545JZX2'],
};

for (const [name, [said, receiptNo]] of Object.entries(receiptNumbers)) {
  test(`receipt number: ${name}`, (t) => {
    const paid = { ...success, ...said };
    checkSpec(t, resultDecider, {
      given: [start],
      when: record(paid),
      expect: [succeeded(paid, { receiptNo })],
    });
  });
}

for (const [when, aheadMs, isTaken] of [
  ['less than a day ahead, as of a clock that is fast', 86_399_999, true],
  ['a day ahead', 86_400_000, false],
] as const)
  test(`a time of payment that is ${when}`, (t) => {
    const paidAt = new Date(Date.parse(resultAt) + aheadMs).toISOString();
    for (const outcome of ['succeeded', 'failed'] as const) {
      const reported = result(1, outcome, { paidAt });
      const events = resultDecider.decide(
        record(reported),
        [start].reduce(resultDecider.evolve, resultDecider.initial),
      );
      t.like(events instanceof Refused ? null : events[0], {
        data: { result: { paidAt: isTaken ? paidAt : null } },
      });
    }
  });

test('a report that names the transaction and no order leaves the order inferred', (t) => {
  const { type, data } = ordered(1, 'P1') as Extract<PaymentEvent, { type: 'GatewayResultIdentified' }>;
  const named = { type, data: { ...data, sellerOrderNo: '' } } as const;
  const paid = succeeded({ ...success, ...noIds }, { orderNo: orderNo(1) });
  const state = [start, chosen(1), chosen(2), paid, named].reduce(evolve, initial);
  const known = { gatewayTransactionId: 'P1', sellerOrderNo: orderNo(1), isOrderInferred: true };
  t.like(state, { results: [known] });
  const both = evolve(state, ordered(2, 'P1'));
  t.like(both, { results: [{ ...known, sellerOrderNo: orderNo(2), isOrderInferred: undefined }] });
});

test('receipt number: what is derived has 80 bits, and tells nobody the transaction id', (t) => {
  const events = paymentDecider.decide(
    record(success),
    [start].reduce(paymentDecider.evolve, paymentDecider.initial),
  );
  const [succeededNow] = events instanceof Refused ? [] : events;
  const derived =
    succeededNow?.type === 'PaymentSucceeded' ? (succeededNow.data.receiptNo.split('-')[2] ?? '') : '';
  t.regex(derived, /^[0-9A-HJKMNP-TV-Z]{16}$/);
  for (let from = 0; from <= 10; from += 1)
    t.false(request().transactionId.includes(derived.slice(from, from + 6)));
});

test("receipt number: the merchant's id is the one at the time of the request", (t) => {
  const merchant = { ...request().merchant, id: 12 };
  checkSpec(t, resultDecider, {
    given: [{ type: 'PaymentRequested', data: request({ merchant }) }],
    when: record(success),
    expect: [succeeded(success, { receiptNo: '12-20261120-HE7CEVBBN545JZX2' })],
  });
});

test('an unsigned result that development accepts is marked in its event', (t) => {
  const [event] = [
    resultDecider.decide(
      record(success, { verified: false }),
      resultDecider.evolve({ status: 'none' }, start),
    ),
  ].flat();
  t.like(event, { type: 'PaymentSucceeded', data: { verified: false } });
});

test('a failure without any id is no other report of a success of that time', (t) => {
  const events = [start, chosen(1), chosen(2), succeeded(success)];
  const state = events.reduce(paymentDecider.evolve, paymentDecider.initial);
  if (state.status === 'none') throw new Error('Nothing was requested');
  t.is(inferOrder(state, result(2, 'failed', noIds)), orderNo(2));
});
