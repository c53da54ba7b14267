/** The as-of time of a page about the journal, and whether the journal holds everything up to it. */
import { parseAsOf } from '../../../common/malaysian-time.ts';
import { journalGap } from '../../../projections/journal/queries.ts';
import { HttpProblem } from '../../server/context.ts';
import type { PageDependencies } from '../frame/page.ts';
import type { StaffContext } from '../frame/session.ts';

/** Now, if nothing is typed. Throws HttpProblem for a text that is not a time. */
export function readAsOf(text: string | undefined, now: Date): Date {
  if (text === undefined || text.trim() === '') return now;
  const asOf = parseAsOf(text.trim(), now);
  if (asOf === null)
    throw new HttpProblem(400, 'Write a time as 2026-11-20T09:00:00+08:00, or a day as 2026-11-20');
  return asOf;
}

/** The gap of `journalGap`, whose message may name any merchant's stream: an account with a scope gets another one. */
export async function findGap(ctx: StaffContext, dependencies: PageDependencies, asOf: Date) {
  const gap = await journalGap(asOf, dependencies);
  const isNamed = ctx.state.staff.merchants === null;
  return gap && { ...gap, message: isNamed ? gap.message : 'The journal may not be complete at the moment' };
}

/** A document cannot say what it lacks, as a page can: throws HttpProblem if it lacks more than parked streams. */
export async function refuseGap(ctx: StaffContext, dependencies: PageDependencies, asOf: Date) {
  const [gap] = await dependencies.askReadModels(ctx, [findGap(ctx, dependencies, asOf)]);
  if (gap && gap.kind !== 'parked') throw new HttpProblem(503, gap.message);
}
