/** GET /console/reconciliation: the form to compare an export, and the discrepancies that are open. */
import type { DiscrepancyFound } from '../../../events/reconciliation.ts';
import { listDiscrepancies } from '../../../projections/reconciliation/queries.ts';
import { sideText } from '../../../reconciliation/texts.ts';
import type { Context } from '../../server/context.ts';
import type { PageDependencies } from '../dependencies.ts';
import { paymentIdOf } from '../exceptions/discrepancy.ts';
import { discrepancyTexts } from '../exceptions/texts.ts';
import { readQuery } from '../frame/fields.ts';
import { cursorText, pageOf, readCursor } from '../frame/list.ts';
import type { Page } from '../frame/page.ts';
import { askReadModels } from '../frame/read-models.ts';

const size = 50;

export const showDiscrepancies: Page = async (ctx, dependencies) => {
  await showList(ctx, dependencies, null);
};

/** The page again, with the status and the reason why an upload was not compared. */
export async function showProblem(
  ctx: Context,
  dependencies: PageDependencies,
  status: number,
  problem: string,
): Promise<void> {
  ctx.status = status;
  await showList(ctx, dependencies, problem);
}

async function showList(
  ctx: Context,
  { db, log, show }: PageDependencies,
  problem: string | null,
): Promise<void> {
  const cursor = readCursor(readQuery(ctx).after, 1);
  const after = cursor && { at: cursor.at, id: cursor.ids[0] ?? '' };
  const [found] = await askReadModels(ctx, log, [
    listDiscrepancies(db, { state: 'open', source: null }, { limit: size + 1, after }),
  ]);
  const { rows, ...links } = pageOf(found, {
    size,
    path: '/console/reconciliation',
    isFirst: cursor === null,
    nextAfter: ({ id, difference }) => ({ after: cursorText(new Date(difference.at), id) }),
  });
  await show(ctx, 'reconciliation/reconciliation.njk', {
    title: 'Reconciliation',
    problem,
    rows: rows.map(rowOf),
    ...links,
  });
}

/** A discrepancy as a row of a table: of this list, or of what an import found. */
export function rowOf({ id, difference }: { id: string; difference: DiscrepancyFound }) {
  const { file, kind, merchantCode, ours, paidAt, recordId, source, theirs, transactionId } = difference;
  return {
    id,
    name: discrepancyTexts[kind].name,
    source,
    merchantCode,
    paidAt,
    recordId,
    transactionId,
    paymentId: paymentIdOf(difference),
    line: file.line,
    ours: sideText(ours),
    theirs: sideText(theirs),
  };
}
