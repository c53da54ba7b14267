/** /console/reconciliation: the open discrepancies, and the form that compares an export with the ledger. */
import type { BadRow } from '@ledger/kernel/csv-rows.ts';
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import { InvalidFields } from '../../../commands/fields.ts';
import { parseAsOf } from '../../../common/malaysian-time.ts';
import { merchantCodeOf } from '../../../config/merchants.ts';
import type { DiscrepancyFound } from '../../../events/reconciliation.ts';
import { openDiscrepancies } from '../../../projections/reconciliation/queries.ts';
import { verdictClasses } from '../../../reconciliation/compare.ts';
import { UnreadableExport } from '../../../reconciliation/export-format.ts';
import { ImportImpossible, reconcile } from '../../../reconciliation/reconcile.ts';
import { classNames, isAllMatched, keptText, scopeText } from '../../../reconciliation/summary.ts';
import { HttpProblem } from '../../server/context.ts';
import { paymentIdOf } from '../exceptions/discrepancy.ts';
import type { FormPage } from '../frame/form-page.ts';
import { pageOf, readQuery, spanOfDay } from '../frame/forms-and-lists.ts';
import { readPageAsked } from '../frame/list.ts';
import { staffCause } from '../frame/page.ts';
import { uploadOf } from '../frame/uploads.ts';

/** The result page shows this many discrepancies and unreadable rows. */
const maxShown = 500;
const readModelWaitMs = 5_000;

export const reconciliation: FormPage = {
  template: 'reconciliation/reconciliation.njk',
  async model(ctx, { askReadModels, db }, typed) {
    const page = readPageAsked(readQuery(ctx), lists.discrepancies, 50);
    const [found] = await askReadModels(ctx, [openDiscrepancies(db, null, page)]);
    const { rows, ...links } = pageOf(found, page, '/console/reconciliation');
    return { rows: rows.map(rowOf), ...links, typed: { ...typed } };
  },
  async submit(ctx, dependencies, { dry, from, made = '', to }, faults) {
    const { config, log, runtime, show } = dependencies;
    const { requestId } = ctx.state;
    const file = uploadOf(ctx);
    if (!file) throw new InvalidFields('Choose a file');
    const period = { from: from ? spanOfDay(from).start : null, to: to ? spanOfDay(to).end : null };
    const madeAt = made === '' ? null : parseAsOf(made, runtime.now());
    if (made !== '' && madeAt === null) throw new InvalidFields('The time of the export is not a time');
    const dryRun = dry !== undefined;
    const badRows: BadRow[] = [];
    const found: { id: string; difference: DiscrepancyFound }[] = [];
    const summary = await reconcile(
      { ...dependencies, ...config, merchantCodeOf: (named) => merchantCodeOf(config.merchants, named) },
      {
        file: file.stream(),
        period,
        madeAt: madeAt?.toISOString() ?? null,
        dryRun,
        waitMs: readModelWaitMs,
        newCause: () => staffCause(ctx),
        onBadRow: (row) => badRows.length < maxShown && badRows.push(row),
        onDiscrepancy: (id, difference) => found.length < maxShown && found.push({ id, difference }),
      },
    ).catch((err: unknown) => {
      faults.push(...badRows.slice(0, 5).map(({ line, fault }) => `Line ${line} ${fault}`));
      if (err instanceof UnreadableExport || err instanceof ImportImpossible) throw err;
      log.warn({ err, requestId }, 'an import was interrupted');
      throw new HttpProblem(
        503,
        'The import was interrupted because a store did not answer; import the same file again to finish it',
      );
    });
    log.info({ requestId, source: summary.source, rows: summary.rows, dryRun }, 'export imported');
    await show(ctx, 'reconciliation/result.njk', {
      summary,
      scope: scopeText(summary),
      isAllMatched: isAllMatched(summary),
      kept: keptText(summary),
      classes: verdictClasses.map((each) => ({ name: classNames[each], ...summary.classes[each] })),
      isDryRun: dryRun,
      badRows,
      // A dry run keeps nothing, so that its discrepancies may have no page to link to.
      rows: found.map((each) => ({ ...rowOf(each), ...(dryRun && { id: null }) })),
      maxShown,
    });
  },
};

function rowOf({ id, difference }: { id: string; difference: DiscrepancyFound }) {
  return { ...difference, id, paymentId: paymentIdOf(difference) };
}
