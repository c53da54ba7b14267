// A payment's exceptions, and how staff resolve them.
import test from 'ava';
import fc from 'fast-check';
import type { RefusalCode } from '../../src/commands/decider.ts';
import type { ResolveException } from '../../src/commands/exceptions.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import {
  type ExceptionKind,
  exceptionKinds,
  exceptionsOf,
  holdsMoneyInSuspense,
} from '../../src/events/exceptions.ts';
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import { type Resolution, resolutions } from '../../src/events/recorded-result.ts';
import { events } from '../support/arbitraries.ts';
import {
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  requested,
  result,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const at = '2026-11-21T02:00:00.000Z';
const resolve = (over: Partial<ResolveException> = {}): ResolveException => ({
  type: 'ResolveException',
  at,
  resultNo: 2,
  resolution: 'explained',
  note: 'Seen with the bank',
  ...over,
});
type Resolved = Extract<PaymentEvent, { type: 'ExceptionResolved' }>;
const resolved = (over: Partial<Resolved['data']> = {}): PaymentEvent => {
  const { type: _, ...data } = resolve();
  return { type: 'ExceptionResolved', data: { ...data, postingRule: 2, ...over } };
};

/** Whom the decision about a wrong amount is told to. */
const told: Partial<Resolved['data']> = {
  merchantCode: 'council',
  deliveries: [
    { key: 'callback-2', kind: 'callback', url: 'https://council.example/callback' },
    { key: 'notice-2', kind: 'email' },
  ],
};

const opened = [requested(), chosen(1)];
const paid = [...opened, succeeded(result(1, 'succeeded'))];
/** A payment whose second result is an exception of this kind. */
const withException: Record<ExceptionKind, PaymentEvent[]> = {
  contradiction: [...paid, contradicted(result(1, 'failed'), 'succeeded')],
  duplicate: [...paid, duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P9' }), 'P1')],
  amountMismatch: [
    ...opened,
    applied(result(1, 'pending')),
    mismatched(result(1, 'succeeded', { amountSen: sen(1) })),
  ],
  lateSuccess: [...opened, applied(result(1, 'failed')), succeeded(result(1, 'succeeded'), { late: true })],
};

const specs: Record<string, Spec<ResolveException, PaymentEvent>> = {
  'no such payment': { given: [], when: resolve(), expect: 'unknown_payment' },
  'no such result': { given: paid, when: resolve(), expect: 'unknown_exception' },
  'a result that is no exception': {
    given: paid,
    when: resolve({ resultNo: 1 }),
    expect: 'unknown_exception',
  },
  'the same again at another time': {
    given: [...withException.duplicate, resolved({ resolution: 'refunded' })],
    when: resolve({ resolution: 'refunded', at: '2026-12-01T00:00:00.000Z' }),
    expect: [],
  },
  'another resolution after the first': {
    given: [...withException.duplicate, resolved({ resolution: 'refunded' })],
    when: resolve({ resolution: 'credited' }),
    expect: 'exception_resolved',
  },
  'another note after the first': {
    given: [...withException.duplicate, resolved()],
    when: resolve({ note: 'Something else' }),
    expect: 'exception_resolved',
  },
  'the other of two exceptions': {
    given: [
      ...withException.duplicate,
      duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P10' }), 'P1'),
      resolved(),
    ],
    when: resolve({ resultNo: 3, resolution: 'credited' }),
    expect: [resolved({ resultNo: 3, resolution: 'credited' })],
  },
};

/** Only money in suspense can go somewhere. */
const allowed: Record<ExceptionKind, readonly Resolution[]> = {
  contradiction: ['explained'],
  lateSuccess: ['explained'],
  amountMismatch: resolutions,
  duplicate: resolutions,
};

for (const kind of exceptionKinds) {
  for (const resolution of resolutions) {
    const refusal: RefusalCode = 'no_money_in_suspense';
    specs[`${kind} ${resolution}`] = {
      given: withException[kind],
      when: resolve({ resolution }),
      expect: allowed[kind].includes(resolution)
        ? [resolved({ resolution, ...(kind === 'amountMismatch' && told) })]
        : refusal,
    };
  }
}

for (const [name, spec] of Object.entries(specs)) test(name, (t) => checkSpec(t, paymentDecider, spec));

const exceptionsAfter = (history: readonly PaymentEvent[]) => {
  const state = history.reduce(evolve, noPayment);
  return state.status === 'none' ? [] : exceptionsOf(state);
};

test('each kind has its number, its time and the reported amount', (t) => {
  for (const kind of exceptionKinds)
    t.like(exceptionsAfter(withException[kind]), [{ resultNo: 2, kind, resolved: null }]);
  t.is(exceptionsAfter(withException.amountMismatch)[0]?.amountSen, sen(1));
  t.deepEqual(exceptionsAfter(paid), []);
});

test('a resolution is recorded and leaves the payment as it is', (t) => {
  const before = withException.duplicate.reduce(evolve, noPayment);
  const after = evolve(before, resolved({ resolution: 'refunded' }));
  t.like(exceptionsAfter([...withException.duplicate, resolved({ resolution: 'refunded' })])[0], {
    kind: 'duplicate',
    resolved: { at, resolution: 'refunded', note: 'Seen with the bank' },
  });
  if (before.status === 'none' || after.status === 'none') return t.fail();
  t.deepEqual({ ...after, results: [] }, { ...before, results: [] });
});

test('whatever follows, an exception keeps its kind and its number', (t) => {
  const stays = fc.property(fc.array(events, { maxLength: 30 }), (rest) => {
    const history = [requested(), ...rest];
    let before = exceptionsAfter([]);
    return history.every((_, index) => {
      const now = exceptionsAfter(history.slice(0, index + 1));
      const kept = before.every(({ kind, resultNo }) =>
        now.some((each) => each.kind === kind && each.resultNo === resultNo),
      );
      before = now;
      return kept;
    });
  });
  fc.assert(stays);
  t.pass();
});

test('only the money of a wrong amount or a duplicate is in suspense', (t) => {
  t.deepEqual(exceptionKinds.filter(holdsMoneyInSuspense), ['amountMismatch', 'duplicate']);
});
