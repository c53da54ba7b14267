// A payment's exceptions, and how staff resolve them.
import test from 'ava';
import fc from 'fast-check';
import type { TakeAction } from '../../src/commands/approvals.ts';
import type { RefusalCode } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import type { MerchantTerms } from '../../src/commands/refunds.ts';
import type { ResolutionAction } from '../../src/events/approvals.ts';
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
  amountSen,
  applied,
  choose,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  record,
  recorded,
  requested,
  result,
  resultAt,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const at = '2026-11-21T02:00:00.000Z';
const by = 'staff:A';
const alone: MerchantTerms = { toldOf: [], takesParts: false, approvalAboveSen: null };
type Chosen = Partial<ResolutionAction & { at: string; terms: MerchantTerms }>;
const note = 'Seen with the bank';
const resolve = ({ at: when = at, terms = alone, ...over }: Chosen = {}): TakeAction => ({
  type: 'TakeAction',
  at: when,
  by,
  terms,
  action: { kind: 'resolution', resultNo: 2, resolution: 'explained', note, ...over },
});
const resolved = (
  over: Partial<Omit<Extract<PaymentEvent, { type: 'ExceptionResolved' }>['data'], 'at'>> = {},
): PaymentEvent => ({
  type: 'ExceptionResolved',
  data: { at, resultNo: 2, resolution: 'explained', note, postingRule: 3, ...over },
});
/** What the credit of a wrong amount leads to. */
const credited = (
  over: Partial<Extract<PaymentEvent, { type: 'AmountMismatchCredited' }>['data']> = {},
): PaymentEvent => ({
  type: 'AmountMismatchCredited',
  data: {
    at,
    by,
    resultNo: 2,
    note,
    amountSen: sen(1),
    effect: 'paid',
    paidSen: sen(1),
    paidAt: result(1, 'succeeded').paidAt ?? '',
    receiptNo: '7-20261120-HE7CEVBBN545JZX2',
    postingRule: 3,
    merchantCode: 'council',
    deliveries: [
      { key: 'callback-2', kind: 'callback', url: 'https://council.example/callback' },
      { key: 'email', kind: 'email' },
    ],
    ...over,
  },
});
type Resolved = Extract<PaymentEvent, { type: 'ExceptionResolved' }>;

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

const specs: Record<string, Spec<TakeAction, PaymentEvent>> = {
  'an exception of no such payment': { given: [], when: resolve(), expect: 'unknown_payment' },
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

const inSuspense = ['refunded', 'credited', 'explained'] as const;
/** Only money in suspense can go somewhere, and only a charge that the agency has can be taken back. */
const allowed: Record<ExceptionKind, readonly Resolution[]> = {
  contradiction: ['explained', 'reversed'],
  lateSuccess: ['explained'],
  amountMismatch: inSuspense,
  duplicate: inSuspense,
};

const reversed: PaymentEvent = {
  type: 'PaymentReversed',
  data: {
    at,
    by,
    resultNo: 2,
    note,
    chargeNo: 1,
    amountSen,
    feeSen: sen(0),
    mode: 'fpx',
    postingRule: 3,
    merchantCode: 'council',
    deliveries: [],
  },
};

/** What a resolution leads to. */
function eventOf(kind: ExceptionKind, resolution: Resolution): PaymentEvent {
  if (resolution === 'reversed') return reversed;
  if (kind !== 'amountMismatch') return resolved({ resolution });
  return resolution === 'credited' ? credited() : resolved({ resolution, ...told });
}

for (const kind of exceptionKinds) {
  for (const resolution of resolutions) {
    const refusal: RefusalCode = 'no_money_in_suspense';
    specs[`${kind} ${resolution}`] = {
      given: withException[kind],
      when: resolve({ resolution }),
      expect: allowed[kind].includes(resolution) ? [eventOf(kind, resolution)] : refusal,
    };
  }
}

const wrong = (paidSen: number, over = {}) =>
  mismatched(result(1, 'succeeded', { amountSen: sen(paidSen), ...over }));
const parts: MerchantTerms = { ...alone, takesParts: true, toldOf: ['partlyPaid', 'reversed'] };
const toldOfPart = {
  key: 'callback-1',
  kind: 'callback',
  url: 'https://council.example/callback',
  about: 'partlyPaid',
} as const;
const aPart = credited({
  resultNo: 1,
  amountSen: sen(50),
  effect: 'partlyPaid',
  paidSen: sen(50),
  receiptNo: '',
  deliveries: [toldOfPart, { key: 'notice-1', kind: 'email' }],
});
const second = { gatewayTransactionId: 'P2' };
Object.assign(specs, {
  'a smaller amount pays a part where the merchant takes parts': {
    given: [...opened, wrong(50)],
    when: resolve({ resultNo: 1, resolution: 'credited', terms: parts }),
    expect: [aPart],
  },
  'a second part that covers the rest pays it': {
    given: [...opened, wrong(50), aPart, wrong(12_000, second)],
    when: resolve({ resolution: 'credited', terms: parts }),
    expect: [
      credited({
        amountSen: sen(12_000),
        paidSen: sen(12_050),
        deliveries: [
          { key: 'callback-2', kind: 'callback', url: 'https://council.example/callback' },
          { key: 'email', kind: 'email' },
        ],
      }),
    ],
  },
  'of a payment that other money has paid, nothing changes': {
    given: [...paid, wrong(50, second)],
    when: resolve({ resolution: 'credited' }),
    expect: [
      credited({ amountSen: sen(50), paidSen: sen(50), effect: 'nothing', receiptNo: '', deliveries: [] }),
    ],
  },
  'a wrong amount without a time of payment was paid when it was reported': {
    given: [...opened, applied(result(1, 'pending')), wrong(12_000, { paidAt: null })],
    when: resolve({ resolution: 'credited' }),
    expect: [
      credited({
        amountSen: sen(12_000),
        paidSen: sen(12_000),
        paidAt: resultAt,
        receiptNo: '7-20261121-HE7CEVBBN545JZX2',
      }),
    ],
  },
  'a contradiction of a failed payment tells nobody anything': {
    given: [...opened, applied(result(1, 'failed')), contradicted(result(1, 'cancelled'), 'failed')],
    when: resolve(),
    expect: [resolved()],
  },
  'an amount that cannot be read cannot be credited': {
    given: [...opened, wrong(1, { amountSen: null })],
    when: resolve({ resultNo: 1, resolution: 'credited' }),
    expect: 'no_money_in_suspense',
  },
  'nor one in another currency': {
    given: [...opened, wrong(1, { currency: 'USD' })],
    when: resolve({ resultNo: 1, resolution: 'credited' }),
    expect: 'no_money_in_suspense',
  },
  'nor less than all items that the land registry would be told of': {
    given: [requested('landreg'), chosen(1), wrong(12_049)],
    when: resolve({ resultNo: 1, resolution: 'credited', terms: parts }),
    expect: 'no_money_in_suspense',
  },
  'but all items can be credited where only the fee is missing': {
    given: [requested('landreg'), chosen(1, { chargeSen: sen(150) }), wrong(12_050)],
    when: resolve({ resultNo: 1, resolution: 'credited' }),
    expect: [
      credited({
        resultNo: 1,
        amountSen,
        paidSen: amountSen,
        deliveries: [
          { key: 'item-01', kind: 'item', item: 1 },
          { key: 'item-02', kind: 'item', item: 2 },
          { key: 'email', kind: 'email' },
        ],
      }),
    ],
  },
  'and any amount that comes after all items are paid': {
    given: [requested('landreg'), chosen(1), succeeded(result(1, 'succeeded')), wrong(50, second)],
    when: resolve({ resolution: 'credited' }),
    expect: [
      credited({ amountSen: sen(50), paidSen: sen(50), effect: 'nothing', receiptNo: '', deliveries: [] }),
    ],
  },
  'a failure of another attempt reverses nothing': {
    given: [...paid, contradicted(result(2, 'failed', { gatewayTransactionId: '' }), 'succeeded')],
    when: resolve({ resolution: 'reversed' }),
    expect: 'no_money_in_suspense',
  },
  'a cancellation says it too': {
    given: [...paid, contradicted(result(1, 'cancelled'), 'succeeded')],
    when: resolve({ resolution: 'reversed' }),
    expect: [reversed],
  },
  'nor does a report of another amount, or that it is pending': {
    given: [
      ...paid,
      contradicted(result(1, 'succeeded', { amountSen: sen(1) }), 'succeeded'),
      contradicted(result(1, 'pending'), 'succeeded'),
    ],
    when: resolve({ resultNo: 3, resolution: 'reversed' }),
    expect: 'no_money_in_suspense',
  },
  'nor a failure of an attempt that another charge was for': {
    given: [...paid, contradicted(result(1, 'failed', { gatewayTransactionId: 'P7' }), 'succeeded')],
    when: resolve({ resolution: 'reversed' }),
    expect: 'no_money_in_suspense',
  },
  'what was reversed cannot be reversed again': {
    given: [
      ...withException.contradiction,
      reversed,
      contradicted(result(1, 'failed', { paidAt: '2026-12-01T00:00:00.000Z' }), 'succeeded'),
    ],
    when: resolve({ resultNo: 3, resolution: 'reversed' }),
    expect: 'no_money_in_suspense',
  },
} satisfies typeof specs);

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
  const ended: PaymentEvent = { type: 'AttemptEnded', data: recorded(result(1, 'failed')) };
  t.deepEqual(exceptionsAfter([...opened, ended]), []);
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

test('a wrong amount that was credited pays with what was received; the same report adds nothing later', (t) => {
  const state = [...withException.amountMismatch, credited()].reduce(evolve, noPayment);
  t.like(state, { status: 'succeeded', receipt: { late: false }, paidSen: 1 });
  const again = record(result(1, 'succeeded', { amountSen: sen(1) }));
  t.deepEqual(paymentDecider.decide(again, state), []);
  // Another amount of the same transaction is not other money.
  const corrected = paymentDecider.decide(record(result(1, 'succeeded')), state);
  t.like(corrected, [{ type: 'GatewayResultContradicted' }]);
  const other = paymentDecider.decide(record(result(2, 'succeeded')), state);
  t.like(other, [{ type: 'DuplicatePaymentDetected' }]);
});

test('what a credited wrong amount has paid stays paid when a part of it goes back', (t) => {
  const more = { amountSen: sen(13_000), paidSen: sen(13_000) };
  const paidByCredit = [...withException.amountMismatch, credited(more)].reduce(evolve, noPayment);
  t.is(evolve(paidByCredit, reversed).status, 'succeeded');
});

test('after a part, a success of the rest pays; a failure leaves it partly paid; the whole is a wrong amount', (t) => {
  const partly = [...opened, wrong(50), aPart, chosen(2)].reduce(evolve, noPayment);
  t.like(partly, { status: 'partlyPaid', paidSen: 50 });
  const decided = (over: object) => {
    const events = paymentDecider.decide(record(result(2, 'succeeded', over)), partly);
    return Array.isArray(events) ? events.map(({ type }) => type) : events;
  };
  t.deepEqual(decided({ amountSen: sen(12_000) }), ['PaymentSucceeded']);
  t.deepEqual(decided({}), ['AmountMismatchDetected']);
  const failed = [applied(result(2, 'failed'))].reduce(evolve, partly);
  t.like(failed, { status: 'partlyPaid' });
  // The bank may take the part back, too.
  t.like(paymentDecider.decide(record(result(1, 'failed')), partly), [{ type: 'GatewayResultContradicted' }]);
});

test('while an attempt is pending, nothing of the rest can be paid; a part that went back is to be paid again', (t) => {
  const pending = applied(result(2, 'pending'));
  const back = (paidSen: number): PaymentEvent => ({
    ...reversed,
    data: { ...reversed.data, amountSen: sen(paidSen) },
  });
  const stateAfter = (...events: PaymentEvent[]) =>
    [...opened, chosen(2), wrong(50), ...events].reduce(evolve, noPayment);
  for (const state of [stateAfter(pending, aPart), stateAfter(aPart, pending)]) {
    t.like(state, { status: 'pending', paidSen: 50 });
    t.like(paymentDecider.decide(choose(3), state), { code: 'payment_pending' });
    t.is(evolve(state, back(50)).status, 'pending');
    t.is(evolve(state, applied(result(2, 'failed'))).status, 'partlyPaid');
  }
  t.like(stateAfter(aPart, back(20)), { status: 'partlyPaid', paidSen: 30 });
  t.like(stateAfter(aPart, back(50)), { status: 'requested', paidSen: 0 });
});

test('a part of half the amount is not taken for the other half when it is reported again', (t) => {
  const half = sen(amountSen / 2);
  const credit = credited({
    resultNo: 1,
    amountSen: half,
    paidSen: half,
    effect: 'partlyPaid',
    receiptNo: '',
  });
  const partly = [...opened, wrong(half), credit].reduce(evolve, noPayment);
  t.deepEqual(paymentDecider.decide(record(result(1, 'succeeded', { amountSen: half })), partly), []);
  const otherHalf = record(result(2, 'succeeded', { amountSen: half }));
  t.like(paymentDecider.decide(otherHalf, partly), [{ type: 'PaymentSucceeded' }]);
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
