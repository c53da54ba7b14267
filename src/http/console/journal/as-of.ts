/** The as-of time of a page about the journal, and whether the journal holds everything up to it. */
import { parseAsOf } from '../../../common/malaysian-time.ts';
import { journalGap } from '../../../projections/journal/queries.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import type { PageDependencies } from '../frame/page.ts';

/** Now, if nothing is typed. Throws HttpProblem for a text that is not a time. */
export function readAsOf(text: string | undefined, now: Date): Date {
  if (text === undefined || text.trim() === '') return now;
  const asOf = parseAsOf(text.trim(), now);
  if (asOf === null)
    throw new HttpProblem(400, 'Write a time as 2026-11-20T09:00:00+08:00, or a day as 2026-11-20');
  return asOf;
}

/**
 * Throws HttpProblem if the journal lacks more than parked streams of what was recorded by that moment. A page can say so next to its
 * rows; a document cannot, and is refused.
 */
export async function refuseGap(
  ctx: Context,
  { askReadModels, db, eventStore, runtime }: PageDependencies,
  asOf: Date,
): Promise<void> {
  const [gap] = await askReadModels(ctx, [journalGap(asOf, { eventStore, db, runtime })]);
  if (gap && !gap.isParked) throw new HttpProblem(503, gap.message);
}
