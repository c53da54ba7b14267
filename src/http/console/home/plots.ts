/** The layout of plots, which the templates draw. Units are those of the drawing's viewBox. */
import { scaleBand, scaleLinear } from 'd3-scale';

type Series = 'quiet' | 'main';
const width = 360;
const columnsHeight = 180;
const left = 34;
const top = 8;
const base = columnsHeight - 20;

type Column = {
  /** `''` for a column without one. */
  label: string;
  values: readonly { series: Series; value: number; title: string }[];
};

export function columnPlot(columns: readonly Column[]) {
  const places = scaleBand<number>()
    .domain(columns.map((_, index) => index))
    .range([left, width])
    .paddingInner(0.2)
    .paddingOuter(0.1);
  const highest = Math.max(1, ...columns.flatMap(({ values }) => values.map(({ value }) => value)));
  const heights = scaleLinear().domain([0, highest]).nice(4).range([base, top]);
  const bars = columns.flatMap(({ values }, index) =>
    values.map(({ series, title, value }, place) => {
      const barWidth = places.bandwidth() / values.length;
      const y = heights(value);
      const x = (places(index) ?? 0) + place * barWidth;
      return { x: tenth(x), y: tenth(y), width: tenth(barWidth), height: tenth(base - y), title, series };
    }),
  );
  const labels = columns.map(({ label }, index) => ({
    at: tenth((places(index) ?? 0) + places.bandwidth() / 2),
    label,
  }));
  return {
    width,
    height: columnsHeight,
    base,
    left,
    bars,
    // Payments come in whole numbers.
    ticks: heights
      .ticks(4)
      .filter(Number.isInteger)
      .map((value) => ({ at: tenth(heights(value)), label: heights.tickFormat(4, '~s')(value) })),
    labels: labels.filter(({ label }) => label !== ''),
  };
}

const rowHeight = 38;

/** Shares from 0 to 1, one row each; null if there is no share to show. */
export function sharePlot(rows: readonly { label: string; text: string; share: number | null }[]) {
  const widths = scaleLinear().domain([0, 1]).range([0, width]);
  return {
    width,
    height: rows.length * rowHeight,
    rows: rows.map(({ label, text, share }, index) => ({
      y: index * rowHeight,
      label,
      text,
      width: tenth(widths(share ?? 0)),
      full: width,
    })),
  };
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
