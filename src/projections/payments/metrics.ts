/** The metrics of a day: how many payments were requested and paid. */
import type { TimeSpan } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { Sen } from '../../common/money.ts';
import type { PaymentMode } from '../../common/payment-modes.ts';
import { sqlOf } from '../../common/sql.ts';
import type { Standing } from '../../events/payment-standing.ts';
import type { Scope } from '../../events/user.ts';

const hourMs = 3_600_000;
/** In the order in which people are shown them. */
const noPayments = {
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  pending: 0,
  partlyPaid: 0,
  wrongAmount: 0,
  requested: 0,
};

/** The metrics of any span of time, of all merchants or of some. Rejects within a few seconds when Postgres is down. */
export async function dayMetrics(db: Knex, span: TimeSpan, scope: Scope) {
  const [requested, paid] = await Promise.all([
    ask<Requested>(db, { ...span, scope }, requestedInSpan),
    ask<Paid>(db, { ...span, scope }, paidInSpan),
  ]);
  const byStatus = { ...noPayments };
  const byMode = new Map<PaymentMode, Record<Standing, number>>();
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
  };
}

export type DayMetrics = Awaited<ReturnType<typeof dayMetrics>>;

async function ask<Row>(db: Knex, bindings: TimeSpan & { scope: Scope }, sql: string): Promise<Row[]> {
  const query = db.raw<{ rows: Row[] }>(sql, bindings);
  return (await query.timeout(10_000)).rows;
}

type Requested = { hour: number; mode: PaymentMode | ''; status: Standing; count: number };
const requestedInSpan = sqlOf('requested-in-span');

type Paid = { hour: number; count: number; amountSen: Sen };
const paidInSpan = sqlOf('paid-in-span');
