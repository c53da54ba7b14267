// Properties of every decision, in any order of commands and however often they come.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { type PaymentCommand, paymentDecider } from '../../src/commands/payment.ts';
import { type Payment, type PaymentEvent, readPaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import type { ReportedResult } from '../../src/events/payment-result.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { choices, results } from '../support/arbitraries.ts';
import {
  payer as aminah,
  amountSen,
  asOfVersion1,
  chosen,
  orderNo,
  record,
  request,
  requested,
  requestPayment,
  result,
  resultAt,
  sen,
} from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const { decide, evolve, initial } = paymentDecider;

/** Two attempts of which the second has a charge: what matches depends on the attempt. */
const charged = sen(amountSen + 150);
const attempts = [requested(), chosen(1), chosen(2, { mode: 'cc', bankCode: '', chargeSen: sen(150) })];
const opened = attempts.reduce(evolve, initial);
const first = [requested(), chosen(1)].reduce(evolve, initial);

const commands: fc.Arbitrary<PaymentCommand> = fc.oneof(
  fc.constant(requestPayment()),
  fc
    .constantFrom('payer', 'merchant', 'expiry')
    .map((source) => ({ type: 'CancelPayment', at: resultAt, source }) as const),
  choices,
  results.map((reported) => record(reported)),
);

/** Carries out commands one after the other, each of them twice; a refused one adds nothing. */
function carryOut(script: readonly PaymentCommand[], from: Payment) {
  let state = from;
  const added: (readonly PaymentEvent[])[] = [];
  const addedAgain: PaymentEvent[] = [];
  for (const scripted of script) {
    const command = drawnNow(scripted, state);
    const events = eventsOf(command, state);
    state = events.reduce(evolve, state);
    added.push(events);
    addedAgain.push(...eventsOf(command, state));
  }
  return { state, added, addedAgain, events: added.flat() };
}

function eventsOf(command: PaymentCommand, state: Payment): readonly PaymentEvent[] {
  const decided = decide(command, state);
  return decided instanceof Refused ? [] : decided;
}

/** No page is drawn for a later attempt than the next. */
function drawnNow(command: PaymentCommand, state: Payment): PaymentCommand {
  if (command.type !== 'ChoosePaymentMethod' || state.status === 'none') return command;
  return { ...command, attempt: Math.min(command.attempt, state.attempts.length + 1) };
}

const count = (events: readonly PaymentEvent[], type: PaymentEvent['type']) =>
  events.filter((event) => event.type === type).length;

test('every decided event can be stored and read', (t) => {
  fc.assert(
    fc.property(fc.array(commands, { maxLength: 20 }), (script) => {
      for (const event of carryOut(script, initial).events) {
        t.deepEqual(readPaymentEvent({ ...event, metadata: { schemaVersion } }), event);
      }
    }),
  );
});

const requests = fc
  .tuple(
    fc.constantFrom(...channels),
    fc.constantFrom('', 'https://council.example/callback'),
    fc.constantFrom('', 'aminah@example.my'),
  )
  .map(([channel, callbackUrl, email]) => request({ channel, callbackUrl, payer: { ...aminah, email } }));

test('what events say of deliveries and orders is what version 1 derived', (t) => {
  fc.assert(
    fc.property(requests, fc.array(commands, { maxLength: 20 }), (asked, script) => {
      const { channel } = asked;
      const reported = script.map((command) =>
        command.type === 'RecordGatewayResult' ? { ...command, channel } : command,
      );
      const { state, events } = carryOut([{ type: 'RequestPayment', request: asked }, ...reported], initial);
      // Version 1 did not keep what is inferred, identified nothing, and told nobody of a wrong amount.
      fc.pre(count(events, 'GatewayResultIdentified') + count(events, 'AmountMismatchDetected') === 0);
      const told = JSON.parse(
        JSON.stringify(state, (key, each) =>
          ['isOrderInferred', 'bookedAs'].includes(key) ? undefined : each,
        ),
      );
      t.deepEqual(events.map(asOfVersion1).reduce(evolve, initial), told);
    }),
    { numRuns: runs(500) },
  );
});

test('a command adds at most one event, what that supersedes and what it corrects, and nothing when it is repeated at once', (t) => {
  fc.assert(
    fc.property(fc.array(commands, { maxLength: 30 }), (script) => {
      const { added, addedAgain } = carryOut(script, initial);
      return (
        addedAgain.length === 0 &&
        added.every((events) => {
          const others = events.filter(({ type }) => type !== 'GatewayResultIdentified');
          return others.length <= 2 && others.slice(0, -1).every(isSupersession);
        })
      );
    }),
    { numRuns: runs(500) },
  );
  t.pass();
});

const isSupersession = ({ type, data }: PaymentEvent) =>
  type === 'ExceptionResolved' && 'resolution' in data && data.resolution === 'superseded';

const isCorrection = ({ type, data }: PaymentEvent) =>
  type === 'GatewayResultIdentified' && 'gatewayTransactionId' in data && data.gatewayTransactionId === '';

test('a recorded result that names an order or a transaction never adds anything again', (t) => {
  // Without charges: the amount expected of an order that was never made is that of the latest attempt.
  const free = choices.map((choice) => ({ ...choice, chargeSen: sen(0) }));
  const reported = results.map((each) => record(each));
  fc.assert(
    fc.property(fc.array(fc.oneof(free, reported), { maxLength: 30 }), (script) => {
      const { state, added } = carryOut(script, first);
      const recorded = script.filter(
        (command, index) =>
          added[index]?.some((event) => !isCorrection(event)) &&
          command.type === 'RecordGatewayResult' &&
          isNamed(command.result) &&
          !mayEndAgain(command.result, added.slice(index + 1).flat()),
      );
      return recorded.every((command) => eventsOf(command, state).length === 0);
    }),
    { numRuns: runs(1000) },
  );
  t.pass();
});

/** A failure without a time also ends an attempt that has become pending since. */
const mayEndAgain = ({ outcome, paidAt }: ReportedResult, since: readonly PaymentEvent[]) =>
  (outcome === 'failed' || outcome === 'cancelled') && paidAt === null && count(since, 'PaymentPending') > 0;

function isNamed({ sellerOrderNo, gatewayTransactionId }: ReportedResult): boolean {
  return sellerOrderNo !== '' || gatewayTransactionId !== '';
}

const forStaff = new Set<PaymentEvent['type']>([
  'GatewayResultContradicted',
  'AmountMismatchDetected',
  'DuplicatePaymentDetected',
  'ExceptionResolved',
  'GatewayResultIdentified',
]);

test('a paid payment stays paid with the same receipt, whatever follows', (t) => {
  fc.assert(
    fc.property(fc.array(commands, { maxLength: 30 }), (script) => {
      const paid = carryOut([record(result(1, 'succeeded'))], opened).state;
      const { state, events } = carryOut(script, paid);
      if (paid.status === 'none' || state.status === 'none') return false;
      t.deepEqual(state.receipt, paid.receipt);
      return state.status === 'succeeded' && events.every(({ type }) => forStaff.has(type));
    }),
  );
  t.pass();
});

// Interleavings: a set of results, each delivered once or several times, in any order.

const named = results.map((reported) => ({
  ...reported,
  sellerOrderNo: reported.sellerOrderNo === orderNo(2) ? orderNo(2) : orderNo(1),
}));
const matches = ({ outcome, sellerOrderNo, amountSen: paidSen, currency }: ReportedResult) =>
  outcome === 'succeeded' &&
  paidSen === (sellerOrderNo === orderNo(2) ? charged : amountSen) &&
  currency !== 'USD';

/** What was sent, and the order in which it arrives: all of it, some of it twice. */
const deliveries = (reported: fc.Arbitrary<ReportedResult>) =>
  fc
    .array(fc.tuple(reported, fc.boolean()), { maxLength: 8 })
    .map((sent) => sent.flatMap(([each, twice]) => (twice ? [each, each] : [each])))
    .chain((sent) => fc.shuffledSubarray(sent, { minLength: sent.length }));

const deliver = (order: readonly ReportedResult[]) =>
  carryOut(
    order.map((reported) => record(reported)),
    opened,
  );

test('in any order: paid exactly when a success of what was asked is among the results, and once', (t) => {
  fc.assert(
    fc.property(deliveries(named), (order) => {
      const { state, events } = deliver(order);
      const paid = order.some(matches);
      return (state.status === 'succeeded') === paid && count(events, 'PaymentSucceeded') === (paid ? 1 : 0);
    }),
    { numRuns: runs(1000) },
  );
  t.pass();
});

test('in any order: a success of what was asked pays, although others name no order or no transaction', (t) => {
  const success = fc.constantFrom(
    result(1, 'succeeded'),
    result(2, 'succeeded', { amountSen: charged }),
    result(1, 'succeeded', { gatewayTransactionId: '' }),
  );
  const sets = fc.tuple(fc.array(results, { maxLength: 8 }), success).chain(([others, paying]) => {
    const all = [...others, paying];
    return fc.shuffledSubarray(all, { minLength: all.length });
  });
  fc.assert(
    fc.property(sets, (order) => {
      const { state, events } = deliver(order);
      return state.status === 'succeeded' && count(events, 'PaymentSucceeded') === 1;
    }),
    { numRuns: runs(1000) },
  );
  t.pass();
});

test('in any order: every charge of the payer is known by its gateway transaction, once', (t) => {
  const identified = named
    .filter(({ gatewayTransactionId }) => gatewayTransactionId !== '')
    // A gateway transaction is of one order and one amount.
    .map((reported) => ({ ...reported, sellerOrderNo: orderNo(1), currency: '', amountSen }));
  fc.assert(
    fc.property(deliveries(identified), (order) => {
      const { events } = deliver(order);
      const charges = new Set(order.filter(matches).map((reported) => reported.gatewayTransactionId));
      return count(events, 'PaymentSucceeded') + count(events, 'DuplicatePaymentDetected') === charges.size;
    }),
    { numRuns: runs(500) },
  );
  t.pass();
});

test('in any order: no attempt ends twice', (t) => {
  const endings = fc
    .tuple(fc.constantFrom(1, 2), fc.constantFrom('failed', 'cancelled', 'pending'))
    .map(([attempt, outcome]) => result(attempt, outcome));
  fc.assert(
    fc.property(deliveries(endings), (order) => {
      const { state, events } = deliver(order);
      const ends = events.filter(({ type }) => type === 'PaymentFailed' || type === 'PaymentCancelled');
      const orders = ends.map((event) => ('result' in event.data ? event.data.result.sellerOrderNo : ''));
      return state.status !== 'succeeded' && new Set(orders).size === orders.length;
    }),
    { numRuns: runs(500) },
  );
  t.pass();
});

test('no method can be chosen while a pending result of any attempt is undecided', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 30 }), (script) => {
        const pendingOrders = new Set<string>();
        for (const { type, data } of carryOut(script, opened).events) {
          if (type === 'PaymentMethodChosen' && pendingOrders.size > 0) return false;
          if (!('result' in data)) continue;
          const { outcome, sellerOrderNo } = data.result;
          if (sellerOrderNo === '') return true;
          if (type === 'PaymentPending') pendingOrders.add(sellerOrderNo);
          else if (outcome !== 'pending') pendingOrders.delete(sellerOrderNo);
        }
        return true;
      }),
      { numRuns: runs(1000) },
    ),
  );
});
