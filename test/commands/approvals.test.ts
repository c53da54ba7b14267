// Refunds, and what two members of staff have to decide together.
import test from 'ava';
import fc from 'fast-check';
import type { DecideApproval, TakeAction } from '../../src/commands/approvals.ts';
import { Refused } from '../../src/commands/decider.ts';
import { type PaymentCommand, paymentDecider } from '../../src/commands/payment.ts';
import type { MerchantTerms } from '../../src/commands/refunds.ts';
import type { Sen } from '../../src/common/money.ts';
import { adjustedSen } from '../../src/events/adjustments.ts';
import type { StaffAction } from '../../src/events/approvals.ts';
import { chargesOf } from '../../src/events/charges.ts';
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import {
  amountSen,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  refunded as refundOfCharge,
  request,
  requested,
  resolvedAs,
  result,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const at = '2026-11-21T02:00:00.000Z';
const alone: MerchantTerms = { toldOf: [], takesParts: false, approvalAboveSen: null };
const two: MerchantTerms = { ...alone, approvalAboveSen: sen(5_000) };

type Refund = Extract<StaffAction, { kind: 'refund' }>;
const refundOf = (over: Partial<Refund> = {}): Refund => ({
  kind: 'refund',
  chargeNo: 1,
  amountSen: sen(2_000),
  gatewayReference: 'RF-1',
  reason: 'Paid for the wrong lot',
  ...over,
});
const take = (action: StaffAction, by = 'staff:A', terms = alone): TakeAction => ({
  type: 'TakeAction',
  at,
  by,
  terms,
  action,
});
const refund = (over: Partial<Refund> = {}, by?: string, terms?: MerchantTerms) =>
  take(refundOf(over), by, terms);
const decide = (over: Partial<DecideApproval> = {}): DecideApproval => ({
  type: 'DecideApproval',
  at,
  by: 'staff:B',
  no: 1,
  outcome: 'granted',
  note: 'Seen the bank’s letter',
  terms: two,
  ...over,
});

/** RM 120.50 and a fee of RM 1.50. */
const opened = [requested(), chosen(1, { chargeSen: sen(150) })];
const paid = [...opened, succeeded(result(1, 'succeeded', { amountSen: sen(amountSen + 150) }))];
const refunded = (over: Parameters<typeof refundOfCharge>[0] = {}) =>
  refundOfCharge({ at, reason: 'Paid for the wrong lot', ...over });
const { gatewayReference: ____, reason: _____, ...returned } = refunded().data;
const requestedFor = (action: StaffAction, atStakeSen: Sen | null): PaymentEvent => ({
  type: 'ApprovalRequested',
  data: { at, by: 'staff:A', amountSen: atStakeSen, action },
});
const large = refundOf({ amountSen: sen(12_200) });
const proposed = [...paid, requestedFor(large, sen(12_200))];
const { type: _, ...decision } = decide();
const { terms: __, outcome: ___, ...decided } = decision;
const granted: PaymentEvent = { type: 'ApprovalGranted', data: decided };
const rejected: PaymentEvent = { type: 'ApprovalRejected', data: decided };
const explaining = (resultNo: number): StaffAction => ({
  kind: 'resolution',
  resultNo,
  resolution: 'explained',
  note: 'a',
});
const twice = [
  ...paid,
  duplicated(result(1, 'succeeded', { amountSen: sen(amountSen + 150), gatewayTransactionId: 'P9' }), 'P1'),
];

const specs: Record<string, Spec<PaymentCommand, PaymentEvent>> = {
  'a part is refunded': { given: paid, when: refund(), expect: [refunded()] },
  'the agency’s own part goes back first, then the fee': {
    given: [...paid, refunded()],
    when: refund({ amountSen: sen(10_100), gatewayReference: 'RF-2' }),
    expect: [refunded({ amountSen: sen(10_100), feeSen: sen(50), gatewayReference: 'RF-2' })],
  },
  'the same reference is the same refund, in either case': {
    given: [...paid, refunded()],
    when: refund({ gatewayReference: 'rf-1', reason: 'typed again' }),
    expect: [],
  },
  'the same reference of another amount': {
    given: [...paid, refunded()],
    when: refund({ amountSen: sen(1) }),
    expect: 'refund_differs',
  },
  'more than was paid': { given: paid, when: refund({ amountSen: sen(12_201) }), expect: 'refund_too_large' },
  'more than is left': {
    given: [...paid, refunded()],
    when: refund({ amountSen: sen(10_201), gatewayReference: 'RF-2' }),
    expect: 'refund_too_large',
  },
  'an amount beyond all': {
    given: paid,
    when: refund({ amountSen: sen(Number.MAX_SAFE_INTEGER) }),
    expect: 'refund_too_large',
  },
  'a refund of nothing': { given: paid, when: refund({ amountSen: sen(0) }), expect: 'nothing_to_refund' },
  'the same reference for another charge': {
    given: [...paid, refunded()],
    when: refund({ chargeNo: 2 }),
    expect: 'refund_differs',
  },
  'less than nothing': {
    given: paid,
    when: refund({ amountSen: sen(-1) }),
    expect: 'nothing_to_refund',
  },
  'before anything was paid': { given: opened, when: refund(), expect: 'nothing_to_refund' },
  'money in suspense': {
    given: [...opened, mismatched(result(1, 'succeeded', { amountSen: sen(3_000) }))],
    when: refund(),
    expect: 'nothing_to_refund',
  },
  'an action on no such payment': { given: [], when: refund(), expect: 'unknown_payment' },
  'a second charge that was credited is refunded, without a fee': {
    given: [...twice, resolvedAs('credited', 2)],
    when: refund({ chargeNo: 2, amountSen: sen(12_200) }),
    expect: [refunded({ chargeNo: 2, amountSen: sen(12_200) })],
  },
  'a wrong amount that was credited is refunded': {
    given: [
      ...opened,
      mismatched(result(1, 'succeeded', { amountSen: sen(5_000) })),
      {
        type: 'AmountMismatchCredited',
        data: {
          ...{ at, by: 'staff:A', resultNo: 1, note: 'a', postingRule: 3, merchantCode: 'council' },
          ...{ amountSen: sen(5_000), paidSen: sen(5_000), effect: 'paid', paidAt: at },
          ...{ receiptNo: 'R-1', deliveries: [] },
        },
      },
    ],
    when: refund(),
    expect: [refunded()],
  },
  'a refund of one charge leaves all of the other': {
    given: [...twice, resolvedAs('credited', 2), refunded({ chargeNo: 2, amountSen: sen(12_200) })],
    when: refund({ amountSen: sen(12_200), gatewayReference: 'RF-2' }),
    expect: [refunded({ amountSen: sen(12_200), feeSen: sen(150), gatewayReference: 'RF-2' })],
  },
  'a charge without an attempt has no fee, and perhaps no method': {
    given: [requested(), succeeded(result(1, 'succeeded', { mode: '' }))],
    when: refund(),
    expect: [refunded({ mode: '' })],
  },
  'the method is the attempt’s where the gateway named none': {
    given: [...opened, succeeded(result(1, 'succeeded', { mode: '', amountSen: sen(amountSen + 150) }))],
    when: refund(),
    expect: [refunded()],
  },
  'and the gateway’s where it named another than was chosen': {
    given: [...opened, succeeded(result(1, 'succeeded', { mode: 'cc', amountSen: sen(amountSen + 150) }))],
    when: refund(),
    expect: [refunded({ mode: 'cc' })],
  },
  'a second charge has its own exception': {
    given: twice,
    when: refund({ chargeNo: 2 }),
    expect: 'nothing_to_refund',
  },
  'more than one may decide is only proposed': {
    given: paid,
    when: refund({ amountSen: sen(12_200) }, 'staff:A', two),
    expect: [requestedFor(large, sen(12_200))],
  },
  'many small refunds count together': {
    given: [...paid, refunded({ amountSen: sen(4_000) })],
    when: refund({ amountSen: sen(1_001), gatewayReference: 'RF-2' }, 'staff:A', two),
    expect: [requestedFor(refundOf({ amountSen: sen(1_001), gatewayReference: 'RF-2' }), sen(5_001))],
  },
  'and so does what the bank took back of the rest': {
    given: [...paid, refunded({ amountSen: sen(8_000) }), contradicted(result(1, 'failed'), 'succeeded')],
    when: take({ kind: 'resolution', resultNo: 2, resolution: 'reversed', note: 'a' }, 'staff:A', two),
    expect: [
      requestedFor({ kind: 'resolution', resultNo: 2, resolution: 'reversed', note: 'a' }, sen(12_200)),
    ],
  },
  'and so does another charge that the bank took back': {
    given: [
      ...[...twice, resolvedAs('credited', 2), contradicted(result(1, 'failed'), 'succeeded')],
      { type: 'PaymentReversed', data: { ...returned, amountSen: sen(12_200), resultNo: 3, note: 'a' } },
    ],
    when: refund({ chargeNo: 2, amountSen: sen(1) }, 'staff:A', two),
    expect: [requestedFor(refundOf({ chargeNo: 2, amountSen: sen(1) }), sen(12_201))],
  },
  'another refund can be proposed beside it': {
    given: proposed,
    when: refund({ amountSen: sen(12_200), gatewayReference: 'RF-2' }, 'staff:A', two),
    expect: [requestedFor(refundOf({ amountSen: sen(12_200), gatewayReference: 'RF-2' }), sen(12_200))],
  },
  'exactly the limit is not above it': {
    given: paid,
    when: refund({ amountSen: sen(5_000) }, 'staff:A', two),
    expect: [refunded({ amountSen: sen(5_000) })],
  },
  'the same proposal again': {
    given: proposed,
    when: refund({ amountSen: sen(12_200) }, 'staff:B', two),
    expect: [],
  },
  'another proposal of the same reference': {
    given: proposed,
    when: refund({ amountSen: sen(12_000) }, 'staff:B', two),
    expect: 'approval_open',
  },
  'what is refused is not proposed either': {
    given: paid,
    when: refund({ amountSen: sen(12_201) }, 'staff:A', two),
    expect: 'refund_too_large',
  },
  'what was rejected can be proposed again': {
    given: [...proposed, rejected],
    when: refund({ amountSen: sen(12_200) }, 'staff:A', two),
    expect: [requestedFor(large, sen(12_200))],
  },
  'another exception can be proposed beside it': {
    given: [
      ...twice,
      duplicated(result(1, 'succeeded', { amountSen: sen(12_200), gatewayTransactionId: 'P10' }), 'P1'),
      requestedFor(explaining(2), sen(12_200)),
    ],
    when: take(explaining(3), 'staff:A', two),
    expect: [requestedFor(explaining(3), sen(12_200))],
  },
  'so is money in suspense that is explained away': {
    given: twice,
    when: take({ kind: 'resolution', resultNo: 2, resolution: 'explained', note: 'a' }, 'staff:A', two),
    expect: [
      requestedFor({ kind: 'resolution', resultNo: 2, resolution: 'explained', note: 'a' }, sen(12_200)),
    ],
  },
  'an amount that nobody can read may be large': {
    given: [...opened, mismatched(result(1, 'succeeded', { currency: 'USD', amountSen: sen(1) }))],
    when: take({ kind: 'resolution', resultNo: 1, resolution: 'refunded', note: 'a' }, 'staff:A', two),
    expect: [requestedFor({ kind: 'resolution', resultNo: 1, resolution: 'refunded', note: 'a' }, null)],
  },
  'where no money moves, nobody has to approve': {
    given: [...paid, contradicted(result(2, 'failed'), 'succeeded')],
    when: take({ kind: 'resolution', resultNo: 2, resolution: 'explained', note: 'a' }, 'staff:A', two),
    expect: [
      {
        type: 'ExceptionResolved',
        data: { at, resultNo: 2, resolution: 'explained', note: 'a', postingRule: 3 },
      },
    ],
  },
  'another one approves it': {
    given: proposed,
    when: decide(),
    expect: [granted, refunded({ amountSen: sen(12_200), feeSen: sen(150) })],
  },
  'one that is approved, beside one that was rejected': {
    given: [
      ...proposed,
      requestedFor(refundOf({ amountSen: sen(12_200), gatewayReference: 'RF-2' }), sen(12_200)),
      { type: 'ApprovalRejected', data: { ...decided, no: 2 } },
    ],
    when: decide(),
    expect: [granted, refunded({ amountSen: sen(12_200), feeSen: sen(150) })],
  },
  'the same approval again': {
    given: [...proposed, granted, refunded({ amountSen: sen(12_200), feeSen: sen(150) })],
    when: decide(),
    expect: [],
  },
  'or rejects it': {
    given: proposed,
    when: decide({ outcome: 'rejected' }),
    expect: [rejected],
  },
  'not whoever proposed it': { given: proposed, when: decide({ by: 'staff:A' }), expect: 'own_proposal' },
  'who may withdraw it': {
    given: proposed,
    when: decide({ by: 'staff:A', outcome: 'rejected' }),
    expect: [{ type: 'ApprovalRejected', data: { ...decided, by: 'staff:A' } }],
  },
  'one that is decided': {
    given: [...proposed, rejected],
    when: decide({ by: 'staff:C' }),
    expect: 'approval_decided',
  },
  'the same decision again': {
    given: [...proposed, rejected],
    when: decide({ outcome: 'rejected' }),
    expect: [],
  },
  'the same decision with another note': {
    given: [...proposed, rejected],
    when: decide({ outcome: 'rejected', note: 'Seen again' }),
    expect: 'approval_decided',
  },
  'another decision of the same person': {
    given: [...proposed, rejected],
    when: decide(),
    expect: 'approval_decided',
  },
  'one that does not exist': { given: paid, when: decide(), expect: 'unknown_exception' },
  'one that no longer fits': {
    given: [...proposed, refunded({ gatewayReference: 'RF-9' })],
    when: decide(),
    expect: 'proposal_outdated',
  },
  'one that has happened otherwise': {
    given: [...proposed, refunded({ amountSen: sen(12_200) })],
    when: decide(),
    expect: 'proposal_outdated',
  },
};

for (const [name, spec] of Object.entries(specs)) test(name, (t) => checkSpec(t, paymentDecider, spec));

test('merchants that are told of refunds get a callback, in order after the others', (t) => {
  const terms: MerchantTerms = { ...alone, toldOf: ['refunded'] };
  const first = paymentDecider.decide(refund({}, 'staff:A', terms), paid.reduce(evolve, noPayment));
  if (first instanceof Refused) return t.fail();
  const state = [...paid, ...first].reduce(evolve, noPayment);
  if (state.status === 'none') return t.fail();
  t.like(state.deliveries.at(-1), { key: 'callback-2', change: 2, state: 'due' });
  t.is(state.status, 'succeeded');
});

test('a merchant without an address for callbacks is told of no refund', (t) => {
  const terms: MerchantTerms = { ...alone, toldOf: ['refunded'] };
  const silent: PaymentEvent = { type: 'PaymentRequested', data: request({ callbackUrl: '' }) };
  const state = [silent, ...paid.slice(1)].reduce(evolve, noPayment);
  t.deepEqual(paymentDecider.decide(refund({}, 'staff:A', terms), state), [refunded()]);
});

test('whatever staff try, in any order, no charge goes back more than once in full', (t) => {
  const references = fc.constantFrom('RF-1', 'RF-2', 'RF-3', 'rf-3');
  const refunds = fc
    .record({
      chargeNo: fc.integer({ min: 1, max: 3 }),
      amountSen: fc.constantFrom(sen(1), sen(6_000), sen(12_200)),
      gatewayReference: references,
    })
    .map(refundOf);
  const resolutions = fc
    .record({
      kind: fc.constant('resolution' as const),
      resultNo: fc.integer({ min: 2, max: 3 }),
      resolution: fc.constantFrom('refunded', 'credited', 'explained', 'reversed'),
      note: fc.constantFrom('a', 'b'),
    })
    .map((action) => action as StaffAction);
  const people = fc.constantFrom('staff:A', 'staff:B');
  const command: fc.Arbitrary<PaymentCommand> = fc.oneof(
    fc.tuple(fc.oneof(refunds, resolutions), people, fc.constantFrom(alone, two)).map((all) => take(...all)),
    fc
      .tuple(fc.integer({ min: 1, max: 5 }), people, fc.constantFrom('granted' as const, 'rejected' as const))
      .map(([no, by, outcome]) => decide({ no, by, outcome })),
  );
  const begun = [...twice, contradicted(result(1, 'failed'), 'succeeded')].reduce(evolve, noPayment);
  fc.assert(
    fc.property(fc.array(command, { maxLength: 12 }), (script) => {
      let state = begun;
      for (const each of script) {
        const events = paymentDecider.decide(each, state);
        if (!(events instanceof Refused)) state = events.reduce(evolve, state);
      }
      if (state.status !== 'succeeded') return false;
      const back = adjustedSen(state, 'refunded') + adjustedSen(state, 'reversed');
      const charges = chargesOf(state);
      const received = charges.reduce((sum, each) => sum + each.amountSen, 0);
      const left = charges.reduce((sum, each) => sum + each.leftSen, 0);
      return back <= received && received - back === left;
    }),
    { numRuns: 1_000 },
  );
  t.pass();
});
