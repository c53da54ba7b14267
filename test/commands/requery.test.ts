// Decisions about an answer of the registry: given, when, then.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import type { RecordRequery } from '../../src/commands/requery.ts';
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import type { RegistryAnswer, RegistryStatus, ReportedResult } from '../../src/events/payment-result.ts';
import type { CountedAnswers } from '../../src/events/requery.ts';
import {
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  orderNo,
  requested,
  result,
  resultAt,
  resultDecider,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const raw = { id: '77', eps_status: '0' };
/** A record names no order of ours. */
const told = (outcome: 'succeeded' | 'failed' | 'pending', over: Partial<ReportedResult> = {}) =>
  result(1, outcome, { sellerOrderNo: '', ...over });
const results = (...reported: ReportedResult[]): RegistryAnswer => ({
  status: (reported[0]?.outcome ?? 'not_found') as RegistryStatus,
  results: reported,
  others: [],
  raw,
});
const nothing = (status: 'attempted' | 'not_found'): RegistryAnswer => ({
  status,
  results: [],
  others: [],
  raw,
});

function ask(answer: RecordRequery['answer'], over: Partial<RecordRequery> = {}): RecordRequery {
  return {
    type: 'RecordRequery',
    at: resultAt,
    channel: 'generic',
    merchantCode: 'council',
    answer,
    counted: null,
    ...over,
  };
}

const byRequery = (event: PaymentEvent) =>
  ({ ...event, data: { ...event.data, source: 'requery' } }) as PaymentEvent;
const answered = (status: RegistryStatus, at = resultAt): PaymentEvent => ({
  type: 'RequeryAnswered',
  data: { at, status, evidence: { plain: raw } },
});

const unanswered = (reason: 'too_late' | 'no_answer'): PaymentEvent => ({
  type: 'RequeryUnanswered',
  data: { at: resultAt, reason },
});
const repeated = (data: CountedAnswers): PaymentEvent => ({ type: 'RequeryRepeated', data });
const counted: CountedAnswers = { status: 'not_found', count: 7, at: '2026-11-20T01:04:00.000Z' };

const open = [chosen(1)];
const paid = [chosen(1), succeeded(result(1, 'succeeded'))];
const second = told('succeeded', { gatewayTransactionId: 'P2' });
const wrongAmount = told('succeeded', { amountSen: sen(1) });

type Case = {
  given: PaymentEvent[];
  when: RecordRequery['answer'];
  over?: Partial<RecordRequery>;
  expect: Spec<never, PaymentEvent>['expect'];
};

const cases: Record<string, Case> = {
  'open: success': {
    given: open,
    when: results(told('succeeded')),
    expect: [byRequery(succeeded(told('succeeded')))],
  },
  'open: failed': {
    given: open,
    when: results(told('failed')),
    expect: [byRequery(applied(told('failed')))],
  },
  'open: pending': {
    given: open,
    when: results(told('pending')),
    expect: [byRequery(applied(told('pending')))],
  },
  'open: attempted': { given: open, when: nothing('attempted'), expect: [answered('attempted')] },
  'open: not found': { given: open, when: nothing('not_found'), expect: [answered('not_found')] },
  'no method was chosen here: a success all the same': {
    given: [],
    when: results(told('succeeded')),
    expect: [byRequery(succeeded(told('succeeded')))],
  },
  'open: another amount is in suspense': {
    given: open,
    when: results(wrongAmount),
    expect: [byRequery(mismatched(wrongAmount))],
  },
  'open: a wrong amount does not hide the right one': {
    given: open,
    when: results(wrongAmount, second),
    expect: [byRequery(mismatched(wrongAmount)), byRequery(succeeded(second))],
  },
  'open: two successes': {
    given: open,
    when: results(told('succeeded'), second),
    expect: [byRequery(succeeded(told('succeeded'))), byRequery(duplicated(second, 'P1'))],
  },
  'pending: pending': {
    given: [chosen(1), applied(result(1, 'pending'))],
    when: results(told('pending')),
    expect: [answered('pending')],
  },
  'failed: the money arrived after all': {
    given: [chosen(1), applied(result(1, 'failed'))],
    when: results(told('succeeded')),
    expect: [byRequery(succeeded(told('succeeded'), { late: true }))],
  },
  'failed: failed': {
    given: [chosen(1), applied(result(1, 'failed'))],
    when: results(told('failed')),
    expect: [answered('failed')],
  },
  'failed: the registry lags behind': {
    given: [chosen(1), applied(result(1, 'failed'))],
    when: results(told('pending')),
    expect: [answered('pending')],
  },
  'cancelled: the registry reports it as a failure': {
    given: [chosen(1), applied(result(1, 'cancelled'))],
    when: results(told('failed')),
    expect: [answered('failed')],
  },
  'paid: the same success': {
    given: paid,
    when: results(told('succeeded')),
    expect: [answered('succeeded')],
  },
  'paid: the registry lags behind': {
    given: paid,
    when: results(told('pending')),
    expect: [answered('pending')],
  },
  'paid by another attempt: the registry reports the cancelled one as a failure': {
    given: [
      chosen(1),
      applied(result(1, 'cancelled')),
      chosen(2),
      succeeded(result(2, 'succeeded', { paidAt: '2026-11-20T01:04:50.000Z' })),
    ],
    when: results(told('failed')),
    expect: [answered('failed')],
  },
  'paid twice: the registry reports the second charge as a failure, which its attempt was before': {
    given: [
      chosen(1),
      applied(result(1, 'cancelled')),
      chosen(2),
      succeeded(result(2, 'succeeded')),
      duplicated(result(1, 'succeeded'), 'P2'),
    ],
    when: results(told('failed', { gatewayTransactionId: 'P1' })),
    expect: [byRequery(contradicted(told('failed', { gatewayTransactionId: 'P1' }), 'succeeded'))],
  },
  'cancelled, then charged a wrong amount: the registry reports that charge as a failure': {
    given: [
      chosen(1),
      applied(result(1, 'cancelled')),
      mismatched(result(1, 'succeeded', { amountSen: sen(1) })),
    ],
    when: results(told('failed', { gatewayTransactionId: 'P1' })),
    expect: [byRequery(contradicted(told('failed', { gatewayTransactionId: 'P1' }), 'succeeded'))],
  },
  'paid: failed is a contradiction': {
    given: paid,
    when: results(told('failed')),
    expect: [byRequery(contradicted(told('failed'), 'succeeded'))],
  },
  'paid: another amount of the same charge is a contradiction': {
    given: paid,
    when: results(wrongAmount),
    expect: [byRequery(contradicted(wrongAmount, 'succeeded'))],
  },
  'no answer': { given: open, when: { fault: 'too_late' }, expect: [unanswered('too_late')] },
  'no answer again is only counted': {
    given: [...open, unanswered('too_late')],
    when: { fault: 'too_late' },
    expect: [],
  },
  'the same answer is only counted': {
    given: [...open, answered('attempted', '2026-11-20T01:02:00.000Z')],
    when: nothing('attempted'),
    expect: [],
  },
  'another answer': {
    given: [...open, answered('not_found', '2026-11-20T01:04:59.000Z')],
    when: nothing('attempted'),
    expect: [answered('attempted')],
  },
  'another answer comes after the number of those before it': {
    given: [...open, answered('not_found', '2026-11-20T01:02:00.000Z')],
    when: nothing('attempted'),
    over: { counted },
    expect: [repeated(counted), answered('attempted')],
  },
  'a success comes after the number of the answers before it': {
    given: [...open, answered('not_found', '2026-11-20T01:02:00.000Z')],
    when: results(told('succeeded')),
    over: { counted },
    expect: [repeated(counted), byRequery(succeeded(told('succeeded')))],
  },
  'a number is recorded by itself, once': {
    given: [...open, answered('not_found', '2026-11-20T01:02:00.000Z')],
    when: null,
    over: { counted },
    expect: [repeated(counted)],
  },
  'a number that has been recorded already': {
    given: [...open, answered('not_found', '2026-11-20T01:02:00.000Z'), repeated(counted)],
    when: null,
    over: { counted },
    expect: [],
  },
  'nowhere to count: the same answer within a minute': {
    given: [...open, answered('attempted', '2026-11-20T01:04:00.001Z')],
    when: nothing('attempted'),
    over: { counted: 'none' },
    expect: [],
  },
  'nowhere to count: the same answer after a minute': {
    given: [...open, answered('attempted', '2026-11-20T01:04:00.000Z')],
    when: nothing('attempted'),
    over: { counted: 'none' },
    expect: [repeated({ at: resultAt, status: 'attempted', count: 1 })],
  },
};

for (const [title, { given, when, over = {}, expect }] of Object.entries(cases)) {
  for (const channel of channels) {
    test(`${channel}, ${title}`, (t) => {
      checkSpec(t, resultDecider, {
        given: [requested(channel), ...given],
        when: ask(when, { channel, ...over }),
        expect,
      });
    });
  }
}

for (const [title, given, over] of [
  ['no payment', [], {}],
  ["another merchant's payment", [requested()], { merchantCode: 'museum' }],
  ["another channel's payment", [requested('landreg')], {}],
] as const) {
  test(`${title} takes no answer of any kind`, (t) => {
    for (const answer of [nothing('not_found'), results(told('succeeded'))])
      checkSpec(t, resultDecider, { given, when: ask(answer, over), expect: 'unmatched_result' });
  });
}

// ── Several attempts ─────────────────────────────────────────────────────────────────────────────────

/** What the command adds, as `type order outcome`. */
function decided(
  given: readonly PaymentEvent[],
  answer: RegistryAnswer,
  over: Partial<RecordRequery> = {},
): string[] {
  const state = [requested(), ...given].reduce(evolve, noPayment);
  const events = paymentDecider.decide(ask(answer, over), state);
  if (events instanceof Refused) throw events;
  return events.map(({ type, data }) => {
    const order = 'orderNo' in data ? ` ${data.orderNo?.slice(-1)}` : '';
    return `${type}${order}`;
  });
}

const other = (
  status: RegistryStatus,
  over: Partial<ReportedResult> = {},
): RegistryAnswer['others'][number] => {
  const { outcome: _, ...fields } = told('failed', { gatewayTransactionId: '', ...over });
  return { status, ...fields };
};
const withOthers = (answer: RegistryAnswer, ...others: RegistryAnswer['others']): RegistryAnswer => ({
  ...answer,
  others,
});
const three = [chosen(1), chosen(2), chosen(3)];
const cash = { gatewayTransactionId: 'P9' };

test('a failure beside a success ends its own attempt, once, and is no contradiction', (t) => {
  const answer = withOthers(
    results(told('succeeded', cash)),
    other('failed', { gatewayTransactionId: 'P8' }),
  );
  t.deepEqual(decided([chosen(1), chosen(2)], answer), ['PaymentSucceeded 2', 'AttemptEnded 1']);
  const state = [requested(), chosen(1), chosen(2)].reduce(evolve, noPayment);
  const events = paymentDecider.decide(ask(answer), state);
  t.deepEqual(decided([chosen(1), chosen(2), ...(events as PaymentEvent[])], answer), []);
});

test('an attempt that had ended and was charged after all: a failure at another time may have taken it back', (t) => {
  const failure = other('failed', { gatewayTransactionId: 'P1', paidAt: '2026-11-20T01:02:00.000Z' });
  const second = told('failed', { gatewayTransactionId: 'P2' });
  const given = [chosen(1), chosen(2), applied(result(2, 'failed'))];
  const state = [requested(), ...given].reduce(evolve, noPayment);
  const ended = paymentDecider.decide(ask(withOthers(results(second), failure)), state) as PaymentEvent[];
  const charged = [...given, ...ended, succeeded(result(1, 'succeeded'))];
  t.deepEqual(decided(charged, withOthers(results(second), failure)), []);
  t.deepEqual(decided(charged, results(told('failed', { paidAt: '2026-11-20T01:02:00.000Z' }))), []);
  t.deepEqual(decided(charged, results(told('failed', { paidAt: null }))), []);
  const takenBack = results(told('failed', { paidAt: '2026-11-20T02:00:00.000Z' }));
  t.deepEqual(decided(charged, takenBack), ['GatewayResultContradicted 1']);
});

test('a failure that names a charge may have taken it back, although its attempt is pending in another transaction', (t) => {
  const pending = applied({ ...result(1, 'pending'), gatewayTransactionId: 'P2' });
  const given = [chosen(1), mismatched({ ...result(1, 'succeeded'), amountSen: sen(1) }), pending];
  const takenBack = results(told('failed', { paidAt: '2026-11-20T02:00:00.000Z' }));
  t.deepEqual(decided(given, takenBack), ['GatewayResultContradicted 1']);
});

test('a failure beside a success, of a charge that is in the books and at a later time, may have taken it back', (t) => {
  const twice = [
    chosen(1),
    chosen(2),
    succeeded(result(1, 'succeeded')),
    duplicated(result(2, 'succeeded'), 'P1'),
  ];
  const beside = (over: Partial<ReportedResult>) => withOthers(results(second), other('failed', over));
  const takenBack = beside({ gatewayTransactionId: 'P1', paidAt: '2026-11-20T02:00:00.000Z' });
  t.deepEqual(decided(twice, takenBack), ['GatewayResultContradicted 1']);
  for (const paidAt of ['2026-11-20T01:00:00.000Z', null])
    t.deepEqual(decided(twice, beside({ gatewayTransactionId: 'P1', paidAt })), ['RequeryAnswered']);
  const events = paymentDecider.decide(ask(takenBack), [requested(), ...twice].reduce(evolve, noPayment));
  t.deepEqual(decided([...twice, ...(events as PaymentEvent[])], takenBack), ['RequeryAnswered']);
});

test('a failure beside an attempt that may still succeed leaves the status as it is', (t) => {
  const attempted = withOthers(
    nothing('attempted'),
    other('failed', { paidAt: '2026-11-20T01:02:00.000Z' }),
    other('attempted', { paidAt: null }),
  );
  t.deepEqual(decided([chosen(1), chosen(2)], attempted), ['RequeryAnswered', 'AttemptEnded 1']);
  const pending = withOthers(results(told('pending', cash)), other('failed'));
  t.deepEqual(decided([chosen(1), chosen(2)], pending), ['PaymentPending 2', 'AttemptEnded 1']);
});

test('a failure beside an attempt that may still succeed ends a pending payment, once nothing else is pending', (t) => {
  const pending = (attempt: number) => applied(result(attempt, 'pending'));
  const failure = (attempt: number) => other('failed', { gatewayTransactionId: `P${attempt}` });
  const one = withOthers(nothing('attempted'), failure(1));
  t.deepEqual(decided([chosen(1), pending(1)], one), ['RequeryAnswered', 'PaymentFailed 1']);
  const both = [chosen(1), pending(1), chosen(2), pending(2)];
  t.deepEqual(decided(both, one), ['RequeryAnswered', 'AttemptEnded 1']);
  t.deepEqual(decided(both, withOthers(one, failure(1), failure(2))), [
    'RequeryAnswered',
    'AttemptEnded 1',
    'PaymentFailed 2',
  ]);
  const unfinished = withOthers(nothing('attempted'), other('attempted', { gatewayTransactionId: 'P1' }));
  t.deepEqual(decided([chosen(1), pending(1)], unfinished), ['RequeryAnswered']);
  const paid = [chosen(1), chosen(2), pending(1), succeeded(result(2, 'succeeded'))];
  t.deepEqual(decided(paid, one), ['RequeryAnswered', 'AttemptEnded 1']);
});

test('the failure of another gateway transaction does not end an attempt that is pending in its own', (t) => {
  const given = [chosen(1), applied(result(1, 'pending'))];
  const failure = { gatewayTransactionId: 'P9' };
  t.deepEqual(decided(given, withOthers(nothing('attempted'), other('failed', failure))), [
    'RequeryAnswered',
  ]);
  t.deepEqual(decided(given, results(told('failed', failure))), ['RequeryAnswered']);
});

test('records are about the latest attempts by their method; the oldest stay open', (t) => {
  const answer = withOthers(
    results(told('succeeded', { ...cash, mode: 'cc' })),
    other('failed', { paidAt: '2026-11-20T01:02:00.000Z' }),
    other('attempted', { paidAt: '2026-11-20T01:03:00.000Z' }),
  );
  const given = [...three, chosen(4, { mode: 'cc' })];
  t.deepEqual(decided(given, answer), ['PaymentSucceeded 4', 'AttemptEnded 2']);
  const ofAnyMethod = other('failed', { mode: '' });
  const failures = withOthers(nothing('attempted'), other('failed'), ofAnyMethod, ofAnyMethod);
  const ended = ['AttemptEnded 3', 'AttemptEnded 4', 'AttemptEnded 2'];
  t.deepEqual(decided(given, failures), ['RequeryAnswered', ...ended]);
});

test('a record is about no attempt that was chosen after it, as long as another is open', (t) => {
  const given = [chosen(1), chosen(2, { at: '2026-11-20T01:04:00.000Z' })];
  const failedAt = (paidAt: string) => other('failed', { paidAt });
  const ends = (paidAt: string) => decided(given, withOthers(nothing('attempted'), failedAt(paidAt)));
  t.deepEqual(ends('2026-11-20T01:03:59.000Z'), ['RequeryAnswered', 'AttemptEnded 1']);
  t.deepEqual(ends('2026-11-20T01:04:00.000Z'), ['RequeryAnswered', 'AttemptEnded 2']);
  const early = '2026-11-20T01:03:59.000Z';
  t.deepEqual(decided(given, results(told('failed', { paidAt: early }))), ['PaymentFailed 1']);
  t.deepEqual(decided(given, results(told('succeeded', { paidAt: early }))), ['PaymentSucceeded 1']);
  const both = withOthers(nothing('attempted'), failedAt(early), failedAt('2026-11-20T01:04:09.000Z'));
  t.deepEqual(decided(given, both), ['RequeryAnswered', 'AttemptEnded 2', 'AttemptEnded 1']);
  // The gateway's clock is behind: nothing else can be meant.
  t.deepEqual(decided(given.slice(1), results(told('failed', { paidAt: early }))), ['PaymentFailed 2']);
  const before = withOthers(nothing('attempted'), failedAt(early));
  t.deepEqual(decided(given.slice(1), before), ['RequeryAnswered', 'AttemptEnded 2']);
  const byCard = [chosen(1, { mode: 'cc' }), applied(result(1, 'failed', { mode: 'cc' })), ...given.slice(1)];
  t.deepEqual(decided(byCard, before), ['RequeryAnswered', 'AttemptEnded 2']);
  const within = [chosen(1), chosen(2, { at: '2026-11-20T01:04:00.900Z' })];
  const inThatSecond = results(told('failed', { paidAt: '2026-11-20T01:04:00.000Z' }));
  t.deepEqual(decided(within, inThatSecond), ['PaymentFailed 2']);
});

test('a failure without a gateway transaction that was recorded before ends no second attempt', (t) => {
  const answer = withOthers(results(told('succeeded', cash)), other('failed'));
  const first = paymentDecider.decide(ask(answer), [requested(), ...three].reduce(evolve, noPayment));
  t.deepEqual(decided([...three, ...(first as PaymentEvent[])], answer), []);
});

test('nor does one without a time, which is told apart by its method', (t) => {
  const given = [chosen(1, { mode: 'cc' }), chosen(2), chosen(3)];
  const failures = [
    other('failed', { paidAt: null }),
    other('failed', { paidAt: null, mode: 'cc' }),
  ] as const;
  const answer = withOthers(nothing('attempted'), failures[0]);
  const first = paymentDecider.decide(ask(answer), [requested(), ...given].reduce(evolve, noPayment));
  const ended = [...given, ...(first as PaymentEvent[])];
  t.deepEqual(decided(given, answer), ['RequeryAnswered', 'AttemptEnded 3']);
  t.deepEqual(decided(ended, answer), []);
  t.deepEqual(decided(ended, withOthers(answer, ...failures)), ['RequeryRepeated', 'AttemptEnded 1']);
});

test('a failure that the gateway has reported without its transaction ends no second attempt', (t) => {
  const given = [chosen(1), applied(result(1, 'failed', { gatewayTransactionId: '' })), chosen(2)];
  t.deepEqual(decided(given, results(told('failed'))), ['RequeryAnswered']);
  const beside = withOthers(nothing('attempted'), other('failed', { gatewayTransactionId: 'P1' }));
  t.deepEqual(decided(given, beside), ['RequeryAnswered']);
  const later = { paidAt: '2026-11-20T01:06:00.000Z', gatewayTransactionId: 'P2' };
  t.deepEqual(decided(given, results(told('failed', later))), ['PaymentFailed 2']);
  t.deepEqual(decided(given, withOthers(nothing('attempted'), other('failed', later))), [
    'RequeryAnswered',
    'AttemptEnded 2',
  ]);
});

test('a record from before every open attempt is about one that has ended, at whatever time that was reported', (t) => {
  const ended = result(1, 'failed', { gatewayTransactionId: '', paidAt: '2026-11-20T01:03:20.000Z' });
  const given = [chosen(1), applied(ended), chosen(2, { at: '2026-11-20T01:04:00.000Z' })];
  const answerOf = (record: Partial<ReportedResult>) =>
    withOthers(nothing('attempted'), other('failed', { gatewayTransactionId: 'P1', ...record }));
  t.deepEqual(decided(given, answerOf({ paidAt: '2026-11-20T01:03:21.000Z' })), ['RequeryAnswered']);
  const ofNoMethod = { mode: '', paidAt: '2026-11-20T01:03:21.000Z' } as const;
  t.deepEqual(decided(given, answerOf(ofNoMethod)), ['RequeryAnswered']);
});

test('a failure of another attempt that is alone in the answer ends that attempt, and only once', (t) => {
  const given = [chosen(1), succeeded(result(1, 'succeeded')), chosen(2)];
  const answer = results(told('failed', { gatewayTransactionId: 'P2' }));
  t.deepEqual(decided(given, answer), ['RequeryAnswered', 'AttemptEnded 2']);
  const first = paymentDecider.decide(ask(answer), [requested(), ...given].reduce(evolve, noPayment));
  const ended = [...given, ...(first as PaymentEvent[])];
  t.deepEqual(decided(ended, answer), []);
  t.deepEqual(decided(ended, results(told('failed'))), ['GatewayResultContradicted 1']);
  const pending = results(told('pending', { gatewayTransactionId: 'P2' }));
  t.deepEqual(decided(given, pending), ['RequeryAnswered']);
});

test('another amount of a charge that is booked ends no attempt, though an open one was reported with its number', (t) => {
  const shared = { gatewayTransactionId: 'P2' };
  const given = [
    chosen(1),
    chosen(2),
    applied(result(2, 'pending')),
    succeeded(result(1, 'succeeded', shared)),
  ];
  t.deepEqual(decided(given, results(told('succeeded', { ...shared, amountSen: sen(1) }))), [
    'GatewayResultContradicted 1',
  ]);
});

test('the last question about an attempt that stays open leaves it to staff, whatever the answer', (t) => {
  const at = '2026-11-22T01:00:00.000Z';
  t.deepEqual(decided(open, nothing('attempted'), { at }), ['RequeryAnswered', 'AttemptOutcomeUnknown 1']);
  const asked = [...open, answered('attempted', '2026-11-20T01:02:00.000Z')];
  t.deepEqual(decided(asked, nothing('attempted'), { at }), ['RequeryRepeated', 'AttemptOutcomeUnknown 1']);
  t.deepEqual(decided(open, results(told('succeeded')), { at }), ['PaymentSucceeded 1']);
  const unknown: PaymentEvent = { type: 'AttemptOutcomeUnknown', data: { at, orderNo: orderNo(1) } };
  t.deepEqual(decided([...asked, unknown], nothing('attempted'), { at }), []);
});
