// A payment's deliveries: what status changes call for, what reactors report, what staff ask for.
import test from 'ava';
import {
  canRequestEmail,
  type DeliveryCommand,
  type RecordDeliveryAttempt,
} from '../../src/commands/deliveries.ts';
import type { DeliveryEvent } from '../../src/events/deliveries.ts';
import { evolve, noPayment, type PaymentEvent } from '../../src/events/payment.ts';
import {
  payer as aminah,
  applied,
  chosen,
  duplicated,
  mismatched,
  request,
  requested,
  result,
  resultAt,
  resultDecider,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const at = '2026-11-20T01:05:02.000Z';
const dayBefore = '2026-11-19T01:05:02.000Z';
const within = (seconds: number) => new Date(Date.parse(at) + seconds * 1_000).toISOString();
const nextAttemptAt = '2026-11-20T01:05:07.000Z';
const tried = (delivery: string, attempt = 1) => ({ at, delivery, attempt, durationMs: 40 });

const pending = applied(result(1, 'pending'));
const paid = [requested(), chosen(1), succeeded(result(1, 'succeeded'))];
const paidAfterPending = [requested(), chosen(1), pending, succeeded(result(1, 'succeeded'))];
const mismatch = mismatched(result(2, 'succeeded', { amountSen: sen(1) }));
const noticed = [
  ...[requested(), chosen(1), pending],
  {
    ...mismatch,
    data: { ...mismatch.data, deliveries: [{ key: 'notice-2', kind: 'email' }] },
  } as PaymentEvent,
];
const paidToLandRegistry = [requested('landreg'), chosen(1), succeeded(result(1, 'succeeded'))];

const delivered: DeliveryEvent = {
  type: 'CallbackDelivered',
  data: { ...tried('callback-1'), status: 200 },
};
const failed: DeliveryEvent = {
  type: 'CallbackAttemptFailed',
  data: { ...tried('callback-1'), status: 503, reason: 'answered 503', nextAttemptAt },
};
const abandoned: DeliveryEvent = {
  type: 'CallbackAbandoned',
  data: { ...tried('callback-1'), status: 410, reason: 'answered 410' },
};
const superseded: DeliveryEvent = { type: 'CallbackSuperseded', data: { at, delivery: 'callback-1' } };
const emailSent: DeliveryEvent = { type: 'ReceiptEmailSent', data: { ...tried('email'), messageId: 'm-1' } };

const erased: PaymentEvent = { type: 'PersonalDataErased', data: { at, reason: 'requested', keys: [] } };

const outcomes = {
  delivered: { kind: 'delivered', status: 200, messageId: 'm-1' },
  failed: { kind: 'failed', status: 503, reason: 'answered 503', nextAttemptAt },
  abandoned: { kind: 'abandoned', status: 410, reason: 'answered 410' },
} as const satisfies Record<string, RecordDeliveryAttempt['outcome']>;

function attempted(
  delivery: string,
  outcome: keyof typeof outcomes,
  attempt: number = 1,
): RecordDeliveryAttempt {
  return { type: 'RecordDeliveryAttempt', ...tried(delivery, attempt), outcome: outcomes[outcome] };
}
const supersede = (delivery: string): DeliveryCommand => ({ type: 'SupersedeDelivery', at, delivery });
const askAgain = (delivery: string): DeliveryCommand => ({ type: 'RequestDelivery', at, delivery });

const specs: Record<string, Spec<DeliveryCommand, PaymentEvent>> = {
  'callback delivered': { given: paid, when: attempted('callback-1', 'delivered'), expect: [delivered] },
  'callback failed': { given: paid, when: attempted('callback-1', 'failed'), expect: [failed] },
  'callback abandoned': { given: paid, when: attempted('callback-1', 'abandoned'), expect: [abandoned] },
  'item delivered': {
    given: paidToLandRegistry,
    when: attempted('item-02', 'delivered'),
    expect: [{ type: 'CallbackDelivered', data: { ...tried('item-02'), status: 200 } }],
  },
  'email sent': { given: paid, when: attempted('email', 'delivered'), expect: [emailSent] },
  'email failed': {
    given: paid,
    when: attempted('email', 'failed'),
    expect: [
      {
        type: 'ReceiptEmailAttemptFailed',
        data: { ...tried('email'), reason: 'answered 503', nextAttemptAt },
      },
    ],
  },
  'email abandoned': {
    given: paid,
    when: attempted('email', 'abandoned'),
    expect: [{ type: 'ReceiptEmailAbandoned', data: { ...tried('email'), reason: 'answered 410' } }],
  },

  'the second attempt succeeds': {
    given: [...paid, failed],
    when: attempted('callback-1', 'delivered', 2),
    expect: [{ type: 'CallbackDelivered', data: { ...tried('callback-1', 2), status: 200 } }],
  },
  'a failure that another reactor recorded': {
    given: [...paid, failed],
    when: attempted('callback-1', 'failed', 1),
    expect: [],
  },
  'a delivery although another reactor recorded a failure': {
    given: [...paid, failed],
    when: attempted('callback-1', 'delivered', 1),
    expect: [{ type: 'CallbackDelivered', data: { ...tried('callback-1', 2), status: 200 } }],
  },
  'an earlier delivery, after another reactor delivered it and staff asked for it again': {
    given: [...paid, failed, delivered, { type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
    when: attempted('callback-1', 'delivered', 1),
    expect: [],
  },
  'an earlier delivery, after staff asked for it again and that was given up': {
    given: [
      ...paid,
      delivered,
      { type: 'CallbackRequested', data: { at, delivery: 'callback-1' } },
      { ...abandoned, data: { ...abandoned.data, ...tried('callback-1', 2) } },
    ],
    when: attempted('callback-1', 'delivered', 1),
    expect: [],
  },
  'a delivery that staff have asked for': {
    given: [...paid, failed, delivered, { type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
    when: attempted('callback-1', 'delivered', 3),
    expect: [{ type: 'CallbackDelivered', data: { ...tried('callback-1', 3), status: 200 } }],
  },
  'a second delivery of the same': {
    given: [...paid, delivered],
    when: attempted('callback-1', 'delivered', 2),
    expect: [],
  },
  'a failure after the delivery': {
    given: [...paid, delivered],
    when: attempted('callback-1', 'failed', 2),
    expect: [],
  },
  'a delivery although another reactor had abandoned it': {
    given: [...paid, abandoned],
    when: attempted('callback-1', 'delivered', 1),
    expect: [{ type: 'CallbackDelivered', data: { ...tried('callback-1', 2), status: 200 } }],
  },
  'a failure after it was abandoned': {
    given: [...paid, abandoned],
    when: attempted('callback-1', 'failed', 2),
    expect: [],
  },
  'a delivery of a callback that was superseded meanwhile': {
    given: [...paidAfterPending, superseded],
    when: attempted('callback-1', 'delivered', 1),
    expect: [],
  },

  'a newer status supersedes a due callback': {
    given: paidAfterPending,
    when: supersede('callback-1'),
    expect: [superseded],
  },
  'the newest status is not superseded': {
    given: paidAfterPending,
    when: supersede('callback-2'),
    expect: [],
  },
  'a delivered callback is not superseded': {
    given: [requested(), chosen(1), pending, delivered, succeeded(result(1, 'succeeded'))],
    when: supersede('callback-1'),
    expect: [],
  },
  'an email is not superseded': {
    given: [...noticed, succeeded(result(1, 'succeeded'))],
    when: supersede('notice-2'),
    expect: [],
  },
  'a callback is not superseded by an email': { given: noticed, when: supersede('callback-1'), expect: [] },

  'send a delivered callback again': {
    given: [...paid, delivered],
    when: askAgain('callback-1'),
    expect: [{ type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
  },
  'send an abandoned callback again': {
    given: [...paid, abandoned],
    when: askAgain('callback-1'),
    expect: [{ type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
  },
  'send the receipt again': {
    given: [...paid, emailSent],
    when: askAgain('email'),
    expect: [{ type: 'ReceiptEmailRequested', data: { at, delivery: 'email' } }],
  },
  'send the receipt again after an erasure': {
    given: [...paid, emailSent, erased],
    when: askAgain('email'),
    expect: 'delivery_erased',
  },
  'send an item again after an erasure': {
    given: [...paidToLandRegistry, erased],
    when: askAgain('item-01'),
    expect: 'delivery_erased',
  },
  'send a callback again after an erasure': {
    given: [...paid, delivered, erased],
    when: askAgain('callback-1'),
    expect: [{ type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
  },
  'the payer asks for the receipt again after an erasure': {
    given: [...paid, emailSent, erased],
    when: { type: 'RequestReceiptEmail', at: '2026-11-20T02:00:00.000Z', attempts: 1 },
    expect: [],
  },
  'the payer asks for the receipt again': {
    given: [...paid, emailSent],
    when: { type: 'RequestReceiptEmail', at: '2026-11-20T01:15:02.000Z', attempts: 1 },
    expect: [{ type: 'ReceiptEmailRequested', data: { at: '2026-11-20T01:15:02.000Z', delivery: 'email' } }],
  },
  'the payer asks again before ten minutes are over': {
    given: [...paid, emailSent],
    when: { type: 'RequestReceiptEmail', at: '2026-11-20T01:15:01.999Z', attempts: 1 },
    expect: [],
  },
  'the payer asks on a page that is older than the last attempt': {
    given: [...paid, emailSent],
    when: { type: 'RequestReceiptEmail', at: '2026-11-20T02:00:00.000Z', attempts: 0 },
    expect: [],
  },
  'an item of the land registry is not superseded by another': {
    given: [requested('landreg'), chosen(1), pending, succeeded(result(1, 'succeeded'))],
    when: supersede('item-01'),
    expect: [],
  },
  'send a due callback again': { given: [...paid, failed], when: askAgain('callback-1'), expect: [] },
  'send a callback again that waits for its last attempts': {
    given: [...paid, { ...failed, data: { ...failed.data, nextAttemptAt: '2026-11-21T01:05:02.000Z' } }],
    when: askAgain('callback-1'),
    expect: [{ type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
  },
  'send a callback again that is attempted within a minute': {
    given: [...paid, { ...failed, data: { ...failed.data, nextAttemptAt: within(59) } }],
    when: askAgain('callback-1'),
    expect: [],
  },
  'send a callback again that is attempted after a minute': {
    given: [...paid, { ...failed, data: { ...failed.data, nextAttemptAt: within(60) } }],
    when: askAgain('callback-1'),
    expect: [{ type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
  },
  'send a callback again that was called for while the clock was a day ahead': {
    given: paid,
    when: { type: 'RequestDelivery', at: dayBefore, delivery: 'callback-1' },
    expect: [{ type: 'CallbackRequested', data: { at: dayBefore, delivery: 'callback-1' } }],
  },
  'send a superseded callback again': {
    given: [...paidAfterPending, superseded],
    when: askAgain('callback-1'),
    expect: 'delivery_superseded',
  },
  'attempts are counted on after it was asked for again': {
    given: [...paid, abandoned, { type: 'CallbackRequested', data: { at, delivery: 'callback-1' } }],
    when: attempted('callback-1', 'delivered', 2),
    expect: [{ type: 'CallbackDelivered', data: { ...tried('callback-1', 2), status: 200 } }],
  },

  'no such delivery': { given: paid, when: askAgain('callback-2'), expect: 'unknown_delivery' },
  'a delivery of no such payment': { given: [], when: askAgain('callback-1'), expect: 'unknown_payment' },
};

for (const [name, spec] of Object.entries(specs)) test(name, (t) => checkSpec(t, resultDecider, spec));

function deliveriesOf(events: readonly PaymentEvent[]) {
  const state = events.reduce(evolve, noPayment);
  return state.status === 'none' ? [] : state.deliveries;
}
const keysOf = (events: readonly PaymentEvent[]) => deliveriesOf(events).map(({ key }) => key);

test('each status change calls for a callback, and a success for the receipt too', (t) => {
  t.deepEqual(keysOf([requested(), chosen(1)]), []);
  t.deepEqual(keysOf(paidAfterPending), ['callback-1', 'callback-2', 'email']);
  t.deepEqual(keysOf(paidToLandRegistry), ['item-01', 'item-02', 'email']);
});

test('a result that changes no status calls for nothing', (t) => {
  t.deepEqual(
    keysOf([...paid, duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P9' }), 'P1')]),
    keysOf(paid),
  );
});

test('no callback without an address, no email without one', (t) => {
  const silent = request({ callbackUrl: '', payer: { ...aminah, email: '' } });
  t.deepEqual(keysOf([{ type: 'PaymentRequested', data: silent }, ...paid.slice(1)]), []);
});

test('the receipt is sent at most 15 times for the payer', (t) => {
  const [email] = deliveriesOf([...paid, emailSent]).filter(({ kind }) => kind === 'email');
  if (!email) return t.fail();
  const later = '2026-11-20T02:00:00.000Z';
  t.true(canRequestEmail({ ...email, attempts: 14 }, later));
  t.false(canRequestEmail({ ...email, attempts: 15 }, later));
  t.false(canRequestEmail({ ...email, state: 'due' }, later));
});

test('a delivery is due at once, then when the failed attempt says, and the schedule starts anew on request', (t) => {
  const states = [[], [failed], [failed, abandoned]].map((after) => deliveriesOf([...paid, ...after])[0]);
  t.like(states[0], { state: 'due', dueAt: resultAt, attempts: 0, triesOfSchedule: 0 });
  t.like(states[1], { state: 'due', dueAt: nextAttemptAt, attempts: 1, triesOfSchedule: 1 });
  t.like(states[2], { state: 'abandoned', attempts: 2, triesOfSchedule: 2 });
  t.like(deliveriesOf([...paid, failed, abandoned])[1], { key: 'email', state: 'due', attempts: 0 });
  const again: DeliveryEvent = { type: 'CallbackRequested', data: { at, delivery: 'callback-1' } };
  t.like(deliveriesOf([...paid, failed, abandoned, again])[0], {
    state: 'due',
    dueAt: at,
    attempts: 2,
    triesOfSchedule: 0,
  });
});
