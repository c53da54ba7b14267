/** How long callbacks took, for the metrics of a day. */
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import type { TimeSpan } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import { sqlOf } from '../common/sql.ts';
import type { Scope } from '../events/user.ts';

const hourMs = 3_600_000;
/** 1, 5 and 30 seconds, 5 and 30 minutes, 2 and 24 hours. */
export const delayBoundsMs = [1_000, 5_000, 30_000, 300_000, 1_800_000, 2 * hourMs, 24 * hourMs] as const;

const delaysSql = sqlOf('callback-times');
type Found = { delivered: number; percentiles: (number | null)[] | null; buckets: number[] | null };

/**
 * The time from the outcome to the receiver's answer, for delivered callbacks of all merchants or of some, whose outcome
 * was in the span. Rejects within a few seconds when Postgres is down.
 */
export async function callbackDelays(db: Knex, span: TimeSpan, scope: Scope) {
  const query = db.raw<{ rows: Found[] }>(delaysSql, { ...span, scope, bounds: delayBoundsMs });
  const [found] = await emptyIfUndefined(query.timeout(10_000));
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

export type CallbackDelays = Awaited<ReturnType<typeof callbackDelays>>;
