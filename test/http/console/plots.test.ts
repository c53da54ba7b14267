// Plots stay within their frame, whatever the numbers.
import test from 'ava';
import fc from 'fast-check';
import { delayPlot, hoursPlot, methodsPlot } from '../../../src/http/console/home/metric-plots.ts';
import { columnPlot, sharePlot } from '../../../src/http/console/home/plots.ts';
import { delayBoundsMs } from '../../../src/to-do/callback-times.ts';
import { sen } from '../../support/payments.ts';

const count = fc.integer({ min: 0, max: 1_000_000_000 });

test('columns stand on the base, within the frame, and the highest column is the highest number', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(count, count), { maxLength: 30 }), (rows) => {
      const plot = columnPlot(
        rows.map((values) => ({
          label: 'x',
          values: values.map((value) => ({ series: 'main', value, title: String(value) })),
        })),
      );
      const within = plot.bars.every(
        ({ height, width, x, y }) =>
          height >= 0 &&
          width > 0 &&
          y >= 0 &&
          x >= plot.left &&
          x + width <= plot.width + 0.2 &&
          Math.abs(y + height - plot.base) < 0.11,
      );
      const highest = Math.max(...plot.bars.map(({ title }) => Number(title)));
      const tallest = Math.max(...plot.bars.map(({ height }) => height));
      const isTallest = plot.bars.every(({ height, title }) => Number(title) < highest || height === tallest);
      return within && isTallest && plot.ticks.every(({ at }) => at >= 0 && at <= plot.base);
    }),
  );
  t.pass();
});

test('a scale of counts has no fractions', (t) => {
  const { ticks } = columnPlot([{ label: 'x', values: [{ series: 'main', value: 1, title: '1' }] }]);
  t.deepEqual(
    ticks.map(({ label }) => label),
    ['0', '1'],
  );
});

test('shares are drawn from nothing to all', (t) => {
  const { rows, width } = sharePlot([0, 0.5, 1, null].map((share) => ({ label: 'a', text: 'b', share })));
  t.deepEqual(
    rows.map((row) => row.width),
    [0, width / 2, width, 0],
  );
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
      '1 s to 5 s',
      '5 s to 30 s',
      '30 s to 5 min',
      '5 min to 30 min',
      '30 min to 2 h',
      '2 h to 24 h',
      '24 h or longer',
    ],
  );
});

test('each hour has what was requested and what was paid', (t) => {
  const { plot, rows } = hoursPlot([{ requested: 2, paid: 1, paidSen: sen(12_050) }]);
  t.deepEqual(
    plot.bars.map(({ title }) => title),
    ['00:00: 2 requested', '00:00: 1 paid, RM 120.50'],
  );
  t.is(rows[0]?.name, '00:00');
});
