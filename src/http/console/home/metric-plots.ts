/** The metrics of a day as plots, which views/console/home/plots.njk draws, each with its numbers for the table below it. */
import { displaySen } from '../../../common/money.ts';
import type { DayMetrics } from '../../../projections/payments/metrics.ts';
import { type CallbackDelays, delayBoundsMs } from '../../../to-do/callback-times.ts';
import { queryOf } from '../frame/forms-and-lists.ts';

type Column = {
  label: string;
  values: readonly { series: 'quiet' | 'main'; value: number; title: string }[];
};

/** `highest` is the end of the scale: a round number, and no less than any value. */
function columnPlot(columns: readonly Column[]) {
  const largest = Math.max(1, ...columns.flatMap(({ values }) => values.map(({ value }) => value)));
  const power = 10 ** Math.floor(Math.log10(largest));
  const step = [1, 2, 5, 10].find((each) => each * power >= largest) ?? 10;
  return { columns, highest: step * power };
}

export function hoursPlot(hours: DayMetrics['hours']) {
  const rows = hours.map((metrics, hour) => ({ ...metrics, name: `${String(hour).padStart(2, '0')}:00` }));
  return {
    rows,
    plot: columnPlot(
      rows.map(({ name, requested, paid, paidSen }, hour) => ({
        label: hour % 3 === 0 ? name.slice(0, 2) : '',
        values: [
          { series: 'quiet', value: requested, title: `${name}: ${requested} requested` },
          { series: 'main', value: paid, title: `${name}: ${paid} paid, ${displaySen(paidSen)}` },
        ],
      })),
    ),
  };
}

export function methodsPlot(methods: DayMetrics['methods'], day: string) {
  const rows = methods.map(({ mode, byStatus }) => {
    const { succeeded, failed, cancelled } = byStatus;
    const decided = succeeded + failed + cancelled;
    const share = decided === 0 ? null : succeeded / decided;
    const rate = share === null ? 'none ended' : percentText(share);
    return {
      mode,
      url: `/console/payments${queryOf({ day, mode })}`,
      succeededUrl: `/console/payments${queryOf({ day, mode, status: 'succeeded' })}`,
      succeeded,
      decided,
      total: Object.values(byStatus).reduce((sum, count) => sum + count, 0),
      rate,
      share,
    };
  });
  return { rows };
}

const shortUnits = [
  { ms: 60 * 60 * 1000, unit: 'h' },
  { ms: 60 * 1000, unit: 'min' },
  { ms: 1000, unit: 's' },
] as const;

export function delayPlot({ delivered, medianMs, p95Ms, p99Ms, histogram }: CallbackDelays) {
  const bounds = delayBoundsMs.map(boundText);
  const rows = histogram.map((count, slot) => ({ name: slotText(bounds, slot), count }));
  return {
    delivered,
    percentiles: [
      { name: 'Median', value: durationText(medianMs) },
      { name: '95 %', value: durationText(p95Ms) },
      { name: '99 %', value: durationText(p99Ms) },
    ],
    rows,
    plot: columnPlot(
      rows.map(({ name, count }, slot) => ({
        label: bounds[slot] ?? 'longer',
        values: [{ series: 'main', value: count, title: `${name}: ${count}` }],
      })),
    ),
  };
}

function slotText(bounds: readonly string[], slot: number): string {
  const above = bounds[slot];
  const from = bounds[slot - 1];
  if (above === undefined) return `${from} or longer`;
  return from === undefined ? `less than ${above}` : `from ${from} to ${above}`;
}

function boundText(ms: number): string {
  const { ms: unitMs, unit } = shortUnits.find((each) => ms >= each.ms) ?? shortUnits[2];
  return `${ms / unitMs} ${unit}`;
}

/** In the largest unit that fits; `–` for none. */
function durationText(ms: number | null): string {
  if (ms === null) return '–';
  const fit = shortUnits.find((each) => ms >= each.ms);
  return fit ? `${(ms / fit.ms).toFixed(1)} ${fit.unit}` : `${Math.round(ms)} ms`;
}

/** Rounded down, so that 100 % means that none failed. */
function percentText(share: number): string {
  return `${Math.floor(share * 1000) / 10} %`;
}
