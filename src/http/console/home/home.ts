/** GET /console: the metrics of a day, each a link to what it counts, and everything that needs staff. */
import { type CheckOutcome, lastCheck, lateAfterMs } from '../../../audit/background-check/schedule.ts';
import { unsealed } from '../../../audit/seals/sealing-status.ts';
import { dayBefore, dayOf } from '../../../common/malaysian-time.ts';
import { countOpenExceptions, kindsFor } from '../../../projections/exceptions/queries.ts';
import { dayMetrics } from '../../../projections/payments/metrics.ts';
import { callbackDelays } from '../../../to-do/callback-times.ts';
import { countDeliveries } from '../../../to-do/delivery-queries.ts';
import { deliveriesFor, maxCounted } from '../deliveries/list.ts';
import { queryOf, readQuery, spanOfDay } from '../frame/forms-and-lists.ts';
import type { Page } from '../frame/page.ts';
import { delayPlot, hoursPlot, methodsPlot } from './metric-plots.ts';

const answerWithinMs = 2_000;

export const showHome: Page = async (ctx, { askReadModels, db, eventStore, runtime, show }) => {
  const now = runtime.now();
  const today = dayOf(now.toISOString());
  const day = readQuery(ctx).day || today;
  const span = spanOfDay(day);
  const { merchants } = ctx.state.staff;
  const countIn = (state: 'due' | 'abandoned') =>
    countDeliveries(db, deliveriesFor(ctx, db, { states: [state], kinds: [] }), maxCounted + 1);
  const [metrics, delay, open, due, abandoned, checked, verified] = await askReadModels(ctx, [
    dayMetrics(db, span, merchants),
    callbackDelays(db, span, merchants),
    countOpenExceptions(db, merchants),
    countIn('due'),
    countIn('abandoned'),
    lastCheck(db),
    lastCheck(db, 'verify'),
  ]);
  await show(ctx, 'home/home.njk', {
    day,
    today,
    dayBefore: dayBefore(span.start),
    dayAfter: day < today ? dayOf(span.end) : null,
    // What is wrong with the log as a whole may name any merchant's payments.
    log: merchants === null && {
      unsealed: await unsealed(eventStore, db, { now, signal: runtime.timeout(answerWithinMs) }),
      checks: [
        checked && checkModel('check', checked, now),
        verified && checkModel('verify', verified, now),
      ].filter((check) => check !== null),
      isChecked: checked !== null,
    },
    paid: metrics.paid,
    requested: metrics.requested,
    requestedCount: Object.values(metrics.requested).reduce((sum, count) => sum + count, 0),
    maxCounted,
    waiting: [
      ...kindsFor(merchants).map((kind) => ({
        kind,
        count: open[kind],
        url: `/console/exceptions${queryOf({ kind })}`,
      })),
      { kind: 'abandoned', count: abandoned, url: '/console/deliveries?state=abandoned' },
      { kind: 'due', count: due, url: '/console/deliveries?state=due', isUsual: true },
    ],
    hours: hoursPlot(metrics.hours),
    methods: methodsPlot(metrics.methods, day),
    delay: delayPlot(delay),
    deliveredUrl: `/console/deliveries${queryOf({ state: 'delivered', kind: 'callback', day })}`,
  });
};

const otherwise = { check: '/console/journal', verify: '/docs/seals#what-verify-checks' } as const;

/** Each violation with a link to the payment that it names, or to the books or what a violation means. */
function checkModel(is: keyof typeof lateAfterMs, outcome: CheckOutcome, now: Date) {
  const { at, checked, notes = [], violations } = outcome;
  return {
    is,
    at,
    isLate: now.getTime() - Date.parse(at) > lateAfterMs[is],
    checked,
    notes,
    violations: violations.map(({ count, first, kind }) => {
      const [id] = kind.startsWith('rows of payments') ? (/\b[0-9A-Z]{26}\b/.exec(first) ?? []) : [];
      return { text: first, more: count - 1, url: id ? `/console/payments/${id}` : otherwise[is] };
    }),
  };
}
