/** The metrics of a day: how many payments were requested and paid, and how long callbacks took. */
import type { Knex } from 'knex';
import type { PaymentStatus } from '../../events/payment.ts';
import type { Sen } from '../../kernel/money.ts';
import type { PaymentMode } from '../../kernel/payment-modes.ts';
import type { TimeSpan } from '../../postgres/table.ts';
import { payments } from './projection.ts';

const hourMs = 3_600_000;
/** 1, 5 and 30 seconds, 5 and 30 minutes, 2 and 24 hours. */
export const delayBoundsMs = [1_000, 5_000, 30_000, 300_000, 1_800_000, 2 * hourMs, 24 * hourMs] as const;

const noPayments = { requested: 0, pending: 0, succeeded: 0, failed: 0, cancelled: 0 };

/** The metrics of any span of time. Rejects within a few seconds when Postgres is down. */
export async function dayMetrics(db: Knex, span: TimeSpan) {
  const [requested, paid, delay] = await Promise.all([
    ask<Requested>(db, span, requestedInSpan),
    ask<Paid>(db, span, paidInSpan),
    delayIn(db, span),
  ]);
  const byStatus = { ...noPayments };
  const byMode = new Map<PaymentMode, Record<PaymentStatus, number>>();
  const hourCount = Math.ceil((Date.parse(span.end) - Date.parse(span.start)) / hourMs);
  const hours = Array.from({ length: hourCount }, () => ({ requested: 0, paid: 0, paidSen: 0 as Sen }));
  for (const { hour, mode, status, count } of requested) {
    byStatus[status] += count;
    const slot = hours[hour];
    if (slot) slot.requested += count;
    if (mode === '') continue;
    const ofMode = byMode.get(mode) ?? { ...noPayments };
    ofMode[status] += count;
    byMode.set(mode, ofMode);
  }
  const total = { count: 0, amountSen: 0 };
  for (const { hour, count, amountSen } of paid) {
    total.count += count;
    total.amountSen += amountSen;
    const slot = hours[hour];
    if (slot) Object.assign(slot, { paid: count, paidSen: amountSen });
  }
  const methods = Array.from(byMode, ([mode, ofMode]) => ({ mode, byStatus: ofMode }));
  return {
    /** Payments that were requested in the span, by the status that they have now. */
    requested: byStatus,
    /** Payments that were paid in the span, whenever they were requested. */
    paid: { count: total.count, amountSen: total.amountSen as Sen },
    /** The same two numbers for each hour of the span. */
    hours,
    /** Payments that were requested in the span, by the method of the current result or last choice, if there is one. */
    methods: methods.toSorted((a, b) => (a.mode < b.mode ? -1 : 1)),
    delay,
  };
}

export type DayMetrics = Awaited<ReturnType<typeof dayMetrics>>;

/** The rows that a query finds in a span. */
async function ask<Row>(db: Knex, span: TimeSpan, sql: string): Promise<Row[]> {
  const query = db.raw<{ rows: Row[] }>(sql, { ...span, bounds: delayBoundsMs });
  return (await query.timeout(10_000)).rows;
}

type Requested = { hour: number; mode: PaymentMode | ''; status: PaymentStatus; count: number };
const requestedInSpan = `
  select floor(extract(epoch from requested_at - :start::timestamptz) / 3600)::integer as hour,
    mode, status, count(*) as count
  from ${payments.name}.payments where requested_at >= :start and requested_at < :end
  group by 1, 2, 3`;

type Paid = { hour: number; count: number; amountSen: Sen };
const paidInSpan = `
  select floor(extract(epoch from paid_at - :start::timestamptz) / 3600)::integer as hour,
    count(*) as count, sum(amount_sen)::bigint as "amountSen"
  from ${payments.name}.payments where paid_at >= :start and paid_at < :end
  group by 1`;

/** The time from the outcome to the receiver's answer, for delivered callbacks whose outcome was in the span. */
async function delayIn(db: Knex, span: TimeSpan) {
  const [found] = await ask<{
    delivered: number;
    percentiles: (number | null)[] | null;
    buckets: number[] | null;
  }>(
    db,
    span,
    `with delays as (
       select extract(epoch from settled_at - called_at)::float8 * 1000 as ms
       from ${payments.name}.deliveries
       where state = 'delivered' and kind = 'callback' and called_at >= :start and called_at < :end
     ),
     slots as (
       select width_bucket(ms, :bounds::float8[]) as slot, count(*)::integer as count from delays group by 1
     )
     select count(*) as delivered,
       percentile_cont(array[0.5, 0.95, 0.99]) within group (order by ms) as percentiles,
       (select json_object_agg(slot, count) from slots) as buckets
     from delays`,
  );
  const { delivered = 0, percentiles = null, buckets = null } = found ?? {};
  const [medianMs = null, p95Ms = null, p99Ms = null] = percentiles ?? [];
  const histogram = Array.from({ length: delayBoundsMs.length + 1 }, (_, slot) => buckets?.[slot] ?? 0);
  return {
    delivered,
    /** Null when there are none, like the other two. */
    medianMs,
    p95Ms,
    p99Ms,
    /** How many took less than each of `delayBoundsMs` but not less than the one before; the last counts the rest. */
    histogram,
  };
}
