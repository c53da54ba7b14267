/** The first page: the figures of a day, each a link to what it counts, and what waits for staff. */
import { unsealed } from '../../../audit/seals/unsealed.ts';
import type { PaymentStatus } from '../../../events/payment.ts';
import { dayOf } from '../../../kernel/malaysian-time.ts';
import { displaySen } from '../../../kernel/money.ts';
import { allDeliveries, createDeliveryList } from '../../../projections/deliveries/queries.ts';
import { createExceptionQueries, listedKinds } from '../../../projections/exceptions/queries.ts';
import { type DayMetrics, dayMetrics } from '../../../projections/payments/metrics.ts';
import type { Context } from '../../server/context.ts';
import { kindTexts } from '../exceptions/texts.ts';
import { queryOf, spanOfDay } from '../frame/filter-fields.ts';
import { readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { askReadModels } from '../frame/read-models.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { delayPlot, hoursPlot, methodsPlot } from './metric-plots.ts';

const dayMs = 24 * 60 * 60 * 1000;
const maxCounted = 10_000;
const lookMs = 2_000;

export function homeRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [{ method: 'get', path: '/console', action: 'look', handle: (ctx) => showHome(ctx, parts) }];
}

async function showHome(
  ctx: Context,
  { clock, console: { db }, eventStore, frame, log }: ConsoleParts,
): Promise<void> {
  const now = clock();
  const today = dayOf(now.toISOString());
  const { day: asked = '' } = readQuery(ctx);
  const day = asked === '' ? today : asked;
  const span = spanOfDay(day);
  const countIn = (state: 'due' | 'abandoned') =>
    createDeliveryList(db).count({ ...allDeliveries, states: [state] }, maxCounted + 1);
  const [figures, open, due, abandoned] = await askReadModels(ctx, log, [
    dayMetrics(db, span),
    createExceptionQueries(db).countOpen(),
    countIn('due'),
    countIn('abandoned'),
  ]);
  const sealing = await unsealed(eventStore, now, AbortSignal.timeout(lookMs));
  await frame.show(ctx, 'home/home.njk', {
    title: day === today ? 'Today' : day,
    day,
    today,
    dayBefore: dayOf(new Date(Date.parse(span.start) - dayMs).toISOString()),
    dayAfter: day < today ? dayOf(span.end) : null,
    unsealed: sealing,
    tiles: tilesOf(figures, day),
    waiting: [
      ...listedKinds.map((kind) => ({
        name: kindTexts[kind].name,
        count: open[kind],
        url: `/console/exceptions${queryOf({ kind })}`,
      })),
      { name: 'Deliveries given up', count: abandoned, url: '/console/deliveries?state=abandoned' },
      { name: 'Deliveries on their way', count: due, url: '/console/deliveries?state=due', isUsual: true },
    ].map((each) => ({
      isUsual: false,
      ...each,
      text: each.count > maxCounted ? `>${countText(maxCounted)}` : countText(each.count),
    })),
    hours: hoursPlot(figures.hours),
    methods: methodsPlot(figures.methods, day),
    delay: delayPlot(figures.delay),
    deliveredUrl: `/console/deliveries${queryOf({ state: 'delivered', kind: 'callback', day })}`,
  });
}

const statusTiles: readonly { status: PaymentStatus; name: string }[] = [
  { status: 'succeeded', name: 'Successful' },
  { status: 'failed', name: 'Failed' },
  { status: 'cancelled', name: 'Cancelled' },
  { status: 'pending', name: 'Pending' },
  { status: 'requested', name: 'Awaiting payment' },
];

/** What was asked for on the day, by what has become of it, and what was paid on it. */
function tilesOf({ paid, requested }: DayMetrics, day: string) {
  const total = Object.values(requested).reduce((sum, count) => sum + count, 0);
  const payments = (fields: Record<string, string>) => `/console/payments${queryOf({ ...fields })}`;
  return [
    {
      name: `Paid, in ${countText(paid.count)} ${paid.count === 1 ? 'payment' : 'payments'}`,
      status: null,
      value: displaySen(paid.amountSen),
      url: payments({ day, by: 'paid' }),
    },
    { name: 'Asked for', status: null, value: countText(total), url: payments({ day }) },
    ...statusTiles.map(({ status, name }) => ({
      name,
      status,
      value: countText(requested[status]),
      url: payments({ day, status }),
    })),
  ];
}

function countText(count: number): string {
  return count.toLocaleString('en');
}
