// Erasing personal data changes nothing else: whatever happened, wherever it is erased, and however often.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { type PaymentCommand, paymentDecider } from '../../src/commands/payment.ts';
import { unopened } from '../../src/events/open-payment.ts';
import { evolve, noPayment, type Payment, type PaymentEvent } from '../../src/events/payment.ts';
import { type Books, type Entry, enter } from '../../src/events/postings.ts';
import { receiptOf } from '../../src/receipts/receipt.ts';
import { history } from '../projections/histories.ts';
import { choices, results } from '../support/arbitraries.ts';
import { record, requestPayment } from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';

const erased: PaymentEvent = {
  type: 'PersonalDataErased',
  data: { at: '2033-01-01T00:00:00.000Z', reason: 'requested', keys: [] },
};

/** Everything that a history comes to, but who has paid. */
function outcomeOf(events: readonly PaymentEvent[]) {
  let books: Books | null = null;
  const entries: Entry[] = [];
  for (const event of events) {
    const entered = enter(books, event);
    books = entered.books;
    if (entered.entry) entries.push(entered.entry);
  }
  const state = events.reduce(evolve, noPayment);
  if (state.status === 'none') return { books, entries };
  const { personalData: _, request: asked, results: recorded, ...payment } = state;
  const { personal: __, ...request } = asked;
  const results = recorded.map(({ personal: ___, ...result }) => result);
  return { payment: { ...payment, request, results }, receipt: receiptOf(unopened(state)), books, entries };
}

test('whatever the history: the same status, books, receipts and deliveries with and without erasures', (t) => {
  const places = fc.array(fc.nat(11), { minLength: 1, maxLength: 3 });
  const tries = runs(10_000);
  let withResults = 0;
  fc.assert(
    fc.property(history, places, (events, at) => {
      const withErasures = [...events];
      for (const place of at) withErasures.splice(1 + (place % events.length), 0, erased);
      const folded = withErasures.reduce(evolve, noPayment);
      if (folded.status !== 'none' && folded.results.length > 0) withResults += 1;
      t.deepEqual(outcomeOf(withErasures), outcomeOf(events));
    }),
    { numRuns: tries },
  );
  t.true(withResults > tries * 0.3);
});

test('after an erasure a state holds nothing of what was there before, and still what came later', (t) => {
  fc.assert(
    fc.property(history, history, ([first, ...before], [, ...after]) => {
      const later = after.filter(({ type }) => type !== 'PaymentRequested');
      const state = [first as PaymentEvent, ...before, erased].reduce(evolve, noPayment);
      if (state.status === 'none') return;
      t.deepEqual(state.request.personal, { erased: true });
      for (const { personal } of state.results) t.deepEqual(personal, { erased: true });
      t.deepEqual(state.personalData, { keys: [], plain: false, erasedAt: erased.data.at });
      const end = later.reduce<Payment>(evolve, state);
      if (end.status === 'none') return;
      t.deepEqual(end.request.personal, { erased: true });
      for (const { personal } of end.results.slice(state.results.length)) t.true('plain' in personal);
    }),
    { numRuns: runs(500) },
  );
});

test('the same commands lead to the same events, wherever personal data are erased in between', (t) => {
  const commands: fc.Arbitrary<PaymentCommand> = fc.oneof(
    fc.constant(requestPayment()),
    choices,
    results.map((reported) => record(reported)),
  );
  const erasing: PaymentCommand = {
    type: 'ErasePersonalData',
    at: '2033-01-01T00:00:00.000Z',
    reason: 'retention',
    destroyed: [],
  };
  const carryOut = (script: readonly PaymentCommand[]) => {
    let state: Payment = noPayment;
    const added: PaymentEvent[] = [];
    for (const command of script) {
      const decided = paymentDecider.decide(command, state);
      if (decided instanceof Refused) continue;
      state = decided.reduce(evolve, state);
      added.push(...decided);
    }
    return added.filter(({ type }) => type !== 'PersonalDataErased');
  };
  fc.assert(
    fc.property(
      fc.array(commands, { maxLength: 25 }),
      fc.array(fc.nat(30), { maxLength: 5 }),
      (script, at) => {
        const withErasures = [...script];
        for (const place of at) withErasures.splice(place % (script.length + 1), 0, erasing);
        t.deepEqual(carryOut(withErasures), carryOut(script));
      },
    ),
    { numRuns: runs(2_000) },
  );
});
