// Which deliveries a new status sets in motion, on either channel.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { deliveriesFor } from '../../src/commands/planned-deliveries.ts';
import { evolve, noPayment, type Payment, type PaymentEvent } from '../../src/events/payment.ts';
import { outcomes } from '../../src/events/payment-result.ts';
import {
  payer as aminah,
  applied,
  chosen,
  type RequestChanges,
  record,
  request,
  resolving,
  result,
  sen,
} from '../support/payments.ts';

const url = 'https://council.example/callback';
const noEmail = { ...aminah, email: '' };

function paymentAfter(over: RequestChanges, ...events: PaymentEvent[]) {
  const first: PaymentEvent = { type: 'PaymentRequested', data: request(over) };
  const payment = [first, chosen(1), ...events].reduce(evolve, noPayment);
  if (payment.status === 'none') throw new Error('There is a request');
  return payment;
}

for (const outcome of outcomes)
  test(`every status has a callback of its own, ${outcome} too`, (t) => {
    const [first] = deliveriesFor(paymentAfter({}), outcome);
    t.deepEqual(first, { key: 'callback-1', kind: 'callback', url });
    const later = paymentAfter({}, applied(result(1, 'pending')), applied(result(1, 'failed')));
    t.deepEqual(deliveriesFor(later, outcome)[0], { key: 'callback-3', kind: 'callback', url });
  });

test('without a callback URL there is no callback', (t) => {
  t.deepEqual(deliveriesFor(paymentAfter({ callbackUrl: '' }), 'failed'), []);
});

test('only a success is emailed, and only if there is an address', (t) => {
  const kinds = (over: RequestChanges) =>
    outcomes.filter((outcome) =>
      deliveriesFor(paymentAfter(over), outcome).some(({ kind }) => kind === 'email'),
    );
  t.deepEqual(kinds({}), ['succeeded']);
  t.deepEqual(kinds({ payer: noEmail }), []);
});

test('of a wrong amount the merchant hears by a callback, and the payer by email if there is an address', (t) => {
  const notice = { key: 'notice-1', kind: 'email' };
  t.deepEqual(deliveriesFor(paymentAfter({}), 'wrongAmount'), [
    { key: 'callback-1', kind: 'callback', url },
    notice,
  ]);
  t.deepEqual(deliveriesFor(paymentAfter({ channel: 'landreg' }), 'wrongAmount'), [notice]);
  t.deepEqual(deliveriesFor(paymentAfter({ callbackUrl: '', payer: noEmail }), 'wrongAmount'), []);
});

test('a callback about a wrong amount has a place among those of the statuses', (t) => {
  const { decide, evolve } = paymentDecider;
  const wrong = result(1, 'succeeded', { amountSen: sen(1) });
  const commands = [
    record(result(1, 'pending')),
    record(wrong),
    resolving(2, 'refunded'),
    record(result(2, 'succeeded')),
    record(result(3, 'succeeded', { amountSen: sen(2) })),
  ] as const;
  const paid = commands.reduce<Payment>((payment, command) => {
    const events = decide(command, payment);
    return events instanceof Refused ? payment : events.reduce(evolve, payment);
  }, paymentAfter({}));
  t.deepEqual(paid.status !== 'none' && paid.deliveries.map(({ key, change }) => [key, change]), [
    ['callback-1', 1],
    ['callback-2', 2],
    ['notice-2', 2],
    ['callback-3', 3],
    ['notice-3', 3],
    ['callback-4', 4],
    ['email', 4],
  ]);
});

test('the land registry gets every item of a success', (t) => {
  const landreg = paymentAfter({ channel: 'landreg', payer: noEmail });
  t.deepEqual(deliveriesFor(landreg, 'succeeded'), [
    { key: 'item-01', kind: 'item', item: 1 },
    { key: 'item-02', kind: 'item', item: 2 },
  ]);
  t.deepEqual(deliveriesFor(landreg, 'failed'), []);
});

test('items of the other channel are not reported', (t) => {
  const { items } = request({ channel: 'landreg' });
  t.deepEqual(deliveriesFor(paymentAfter({ items, payer: noEmail, callbackUrl: '' }), 'succeeded'), []);
});
