/** As of which moment a page shows the journal, and whether the journal holds everything up to it. */
import { parseAsOf } from '../../../kernel/malaysian-time.ts';
import { journalGap } from '../../../projections/journal/queries.ts';
import type { Context } from '../../server/context.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { askReadModels } from '../frame/read-models.ts';

/** Now, where nothing is typed. Throws ConsoleProblem for a text that is no time. */
export function readAsOf(text: string | undefined, now: Date): Date {
  if (text === undefined || text.trim() === '') return now;
  const asOf = parseAsOf(text.trim(), now);
  if (asOf === null)
    throw new ConsoleProblem(400, 'Write a time as 2026-11-20T09:00:00+08:00, or a day as 2026-11-20');
  return asOf;
}

/**
 * Throws ConsoleProblem where the journal lacks something that was recorded by that moment. A page says so beside its
 * rows; a document cannot, and is refused.
 */
export async function refuseGap(
  ctx: Context,
  { db, eventStore, log, runtime }: ConsoleDependencies,
  asOf: Date,
): Promise<void> {
  const [gap] = await askReadModels(ctx, log, [journalGap({ eventStore, db }, asOf, runtime.now())]);
  if (gap) throw new ConsoleProblem(503, gap.message);
}
