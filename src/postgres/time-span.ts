/** A time to look at rows of, such as a day (`boundsOfDay` in events/malaysian-time.ts). */
import type { Knex } from 'knex';

/** From `start` on and before `end`, both in UTC. */
export type TimeSpan = { start: string; end: string };

/** Leaves only the rows whose `column` is within the span; all of them where it is null. */
export function within(query: Knex.QueryBuilder, column: string, span: TimeSpan | null): void {
  if (span) query.where(column, '>=', span.start).where(column, '<', span.end);
}
