// Choosing how to pay: attempts, pages sent twice, and when no more can be made.
import test from 'ava';
import {
  type ChoosePaymentMethod,
  chosenAttempt,
  maxAttempts,
  maxAttemptsEver,
  paymentDecider,
} from '../../src/commands/payment.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import {
  applied,
  choose,
  chosen,
  mismatched,
  orderNo,
  requested,
  resolvedAs,
  result,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const card = { mode: 'cc', bankCode: '' } as const;
const wrong = mismatched(result(1, 'succeeded', { amountSen: sen(1) }));
const nextDay = '2026-11-21T01:00:00.000Z';
const sameDay = '2026-11-21T00:59:59.999Z';
const otherBank = { bankCode: 'BIMB0340' };

for (const channel of channels) {
  const start = requested(channel);
  const failedOnce = [start, chosen(1), applied(result(1, 'failed'))];
  const cancelledOnce = [start, chosen(1), applied(result(1, 'cancelled'))];
  const pendingOnce = [start, chosen(1), applied(result(1, 'pending'))];
  const cases: Record<string, Spec<ChoosePaymentMethod, PaymentEvent>> = {
    'a payment nobody requested': { given: [], when: choose(1), expect: 'unknown_payment' },
    'the first choice': { given: [start], when: choose(1), expect: [chosen(1)] },
    'the charge of the method is kept': {
      given: [start],
      when: choose(1, { ...card, chargeSen: sen(150) }),
      expect: [chosen(1, { ...card, chargeSen: sen(150) })],
    },
    'the same page sent twice is one attempt': { given: [start, chosen(1)], when: choose(1), expect: [] },
    'the same page sent twice, although the charge changed in between': {
      given: [start, chosen(1)],
      when: choose(1, { chargeSen: sen(150) }),
      expect: [],
    },
    'back on the same page, another bank': {
      given: [start, chosen(1)],
      when: choose(1, otherBank),
      expect: 'attempt_open',
    },
    'back on the same page, from one method without banks to another': {
      given: [start, chosen(1, card)],
      when: choose(1, { ...card, mode: 'wallet' }),
      expect: 'attempt_open',
    },
    'a page that shows the open attempt, without asking for another': {
      given: [start, chosen(1)],
      when: choose(2, { ...otherBank, again: false }),
      expect: 'attempt_open',
    },
    'another bank, asked for on a page that shows the open attempt': {
      given: [start, chosen(1)],
      when: choose(2, otherBank),
      expect: [chosen(2, otherBank)],
    },
    'asked for on a page that shows only one of two open attempts': {
      given: [start, chosen(1), chosen(2, otherBank)],
      when: choose(2, card),
      expect: 'attempt_open',
    },
    'not asked for, after an attempt that has failed': {
      given: failedOnce,
      when: choose(2, { again: false }),
      expect: [chosen(2)],
    },
    'the language of the page is kept': {
      given: [start],
      when: choose(1, { lang: 'ms' }),
      expect: [chosen(1, { lang: 'ms' })],
    },
    'the other bank of the same page sent twice': {
      given: [start, chosen(1), chosen(2, otherBank)],
      when: choose(1, otherBank),
      expect: [],
    },
    'the first bank of the same page once more': {
      given: [start, chosen(1), chosen(2, otherBank)],
      when: choose(1),
      expect: [],
    },
    'a page drawn anew makes a new attempt of the same choice': {
      given: [start, chosen(1)],
      when: choose(2),
      expect: [chosen(2)],
    },
    'after a failure': { given: failedOnce, when: choose(2), expect: [chosen(2)] },
    'after a cancellation': { given: cancelledOnce, when: choose(2), expect: [chosen(2)] },
    'the old page sent after a failure is a new attempt': {
      given: failedOnce,
      when: choose(1),
      expect: [chosen(2)],
    },
    'the old page sent twice after a failure': {
      given: [...failedOnce, chosen(2)],
      when: choose(1),
      expect: [],
    },
    'after a wrong amount was received': {
      given: [...failedOnce, chosen(2), wrong],
      when: choose(3),
      expect: 'wrong_amount',
    },
    'the page of the attempt that brought a wrong amount': {
      given: [start, chosen(1), wrong],
      when: choose(1),
      expect: 'wrong_amount',
    },
    'after the wrong amount was returned': {
      given: [start, chosen(1), wrong, resolvedAs('refunded', 1)],
      when: choose(2),
      expect: [chosen(2)],
    },
    'after the wrong amount of an attempt that had been pending was returned': {
      given: [...pendingOnce, wrong, resolvedAs('refunded', 2)],
      when: choose(2),
      expect: [chosen(2)],
    },
    'after the wrong amount of one attempt was returned, while another is pending': {
      given: [...pendingOnce, chosen(2), applied(result(2, 'pending')), wrong, resolvedAs('refunded', 3)],
      when: choose(3),
      expect: 'payment_pending',
    },
    'after the wrong amount was credited': {
      given: [start, chosen(1), wrong, resolvedAs('credited', 1)],
      when: choose(2),
      expect: 'wrong_amount',
    },
    'while the bank has not authorised yet': {
      given: [start, chosen(1), applied(result(1, 'pending'))],
      when: choose(2),
      expect: 'payment_pending',
    },
    'the page that is now pending, sent twice': {
      given: [start, chosen(1), applied(result(1, 'pending'))],
      when: choose(1),
      expect: 'payment_pending',
    },
    'a failure after pending opens the payment again': {
      given: [start, chosen(1), applied(result(1, 'pending')), applied(result(1, 'failed'))],
      when: choose(2),
      expect: [chosen(2)],
    },
    'paid already': {
      given: [start, chosen(1), succeeded(result(1, 'succeeded'))],
      when: choose(2),
      expect: 'payment_succeeded',
    },
    'the last attempt there is': {
      given: [start, ...attempts(maxAttempts - 1)],
      when: choose(50),
      expect: [chosen(50)],
    },
    'one attempt too many': {
      given: [start, ...attempts(maxAttempts)],
      when: choose(51),
      expect: 'too_many_attempts',
    },
    'attempts of the day before that the gateway knows nothing of do not count': {
      given: [start, ...attempts(maxAttempts)],
      when: choose(51, { at: nextDay }),
      expect: [chosen(51, { at: nextDay })],
    },
    'attempts of less than a day before do': {
      given: [start, ...attempts(maxAttempts)],
      when: choose(51, { at: sameDay }),
      expect: 'too_many_attempts',
    },
    'attempts of the day before that have failed do': {
      given: [start, ...attempts(maxAttempts).flatMap(failing)],
      when: choose(51, { at: nextDay }),
      expect: 'too_many_attempts',
    },
    'there is an end to all attempts': {
      given: [start, ...attempts(maxAttemptsEver)],
      when: choose(maxAttemptsEver + 1, { at: nextDay }),
      expect: 'too_many_attempts',
    },
    'the last page sent twice is no attempt too many': {
      given: [start, ...attempts(maxAttempts)],
      when: choose(50),
      expect: [],
    },
  };
  for (const [name, spec] of Object.entries(cases)) {
    test(`${channel}: ${name}`, (t) => checkSpec(t, paymentDecider, spec));
  }
}

function failing(attempt: PaymentEvent, index: number): PaymentEvent[] {
  return [attempt, applied(result(index + 1, 'failed'))];
}

function attempts(count: number): PaymentEvent[] {
  return Array.from({ length: count }, (_, index) => chosen(index + 1));
}

test('a choice that is sent twice is handed over under its first order number', (t) => {
  const state = [requested(), chosen(1), chosen(2, otherBank)].reduce(
    paymentDecider.evolve,
    paymentDecider.initial,
  );
  if (state.status === 'none') return t.fail();
  t.is(chosenAttempt(state, choose(1))?.sellerOrderNo, orderNo(1));
  t.is(chosenAttempt(state, choose(1, otherBank))?.sellerOrderNo, orderNo(2));
  t.is(chosenAttempt(state, choose(2)), null);
  t.is(chosenAttempt(state, choose(1, card)), null);
});
