// A day of payments at a gateway that loses results, charges twice and charges wrong amounts, at banks that take charges
// back, with staff who settle what they see. Every charge ends up paid, returned or open for staff, what was taken back is
// before staff, the exports of the gateway and of the registry show exactly what differs, and no page tells a payer
// otherwise at any moment.
// PROPERTY_RUNS=1 makes it 10,000 payments; PROPERTY_SEED draws other days.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { adjustedSen } from '../../src/events/adjustments.ts';
import { exceptionsOf } from '../../src/events/exceptions.ts';
import { enter } from '../../src/events/postings.ts';
import { exportSources } from '../../src/events/reconciliation.ts';
import { openAttempts } from '../../src/events/requery-schedule.ts';
import { unknownOutcomesOf } from '../../src/events/unknown-attempt-outcomes.ts';
import { requestPayment } from '../support/payments.ts';
import { runs } from '../support/property-runs.ts';
import { checkExport } from './day/export.ts';
import { payerTries, requeries } from './day/gateway.ts';
import { count, hourMs, isCharge, type Life, resultOf, whereabouts } from './day/life.ts';
import { lookAtPages } from './day/pages.ts';
import { aftermath, staffSettle } from './day/staff.ts';
import { createRandom, type Random } from './engine/random.ts';

const { decide, evolve, initial } = paymentDecider;

async function begin(random: Random, figures: Life['figures']): Promise<Life> {
  const requested = decide(requestPayment(), initial);
  const state = requested instanceof Refused ? initial : requested.reduce(evolve, initial);
  if (requested instanceof Refused || state.status === 'none') throw new Error('Nothing was requested');
  const nowMs = Date.parse('2026-11-20T01:00:00.000Z') + random.integer(0, 24 * hourMs);
  const habits = { isTroubled: random.chance(0.2), takesParts: random.chance(0.5) };
  const money = { books: null, gatewaySen: 0, bank: [], isPaid: false };
  const life: Life = { random, nowMs, state, ...habits, ...money, figures };
  for (const event of requested) life.books = enter(life.books, event).books;
  await lookAtPages(life);
  return life;
}

/** Throws unless every charge is paid, returned, or open for staff; counts which. */
function settleUp(life: Life): void {
  const { bank, state } = life;
  const exceptions = exceptionsOf(state).filter(({ resolved }) => !resolved);
  let expectedSen = 0;
  for (const charge of bank.filter(isCharge)) {
    const where = whereabouts(state, charge);
    count(life, 'charges');
    // Only the comparison with the gateway's export can find it.
    if (where === 'not known') continue;
    const found = resultOf(state, charge);
    if (where === 'open' && !exceptions.some(({ resultNo }) => state.results[resultNo - 1] === found))
      throw new Error('Money in suspense is no exception');
    count(life, `charges ${where}`);
    if (where === 'open' || where === 'paid') expectedSen += charge.sen;
  }
  // Charges that were refunded after they had paid are counted as paid.
  expectedSen -= adjustedSen(state, 'refunded');
  if (life.gatewaySen !== expectedSen)
    throw new Error(`The books have ${life.gatewaySen} sen instead of ${expectedSen}`);
  for (const attempt of openAttempts(state))
    if (!unknownOutcomesOf(state).some((each) => each.orderNo === attempt.sellerOrderNo && !each.settled))
      throw new Error('An open attempt is left to nobody');
  for (const source of exportSources) checkExport(life, source);
  count(life, `payments ${state.status}`);
}

test('a day of payments: every charge is paid, returned or open for staff, and no page says otherwise', async (t) => {
  t.timeout(600_000);
  const { PROPERTY_RUNS, PROPERTY_SEED = '1' } = process.env;
  const seed = PROPERTY_SEED === 'random' ? String(Date.now()) : PROPERTY_SEED;
  const figures: Life['figures'] = new Map();
  const payments = PROPERTY_RUNS ? runs(10_000) : 1_000;
  for (let payment = 1; payment <= payments; payment += 1) {
    const life = await begin(createRandom(`${seed}/${payment}`), figures);
    try {
      await payerTries(life);
      await requeries(life);
      await staffSettle(life);
      await aftermath(life);
      await requeries(life);
      settleUp(life);
    } catch (error) {
      const history = life.state.results.map(({ role, gatewayTransactionId, resolved }) => [
        role,
        gatewayTransactionId,
        resolved?.resolution,
      ]);
      throw new Error(`Payment ${payment} of day ${seed}: ${JSON.stringify(history)}: ${String(error)}`, {
        cause: error,
      });
    }
  }
  t.log(`${payments} payments, seed ${seed}`, Object.fromEntries([...figures].toSorted()));
  t.true((figures.get('charges paid') ?? 0) > payments / 2);
});
