// The state table: every result of a gateway or the registry, on every state a payment can be in.
import test from 'ava';
import type { RecordGatewayResult } from '../../src/commands/payment-result.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import type { ReportedResult } from '../../src/events/payment-result.ts';
import {
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  record,
  requested,
  resolvedAs,
  result,
  resultDecider,
  sen,
  succeeded,
  superseded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

type Case = { given: PaymentEvent[]; when: ReportedResult; expect: Spec<never, PaymentEvent>['expect'] };

const success = result(1, 'succeeded');
const failure = result(1, 'failed');
const cancellation = result(1, 'cancelled');
const pending = result(1, 'pending');
const pendingAgain = result(1, 'pending', { gatewayTransactionId: 'P9' });
const later = '2026-11-21T01:00:00.000Z';
const late = { late: true };
const reversal = result(1, 'failed', { paidAt: '2026-11-20T02:00:00.000Z' });
const timelessFailure = result(1, 'failed', { paidAt: null });
const paidAgain = result(1, 'succeeded', { paidAt: '2026-11-20T03:00:00.000Z' });
const reversedAgain = result(1, 'failed', { paidAt: '2026-11-20T04:00:00.000Z' });

/** Without the request, which each channel puts in front of what is given. */
const cases: Record<string, Case> = {
  'requested: success': { given: [chosen(1)], when: success, expect: [succeeded(success)] },
  'requested: failed': { given: [chosen(1)], when: failure, expect: [applied(failure)] },
  'requested: cancelled': { given: [chosen(1)], when: cancellation, expect: [applied(cancellation)] },
  'requested: pending': { given: [chosen(1)], when: pending, expect: [applied(pending)] },
  'requested, no method chosen here: success': { given: [], when: success, expect: [succeeded(success)] },
  'requested, no method chosen here: failed': { given: [], when: failure, expect: [applied(failure)] },

  'pending: success': {
    given: [chosen(1), applied(pending)],
    when: success,
    expect: [succeeded(success)],
  },
  'pending: failed': { given: [chosen(1), applied(pending)], when: failure, expect: [applied(failure)] },
  'pending: cancelled': {
    given: [chosen(1), applied(pending)],
    when: cancellation,
    expect: [applied(cancellation)],
  },
  'pending: pending again': { given: [chosen(1), applied(pending)], when: pending, expect: [] },
  'pending: pending of another attempt': {
    given: [chosen(1), chosen(2), applied(pending)],
    when: result(2, 'pending'),
    expect: [applied(result(2, 'pending'))],
  },
  'pending: failed of another attempt, while money may still arrive': {
    given: [chosen(1), chosen(2), applied(pending)],
    when: result(2, 'failed'),
    expect: [contradicted(result(2, 'failed'), 'pending')],
  },
  'requested: the registry names no order, but the method: the charge of that attempt counts': {
    given: [chosen(1), chosen(2, { mode: 'cc', bankCode: '', chargeSen: sen(100) })],
    when: result(1, 'succeeded', { sellerOrderNo: '' }),
    expect: [succeeded(result(1, 'succeeded', { sellerOrderNo: '' }))],
  },
  'two pending: one fails, the other is still open': {
    given: [chosen(1), chosen(2), applied(pending), applied(result(2, 'pending'))],
    when: failure,
    expect: [contradicted(failure, 'pending')],
  },
  'two pending: when the last of them fails, the payment does': {
    given: [
      chosen(1),
      chosen(2),
      applied(pending),
      applied(result(2, 'pending')),
      contradicted(failure, 'pending'),
    ],
    when: result(2, 'cancelled'),
    expect: [applied(result(2, 'cancelled'))],
  },
  'failed, pending again in another transaction: a failure that names none ends it': {
    given: [chosen(1), applied(failure), applied(pendingAgain)],
    when: result(1, 'failed', { gatewayTransactionId: '', paidAt: later }),
    expect: [applied(result(1, 'failed', { gatewayTransactionId: '', paidAt: later }))],
  },
  'failed, pending again in another transaction: a cancellation that names none ends it': {
    given: [chosen(1), applied(failure), applied(pendingAgain)],
    when: result(1, 'cancelled', { gatewayTransactionId: '' }),
    expect: [applied(result(1, 'cancelled', { gatewayTransactionId: '' }))],
  },
  'failed, pending again in another transaction: the old failure arrives once more': {
    given: [chosen(1), applied(failure), applied(pendingAgain)],
    when: failure,
    expect: [],
  },
  'failed, pending again in another transaction: a repeat of that': {
    given: [chosen(1), applied(failure), applied(pendingAgain)],
    when: result(1, 'pending', { gatewayTransactionId: '' }),
    expect: [],
  },
  'failed, then paid: the old failure arrives once more': {
    given: [chosen(1), applied(failure), succeeded(success, late)],
    when: failure,
    expect: [],
  },
  'failed, then paid: a failure with another time may be a reversal': {
    given: [chosen(1), applied(failure), succeeded(success, late)],
    when: result(1, 'failed', { paidAt: '2026-11-21T01:00:00.000Z' }),
    expect: [contradicted(result(1, 'failed', { paidAt: '2026-11-21T01:00:00.000Z' }), 'succeeded')],
  },
  'paid, then failed: a success at a later time may be another charge of the same transaction': {
    given: [chosen(1), succeeded(success), contradicted(reversal, 'succeeded')],
    when: paidAgain,
    expect: [contradicted(paidAgain, 'succeeded')],
  },
  'paid, then reported of another amount: a success at a later time is the same one': {
    given: [
      chosen(1),
      succeeded(success),
      contradicted({ ...success, amountSen: sen(1), paidAt: '2026-11-20T02:00:00.000Z' }, 'succeeded'),
    ],
    when: paidAgain,
    expect: [],
  },
  'failed at no known time, then pending: such a failure ends it': {
    given: [chosen(1), applied(result(1, 'failed', { paidAt: null })), applied(pending)],
    when: result(1, 'failed', { paidAt: null }),
    expect: [applied(result(1, 'failed', { paidAt: null }))],
  },
  'pending at no known time, then failed: the same pending result again': {
    given: [chosen(1), applied(result(1, 'pending', { paidAt: null })), applied(result(1, 'failed'))],
    when: result(1, 'pending', { paidAt: null }),
    expect: [],
  },
  'paid, then failed, then paid again: a repeat of that': {
    given: [
      chosen(1),
      succeeded(success),
      contradicted(reversal, 'succeeded'),
      contradicted(paidAgain, 'succeeded'),
    ],
    when: paidAgain,
    expect: [],
  },
  'paid, then failed: the success from before arrives once more': {
    given: [chosen(1), succeeded(success), contradicted(reversal, 'succeeded')],
    when: success,
    expect: [],
  },
  'paid, then failed: a success without a time is a repeat': {
    given: [chosen(1), succeeded(success), contradicted(reversal, 'succeeded')],
    when: { ...success, paidAt: null },
    expect: [],
  },
  'paid, then failed: a failure at a later time may be the one that took the money back': {
    given: [chosen(1), succeeded(success), contradicted(reversal, 'succeeded')],
    when: reversedAgain,
    expect: [contradicted(reversedAgain, 'succeeded')],
  },
  'paid twice: a later failure of the second charge likewise': {
    given: [
      chosen(1),
      chosen(2),
      succeeded(success),
      duplicated(result(2, 'succeeded'), 'P1'),
      contradicted(result(2, 'failed'), 'succeeded'),
    ],
    when: result(2, 'failed', { paidAt: later }),
    expect: [contradicted(result(2, 'failed', { paidAt: later }), 'succeeded')],
  },
  'paid, then failed: a failure without a time is a repeat': {
    given: [chosen(1), succeeded(success), contradicted(reversal, 'succeeded')],
    when: { ...reversal, paidAt: null },
    expect: [],
  },
  'paid, then failed at no known time, which was explained: a failure at a time may be a reversal': {
    given: [
      chosen(1),
      succeeded(success),
      contradicted(timelessFailure, 'succeeded'),
      resolvedAs('explained', 2),
    ],
    when: reversal,
    expect: [contradicted(reversal, 'succeeded')],
  },
  'paid, then failed at no known time, which staff have yet to look at: the same with its time': {
    given: [chosen(1), succeeded(success), contradicted(timelessFailure, 'succeeded')],
    when: reversal,
    expect: [],
  },
  'failed at no known time, then charged a wrong amount: a failure at a time may be of that charge': {
    given: [chosen(1), applied(timelessFailure), mismatched(result(1, 'succeeded', { amountSen: sen(1) }))],
    when: reversal,
    expect: [contradicted(reversal, 'succeeded')],
  },
  'failed, then charged a wrong amount: a failure at a later time may be of that charge': {
    given: [
      chosen(1),
      applied(result(1, 'failed')),
      mismatched(result(1, 'succeeded', { amountSen: sen(1) })),
    ],
    when: reversal,
    expect: [contradicted(reversal, 'succeeded')],
  },
  'paid: a pending result at a later time is a repeat of an earlier one': {
    given: [chosen(1), succeeded(success), contradicted(result(1, 'pending'), 'succeeded')],
    when: result(1, 'pending', { paidAt: later }),
    expect: [],
  },
  'paid, failed, paid and failed again: a success after that is for staff too': {
    given: [
      chosen(1),
      succeeded(success),
      contradicted(reversal, 'succeeded'),
      contradicted(paidAgain, 'succeeded'),
      contradicted(reversedAgain, 'succeeded'),
    ],
    when: { ...success, paidAt: later },
    expect: [contradicted({ ...success, paidAt: later }, 'succeeded')],
  },
  'paid after a failure that arrives late: a repeat of the success': {
    given: [
      chosen(1),
      succeeded(success),
      contradicted({ ...reversal, paidAt: '2026-11-20T01:00:00.000Z' }, 'succeeded'),
    ],
    when: paidAgain,
    expect: [],
  },
};

function add(more: Record<string, Case>): void {
  Object.assign(cases, more);
}

for (const [status, standing, opposite] of [
  ['failed', failure, cancellation],
  ['cancelled', cancellation, failure],
] as const) {
  const closed = [chosen(1), applied(standing)];
  const retried = [...closed, chosen(2)];
  const otherTransaction = { gatewayTransactionId: 'P9' };
  add({
    [`${status}: success is late`]: { given: closed, when: success, expect: [succeeded(success, late)] },
    [`${status}, no method chosen here: success is late`]: {
      given: [applied(standing)],
      when: success,
      expect: [succeeded(success, late)],
    },
    [`${status}, tried again: success of the old attempt is late`]: {
      given: retried,
      when: success,
      expect: [succeeded(success, late)],
    },
    [`${status}, tried again: success of the new attempt is in time`]: {
      given: retried,
      when: result(2, 'succeeded'),
      expect: [succeeded(result(2, 'succeeded'))],
    },
    [`${status}, tried again, failed again: success of either is late`]: {
      given: [...retried, applied(result(2, 'failed'))],
      when: result(2, 'succeeded'),
      expect: [succeeded(result(2, 'succeeded'), late)],
    },
    [`${status}: the same result again`]: { given: closed, when: standing, expect: [] },
    [`${status}: the opposite of the same attempt`]: {
      given: closed,
      when: opposite,
      expect: [contradicted(opposite, status)],
    },
    [`${status}: pending of the same attempt`]: {
      given: closed,
      when: pending,
      expect: [contradicted(pending, status)],
    },
    [`${status}: a contradiction that was recorded, again`]: {
      given: [...closed, contradicted(opposite, status)],
      when: opposite,
      expect: [],
    },
    [`${status} after pending: the old pending arrives once more`]: {
      given: [chosen(1), applied(pending), applied(standing)],
      when: pending,
      expect: [],
    },
    ...Object.fromEntries(
      (['failed', 'cancelled', 'pending'] as const).flatMap((outcome) => [
        [
          `${status}: ${outcome} of another seller order`,
          { given: retried, when: result(2, outcome), expect: [applied(result(2, outcome))] },
        ],
        [
          `${status}: ${outcome} of another gateway transaction`,
          {
            given: closed,
            when: result(1, outcome, otherTransaction),
            expect: [applied(result(1, outcome, otherTransaction))],
          },
        ],
      ]),
    ),
    [`${status}, a new attempt pending: an old result of the first attempt`]: {
      given: [...retried, applied(result(2, 'pending'))],
      when: standing,
      expect: [],
    },
    [`${status}, a new attempt pending: the first attempt contradicts itself`]: {
      given: [...retried, applied(result(2, 'pending'))],
      when: opposite,
      expect: [contradicted(opposite, status)],
    },
    [`${status}, a new attempt pending: success of the old attempt is simply applied`]: {
      given: [...retried, applied(result(2, 'pending'))],
      when: success,
      expect: [succeeded(success)],
    },
  });
}

const paid = [chosen(1), succeeded(success)];
const otherMoney = result(2, 'succeeded');
add({
  'success: the same again': { given: paid, when: success, expect: [] },
  'success: the same with other details (bank, name, time, raw)': {
    given: paid,
    when: { ...success, buyerBank: '', buyerName: '', paidAt: null, mode: '', receiptNo: 'X', raw: {} },
    expect: [],
  },
  'success: failed': { given: paid, when: failure, expect: [contradicted(failure, 'succeeded')] },
  'success: cancelled': {
    given: paid,
    when: cancellation,
    expect: [contradicted(cancellation, 'succeeded')],
  },
  'success: pending': { given: paid, when: pending, expect: [contradicted(pending, 'succeeded')] },
  'success: failed of another attempt': {
    given: paid,
    when: result(2, 'failed'),
    expect: [contradicted(result(2, 'failed'), 'succeeded')],
  },
  'success: a contradiction again': {
    given: [...paid, contradicted(failure, 'succeeded')],
    when: failure,
    expect: [],
  },
  'success after a failure: the failure again': {
    given: [chosen(1), applied(failure), succeeded(success, late)],
    when: failure,
    expect: [],
  },
  'success: success of another gateway transaction is other money': {
    given: paid,
    when: otherMoney,
    expect: [duplicated(otherMoney, 'P1')],
  },
  'success: other money on the same seller order': {
    given: paid,
    when: result(1, 'succeeded', { gatewayTransactionId: 'P2' }),
    expect: [duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P2' }), 'P1')],
  },
  'success: the other money again': {
    given: [...paid, duplicated(otherMoney, 'P1')],
    when: otherMoney,
    expect: [],
  },
  'success: a third payment': {
    given: [...paid, duplicated(otherMoney, 'P1')],
    when: result(3, 'succeeded'),
    expect: [duplicated(result(3, 'succeeded'), 'P1')],
  },
  'success: the same gateway transaction under another seller order is the same money': {
    given: paid,
    when: result(2, 'succeeded', { gatewayTransactionId: 'P1' }),
    expect: [],
  },
  'success: the same gateway transaction with another amount': {
    given: paid,
    when: { ...success, amountSen: sen(1) },
    expect: [contradicted({ ...success, amountSen: sen(1) }, 'succeeded')],
  },
});

/** Success of something else than was asked, on an open payment and on a paid one. */
const wrong: Record<string, ReportedResult> = {
  'one sen less': { ...success, amountSen: sen(12_049) },
  'one sen more': { ...success, amountSen: sen(12_051) },
  nothing: { ...success, amountSen: sen(0) },
  'an unreadable amount': { ...success, amountSen: null },
  dollars: { ...success, currency: 'USD' },
  'an unknown currency': { ...success, currency: 'MY' },
};
for (const [name, mismatch] of Object.entries(wrong)) {
  const expect = [mismatched(mismatch)];
  add({
    [`requested: success of ${name}`]: { given: [chosen(1)], when: mismatch, expect },
    [`pending: success of ${name}`]: { given: [chosen(1), applied(pending)], when: mismatch, expect },
    [`failed: success of ${name}`]: { given: [chosen(1), applied(failure)], when: mismatch, expect },
    [`cancelled: success of ${name}`]: { given: [chosen(1), applied(cancellation)], when: mismatch, expect },
    [`success: success of ${name}`]: {
      given: paid,
      when: mismatch,
      expect: [contradicted(mismatch, 'succeeded')],
    },
    [`success: success of ${name} of another gateway transaction`]: {
      given: paid,
      when: { ...mismatch, gatewayTransactionId: 'P9' },
      expect: [mismatched({ ...mismatch, gatewayTransactionId: 'P9' })],
    },
    [`success of ${name}, again`]: { given: [chosen(1), mismatched(mismatch)], when: mismatch, expect: [] },
    [`success of ${name}, then the right one`]: {
      given: [chosen(1), mismatched(mismatch)],
      when: success,
      expect: [superseded(1), succeeded(success)],
    },
    [`success of ${name}, then a failure`]: {
      given: [chosen(1), mismatched(mismatch)],
      when: failure,
      expect: [contradicted(failure, 'succeeded')],
    },
  });
}
for (const currency of ['MYR', 'myr', 'RM', '']) {
  const inRinggit = { ...success, currency };
  cases[`success in "${currency}"`] = { given: [chosen(1)], when: inRinggit, expect: [succeeded(inRinggit)] };
}

for (const channel of channels) {
  for (const [name, { given, when, expect }] of Object.entries(cases)) {
    test(`${channel}: ${name}`, (t) => {
      const spec = { given: [requested(channel), ...given], when: record(when, { channel }), expect };
      checkSpec(t, resultDecider, spec);
    });
  }
}

// The other sources only cancel.
for (const source of ['gateway', 'requery', 'staff'] as const) {
  for (const [name, { given, when, expect }] of Object.entries(cases)) {
    test(`the same decision whatever the source, ${source}: ${name}`, (t) => {
      const from = (event: PaymentEvent) =>
        ('source' in event.data ? { ...event, data: { ...event.data, source } } : event) as PaymentEvent;
      const spec: Spec<RecordGatewayResult, PaymentEvent> = {
        given: [requested(), ...given],
        when: record(when, { source }),
        expect: typeof expect === 'string' ? expect : expect.map(from),
      };
      checkSpec(t, resultDecider, spec);
    });
  }
}
