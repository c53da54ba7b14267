// The numbers of plots and their scales.
import test from 'ava';
import fc from 'fast-check';
import { delayPlot, hoursPlot, methodsPlot } from '../../../src/http/console/home/metric-plots.ts';
import { delayBoundsMs } from '../../../src/to-do/callback-times.ts';
import { sen } from '../../support/payments.ts';

const count = fc.integer({ min: 0, max: 1_000_000_000 });

test('a scale ends with a round number that no column is above', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(count, count), { minLength: 1, maxLength: 30 }), (pairs) => {
      const { plot } = hoursPlot(pairs.map(([requested, paid]) => ({ requested, paid, paidSen: sen(0) })));
      const largest = Math.max(1, ...pairs.flat());
      return plot.highest >= largest && plot.highest < 3 * largest && /^[125]0*$/.test(String(plot.highest));
    }),
  );
  t.is(hoursPlot([]).plot.highest, 1);
});

test('a rate is 100 % only when none failed, and missing where none ended', (t) => {
  const none = {
    requested: 0,
    partlyPaid: 0,
    pending: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    wrongAmount: 0,
  };
  const { rows } = methodsPlot(
    [
      { mode: 'fpx', byStatus: { ...none, succeeded: 100_000, failed: 1 } },
      { mode: 'cc', byStatus: { ...none, succeeded: 3 } },
      { mode: 'dnqr', byStatus: { ...none, pending: 3 } },
    ],
    '2026-11-20',
  );
  t.deepEqual(
    rows.map(({ rate }) => rate),
    ['99.9 %', '100 %', 'none ended'],
  );
});

test('durations are in the largest unit that fits', (t) => {
  const delay = { delivered: 1, medianMs: 420.4, p95Ms: 61_000, p99Ms: 7_200_000 };
  const { percentiles, rows } = delayPlot({ ...delay, histogram: [...delayBoundsMs, 0].map(() => 1) });
  t.deepEqual(
    percentiles.map(({ value }) => value),
    ['420 ms', '1.0 min', '2.0 h'],
  );
  t.deepEqual(
    rows.map(({ name }) => name),
    [
      'less than 1 s',
      'from 1 s to 5 s',
      'from 5 s to 30 s',
      'from 30 s to 5 min',
      'from 5 min to 30 min',
      'from 30 min to 2 h',
      'from 2 h to 24 h',
      '24 h or longer',
    ],
  );
});

test('each hour has what was requested and what was paid', (t) => {
  const { plot, rows } = hoursPlot([{ requested: 2, paid: 1, paidSen: sen(12_050) }]);
  t.deepEqual(
    plot.columns.flatMap(({ values }) => values.map(({ title }) => title)),
    ['00:00: 2 requested', '00:00: 1 paid, RM 120.50'],
  );
  t.is(rows[0]?.name, '00:00');
});
