/** Before a document of the journal leaves: it is complete or not there, since nothing on it could say what it lacks. */
import { journalGap } from '../../../projections/journal/queries.ts';
import type { Context } from '../../server/context.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { askReadModels } from '../frame/read-models.ts';

/** Throws ConsoleProblem when the journal lacks something that was recorded by the moment. */
export async function refuseGap(
  ctx: Context,
  { console: { db }, eventStore, log, runtime }: ConsoleParts,
  asOf: Date,
): Promise<void> {
  const [gap] = await askReadModels(ctx, log, [journalGap(asOf, { eventStore, db, runtime })]);
  if (gap) throw new ConsoleProblem(503, gap.message);
}
