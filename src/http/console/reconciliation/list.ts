/** GET /console/reconciliation: the form to compare an export, and the discrepancies that are open. */
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import type { DiscrepancyFound } from '../../../events/reconciliation.ts';
import { openDiscrepancies } from '../../../projections/reconciliation/queries.ts';
import type { Context } from '../../server/context.ts';
import { paymentIdOf } from '../exceptions/discrepancy.ts';
import { pageOf, readQuery } from '../frame/forms-and-lists.ts';
import { readAfter } from '../frame/list.ts';
import type { Page, PageDependencies } from '../frame/page.ts';

const size = 50;

export const showDiscrepancies: Page = (ctx, dependencies) => showList(ctx, dependencies, null);

/** `problem` is why an upload was not compared. */
export async function showList(
  ctx: Context,
  { askReadModels, db, show }: PageDependencies,
  problem: { status: number; message: string } | null,
): Promise<void> {
  if (problem) ctx.status = problem.status;
  const query = readQuery(ctx);
  const asked = { limit: size + 1, after: readAfter(query, lists.discrepancies) };
  const [found] = await askReadModels(ctx, [openDiscrepancies(db, null, asked)]);
  const place = { size, path: '/console/reconciliation', after: query.after };
  const { rows, ...links } = pageOf(found, place);
  await show(ctx, 'reconciliation/reconciliation.njk', {
    problem: problem?.message ?? null,
    rows: rows.map(rowOf),
    ...links,
  });
}

/** A discrepancy as a row of a table: of this list, or of what an import found. */
export function rowOf({ id, difference }: { id: string; difference: DiscrepancyFound }) {
  return { ...difference, id, paymentId: paymentIdOf(difference) };
}
