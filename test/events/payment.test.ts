// The fold: total, a success is final, and the result is the same in one go or in pieces.
import test from 'ava';
import fc from 'fast-check';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  readPaymentEvent,
} from '../../src/events/payment.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { events } from '../support/arbitraries.ts';
import { requested, transactionId } from '../support/payments.ts';
import { deepFreeze } from '../support/spec.ts';

const any = fc.array(events, { maxLength: 30 });
const opened = any.map((rest) => [requested(), ...rest]);
const histories = fc.oneof(any, opened);

/** The state after each event, the first being that before any. */
function statesOf(history: readonly PaymentEvent[], from: Payment = noPayment): Payment[] {
  const states = [from];
  for (const event of history) states.push(evolve(deepFreeze(states.at(-1) ?? from), deepFreeze(event)));
  return states;
}

test('the arbitrary events are well-formed', (t) => {
  fc.assert(
    fc.property(events, (event) => {
      readPaymentEvent({ ...event, metadata: { schemaVersion } });
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test('any well-formed events in any order fold into a state, and none mutates the state before it', (t) => {
  fc.assert(fc.property(histories, (history) => statesOf(history).length === history.length + 1));
  t.pass();
});

test('without a request there is no payment; the first request stays', (t) => {
  fc.assert(
    fc.property(histories, (history) => {
      const state = history.reduce(evolve, noPayment);
      const first = history.find((event) => event.type === 'PaymentRequested');
      return state.status === 'none' ? !first : state.request === first?.data;
    }),
  );
  t.pass();
});

test('a success is final, and its receipt never changes', (t) => {
  fc.assert(
    fc.property(opened, (history) => {
      const states = statesOf(history);
      const first = states.find((state) => state.status === 'succeeded');
      if (!first) return true;
      return states
        .slice(states.indexOf(first))
        .every(
          (state) => state.status === 'succeeded' && 'receipt' in first && state.receipt === first.receipt,
        );
    }),
  );
  t.pass();
});

test('there is a receipt exactly when the payment succeeded, and no more closed attempts than attempts', (t) => {
  fc.assert(
    fc.property(opened, (history) =>
      statesOf(history).every(
        (state) =>
          state.status === 'none' ||
          ((state.receipt !== null) === (state.status === 'succeeded') &&
            state.closedAttempts <= state.attempts.length),
      ),
    ),
  );
  t.pass();
});

test('results of an open payment and all attempts stay in the state', (t) => {
  fc.assert(
    fc.property(opened, (history) => {
      const states = statesOf(history);
      return history.every((event, index) => {
        const [before, after] = [states[index], states[index + 1]];
        if (!before || !after || before.status === 'none' || after.status === 'none') return true;
        if (event.type === 'PaymentMethodChosen') return after.attempts.length === before.attempts.length + 1;
        if (!('result' in event.data) || before.status === 'succeeded') return true;
        return after.results.length === before.results.length + 1;
      });
    }),
  );
  t.pass();
});

test('folding in one go, in pieces, and through JSON at every step is the same', (t) => {
  fc.assert(
    fc.property(histories, fc.nat({ max: 30 }), (history, cut) => {
      const whole = history.reduce(evolve, noPayment);
      const first = history.slice(0, cut).reduce(evolve, noPayment);
      t.deepEqual(history.slice(cut).reduce(evolve, first), whole);
      const stored = (state: Payment) => JSON.parse(JSON.stringify(state)) as Payment;
      t.deepEqual(
        history.reduce<Payment>((state, event) => stored(evolve(state, event)), noPayment),
        whole,
      );
    }),
  );
});

test('an event of an unknown type leaves the state as it is', (t) => {
  const state = evolve(noPayment, requested());
  t.is(
    evolve(state, { type: 'PaymentForgotten', data: { transactionId } } as unknown as PaymentEvent),
    state,
  );
});
