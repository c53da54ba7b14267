/** A span of time in which rows are wanted, such as a day (`boundsOfDay` in kernel/malaysian-time.ts). */
import type { Knex } from 'knex';

/** From `start` on and before `end`, both in UTC. */
export type TimeSpan = { start: string; end: string };

/** Keeps only the rows whose `column` is within the span; all of them when it is null. */
export function within(query: Knex.QueryBuilder, column: string, span: TimeSpan | null): void {
  if (span) query.where(column, '>=', span.start).where(column, '<', span.end);
}
