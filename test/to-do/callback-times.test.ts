// How long callbacks of a day took, against a count over what the payments fold to.
import test from 'ava';
import fc from 'fast-check';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { callbackDelays, delayBoundsMs } from '../../src/to-do/callback-times.ts';
import { day, emptyTables, type Filled, fillPayments, historyOfDay } from '../projections/filled.ts';
import { request, result, resultAt, succeeded } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';

const postgres = await createDatabase();

const inDay = (at: string) => at >= day.start && at < day.end;

function expectedDelays(filled: readonly Filled[]) {
  const states = filled.map(({ state }) => state);
  const delays = states
    .flatMap(({ deliveries }) => deliveries.filter(({ kind }) => kind === 'callback').slice(-1))
    .filter(({ calledAt, state }) => state === 'delivered' && inDay(calledAt))
    // Requested again, it has a new schedule.
    .filter(({ attempts, triesOfSchedule }) => attempts === triesOfSchedule)
    .map(({ calledAt, settledAt }) => Date.parse(settledAt ?? '') - Date.parse(calledAt))
    .toSorted((a, b) => a - b);
  return {
    delivered: delays.length,
    percentiles: [0.5, 0.95, 0.99].map((share) => percentile(delays, share)),
    histogram: [...delayBoundsMs, Number.POSITIVE_INFINITY].map(
      (bound, index) =>
        delays.filter((ms) => ms < bound && ms >= (delayBoundsMs[index - 1] ?? Number.NEGATIVE_INFINITY))
          .length,
    ),
  };
}

/** Between the two nearest ranks. */
function percentile(sorted: readonly number[], share: number): number | null {
  const rank = share * (sorted.length - 1);
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  return below === undefined || above === undefined ? null : Math.round(below + (above - below) * (rank % 1));
}

test.serial('whatever the payments, each figure is what a count over their states is', async (t) => {
  const db = await emptyTables(postgres);
  let delivered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(historyOfDay, { maxLength: 12 }), async (histories) => {
      const filled = await fillPayments(db, histories);
      const { medianMs, p95Ms, p99Ms, ...figures } = await callbackDelays(db, day, null);
      const percentiles = [medianMs, p95Ms, p99Ms].map((ms) => ms && Math.round(ms));
      t.deepEqual({ ...figures, percentiles }, expectedDelays(filled));
      delivered += figures.delivered;
    }),
    { numRuns: runs(120) },
  );
  t.true(delivered > 0);
});

test.serial('a callback counts at any attempt, but not if sent again; texts may hold U+0000', async (t) => {
  const db = await emptyTables(postgres);
  const data = request({ merchant: { ...request().merchant, code: '\0' } });
  const about = { at: resultAt, delivery: 'callback-1' };
  const tried = { ...about, durationMs: 1 };
  const second: PaymentEvent[] = [
    { type: 'PaymentRequested', data },
    succeeded(result(1, 'succeeded')),
    {
      type: 'CallbackAttemptFailed',
      data: { ...tried, attempt: 1, status: 500, reason: '', nextAttemptAt: resultAt },
    },
    { type: 'CallbackDelivered', data: { ...tried, attempt: 2, status: 200 } },
  ];
  const again: PaymentEvent[] = [
    { type: 'CallbackRequested', data: about },
    { type: 'CallbackDelivered', data: { ...tried, attempt: 3, status: 200 } },
  ];
  await fillPayments(db, [second, [...second, ...again]]);
  t.like(await callbackDelays(db, day, null), { delivered: 1 });
});

test.serial('a day on which nothing was delivered', async (t) => {
  const db = await emptyTables(postgres);
  t.deepEqual(await callbackDelays(db, day, null), {
    delivered: 0,
    medianMs: null,
    p95Ms: null,
    p99Ms: null,
    histogram: [...delayBoundsMs, 0].map(() => 0),
  });
});
