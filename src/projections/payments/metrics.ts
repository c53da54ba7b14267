/** The metrics of a day: how many payments were requested and paid. */
import type { TimeSpan } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { Sen } from '../../common/money.ts';
import type { PaymentMode } from '../../common/payment-modes.ts';
import { sqlOf } from '../../common/sql.ts';
import type { Standing } from '../../events/payment-standing.ts';
import type { Scope } from '../../events/user.ts';

/** In the order in which people are shown them. */
const noPayments: Readonly<Record<Standing, number>> = {
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  pending: 0,
  partlyPaid: 0,
  wrongAmount: 0,
  requested: 0,
};

type Counts = Partial<typeof noPayments>;

type Found = {
  requested: Counts | null;
  /** Payments that were paid in the span, whenever they were requested. */
  paid: { count: number; amountSen: Sen };
  hours: readonly { requested: number; paid: number; paidSen: Sen }[];
  methods: readonly { mode: PaymentMode; byStatus: Counts }[] | null;
};

const metricsOfSpan = sqlOf('metrics-of-span');

/** The metrics of any span of time, of all merchants or of some. Rejects within a few seconds when Postgres is down. */
export async function dayMetrics(db: Knex, span: TimeSpan, scope: Scope) {
  const query = db.raw<{ rows: [Found] }>(metricsOfSpan, { ...span, scope });
  const [{ requested, paid, hours, methods }] = (await query.timeout(10_000)).rows;
  return {
    /** Payments that were requested in the span, by the status that they have now. */
    requested: { ...noPayments, ...requested },
    paid,
    /** The same two numbers for each hour of the span. */
    hours,
    /** Payments that were requested in the span, by the method of the current result or last choice, if there is one. */
    methods: (methods ?? []).map(({ mode, byStatus }) => ({
      mode,
      byStatus: { ...noPayments, ...byStatus },
    })),
  };
}

export type DayMetrics = Awaited<ReturnType<typeof dayMetrics>>;
