// The figures of a day, against a count over what the payments fold to.
import test from 'ava';
import fc from 'fast-check';
import { currentResult, type RequestedPayment } from '../../../src/events/payment.ts';
import { standingOf } from '../../../src/events/payment-standing.ts';
import { type DayMetrics, dayMetrics } from '../../../src/projections/payments/metrics.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runs } from '../../support/property-runs.ts';
import { day, emptyTables, type Filled, fillPayments, historyOfDay } from '../filled.ts';

const postgres = await createDatabase();

const inDay = (at: string) => at >= day.start && at < day.end;
const hourOf = (at: string) => Math.floor((Date.parse(at) - Date.parse(day.start)) / 3_600_000);
const modeOf = (state: RequestedPayment) => currentResult(state)?.mode || (state.attempts.at(-1)?.mode ?? '');
const paidAtOf = (state: RequestedPayment) => {
  const result = state.status === 'succeeded' ? currentResult(state) : null;
  return result ? (result.paidAt ?? result.at) : null;
};
const countBy = <T>(all: readonly T[], key: (each: T) => string) =>
  Object.fromEntries(Array.from(Map.groupBy(all, key), ([name, of]) => [name, of.length]));

function expectedFigures(filled: readonly Filled[]) {
  const states = filled.map(({ state }) => state);
  const requested = states.filter(({ request }) => inDay(request.at));
  const paid = states.flatMap((state) => {
    const paidAt = paidAtOf(state);
    return paidAt !== null && inDay(paidAt) ? [{ paidAt, amountSen: state.request.amountSen }] : [];
  });
  const sum = (rows: typeof paid) => rows.reduce((total, { amountSen }) => total + amountSen, 0);
  const withMode = requested.filter((state) => modeOf(state) !== '');
  return {
    requested: countBy(requested, standingOf),
    paid: { count: paid.length, amountSen: sum(paid) },
    hours: Array.from({ length: 24 }, (_, hour) => {
      const inHour = paid.filter(({ paidAt }) => hourOf(paidAt) === hour);
      return {
        requested: requested.filter(({ request }) => hourOf(request.at) === hour).length,
        paid: inHour.length,
        paidSen: sum(inHour),
      };
    }),
    methods: countBy(withMode, (state) => `${modeOf(state)} ${standingOf(state)}`),
  };
}

/** Without what is zero. */
function comparable({ requested, methods, ...figures }: DayMetrics) {
  const present = (counts: object, prefix = '') =>
    Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [[`${prefix}${name}`, count]] : []));
  return {
    ...figures,
    requested: Object.fromEntries(present(requested)),
    methods: Object.fromEntries(methods.flatMap(({ mode, byStatus }) => present(byStatus, `${mode} `))),
  };
}

test.serial('whatever the payments, each figure is what a count over their states is', async (t) => {
  const db = await emptyTables(postgres);
  let paid = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(historyOfDay, { maxLength: 12 }), async (histories) => {
      const filled = await fillPayments(db, histories);
      const figures = await dayMetrics(db, day, null);
      t.deepEqual(comparable(figures), expectedFigures(filled));
      paid += figures.paid.count;
    }),
    { numRuns: runs(60) },
  );
  t.true(paid > 0);
});

test.serial('a day on which nothing happened', async (t) => {
  const db = await emptyTables(postgres);
  const figures: unknown = await dayMetrics(db, day, null);
  t.deepEqual(figures, {
    requested: {
      requested: 0,
      pending: 0,
      succeeded: 0,
      failed: 0,
      cancelled: 0,
      partlyPaid: 0,
      wrongAmount: 0,
    },
    paid: { count: 0, amountSen: 0 },
    hours: Array.from({ length: 24 }, () => ({ requested: 0, paid: 0, paidSen: 0 })),
    methods: [],
  });
});
