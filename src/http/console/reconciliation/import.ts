/** POST /console/reconciliation: compares an uploaded export with the ledger, and shows the result. */
import type { Middleware } from 'koa';
import { parseAsOf } from '../../../common/malaysian-time.ts';
import type { DiscrepancyFound } from '../../../events/reconciliation.ts';
import { verdictClasses } from '../../../reconciliation/compare.ts';
import type { BadRow } from '../../../reconciliation/csv-rows.ts';
import { UnreadableExport } from '../../../reconciliation/export-format.ts';
import { ReadModelBehind, reconcile } from '../../../reconciliation/reconcile.ts';
import {
  classNames,
  isAllMatched,
  keptText,
  type Summary,
  scopeText,
} from '../../../reconciliation/summary.ts';
import { readFormData } from '../../server/body.ts';
import { HttpProblem } from '../../server/context.ts';
import { readDay, readForm } from '../frame/forms-and-lists.ts';
import { type Page, staffCause } from '../frame/page.ts';
import { rowOf, showList } from './list.ts';

const maxUploadBytes = 20 * 1024 * 1024;
/** The result page shows this many discrepancies and unreadable rows. */
const maxShown = 500;
const readModelWaitMs = 5_000;

/** The file of each upload; the texts of its form are in the body, as with every form. */
const uploads = new WeakMap<object, Blob>();

export const readUpload: Middleware = async (ctx, next) => {
  if (!ctx.is('multipart/form-data')) throw new HttpProblem(415, 'Send the form of the page');
  const form = await readFormData(ctx.req, maxUploadBytes);
  const file = form.get('file');
  if (file instanceof Blob) uploads.set(ctx, file);
  ctx.request.body = Object.fromEntries(
    Array.from(form).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  return next();
};

/** Null if the form has no file. */
export function uploadOf(ctx: object): Blob | null {
  const file = uploads.get(ctx);
  return file && file.size > 0 ? file : null;
}

/** Lets the pages that it is given run one at a time, all together: each holds a file of up to 20 MiB. */
export function createImportGuard(): (page: Page) => Page {
  let isImporting = false;
  return (page) => async (ctx, dependencies) => {
    if (isImporting) throw new HttpProblem(409, 'Another import is in progress');
    isImporting = true;
    try {
      await page(ctx, dependencies);
    } finally {
      isImporting = false;
    }
  };
}

export const importExport: Page = async (ctx, dependencies) => {
  const { config, log, runtime, show } = dependencies;
  const { requestId } = ctx.state;
  const file = uploadOf(ctx);
  const { from, to, made = '', dry } = readForm(ctx);
  if (!file) return showList(ctx, dependencies, { status: 400, message: 'Choose a file' });
  const period = { from: readDay(from)?.start ?? null, to: readDay(to)?.end ?? null };
  const madeAt = made === '' ? null : parseAsOf(made, runtime.now());
  if (made !== '' && madeAt === null)
    return showList(ctx, dependencies, { status: 400, message: 'The time of the export is not a time' });
  const dryRun = dry !== undefined;
  const badRows: BadRow[] = [];
  const found: { id: string; difference: DiscrepancyFound }[] = [];
  let summary: Summary;
  try {
    summary = await reconcile(
      { ...dependencies, ...config },
      {
        file: file.stream(),
        period,
        madeAt: madeAt?.toISOString() ?? null,
        dryRun,
        waitMs: readModelWaitMs,
        newCause: () => staffCause(ctx),
        onBadRow: (row) => badRows.length < maxShown && badRows.push(row),
        onDiscrepancy: (id, discrepancy) =>
          found.length < maxShown && found.push({ id, difference: discrepancy }),
      },
    );
  } catch (err) {
    if (err instanceof UnreadableExport)
      return showList(ctx, dependencies, { status: 400, message: err.message });
    if (err instanceof ReadModelBehind)
      return showList(ctx, dependencies, { status: 503, message: err.message });
    log.warn({ err, requestId }, 'an import was interrupted');
    throw new HttpProblem(
      503,
      'The import was interrupted because a store did not answer; import the same file again to finish it',
    );
  }
  log.info({ requestId, source: summary.source, rows: summary.rows, dryRun }, 'export imported');
  // A dry run keeps nothing, so that its discrepancies may have no page to link to.
  const rows = found.map((each) => ({ ...rowOf(each), ...(dryRun && { id: null }) }));
  await show(ctx, 'reconciliation/result.njk', {
    summary,
    scope: scopeText(summary),
    isAllMatched: isAllMatched(summary),
    kept: keptText(summary),
    classes: verdictClasses.map((each) => ({ name: classNames[each], ...summary.classes[each] })),
    isDryRun: dryRun,
    badRows,
    rows,
    maxShown,
  });
};
