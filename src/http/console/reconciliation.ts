/** /console/reconciliation: an export is uploaded and compared; and the differences that are open. */
import type { Middleware } from 'koa';
import type { DiscrepancyFound } from '../../events/reconciliation.ts';
import type { Sen } from '../../kernel/money.ts';
import { listDiscrepancies } from '../../projections/reconciliation/queries.ts';
import { type VerdictClass, verdictClasses } from '../../reconciliation/compare.ts';
import type { BadRow } from '../../reconciliation/csv-rows.ts';
import { UnreadableExport } from '../../reconciliation/export-format.ts';
import { ReadModelBehind, reconcile } from '../../reconciliation/reconcile.ts';
import { isAllMatched, type Summary } from '../../reconciliation/summary.ts';
import { classNames, scopeText, sideText } from '../../reconciliation/texts.ts';
import { readFormData } from '../server/body.ts';
import type { Context } from '../server/context.ts';
import { paymentIdOf } from './exceptions/discrepancy.ts';
import { discrepancyKindTexts } from './exceptions/texts.ts';
import { staffCause } from './frame/access-log.ts';
import { cursorText, readCursor } from './frame/cursor.ts';
import { queryOf, readDay } from './frame/filter-fields.ts';
import { readForm, readQuery } from './frame/form.ts';
import type { ConsoleParts } from './frame/parts.ts';
import { ConsoleProblem } from './frame/problem.ts';
import { askReadModels } from './frame/read-models.ts';
import type { ConsoleRoute } from './frame/route.ts';
import type { Staff } from './frame/staff.ts';

const path = '/console/reconciliation';
const pageSize = 50;
const maxUploadBytes = 20 * 1024 * 1024;
/** Of what an import finds, that many are on its page. The others are in the list, or come up when the file is mended. */
const maxShown = 500;
const readModelWaitMs = 5_000;

export function reconciliationRoutes(parts: ConsoleParts): ConsoleRoute[] {
  let isImporting = false;
  return [
    { method: 'get', path, action: 'look', handle: (ctx) => showList(ctx, parts, null) },
    {
      method: 'post',
      path,
      action: 'reconcile',
      body: uploadBody,
      async handle(ctx, staff) {
        if (isImporting) return showList(ctx, parts, { status: 409, text: 'Another import is under way' });
        isImporting = true;
        try {
          await takeUpload(ctx, staff, parts);
        } finally {
          isImporting = false;
        }
      },
    },
  ];
}

/** The file of each upload; the texts of its form are in the body, as with every form. */
const uploads = new WeakMap<object, Blob>();

const uploadBody: Middleware = async (ctx, next) => {
  if (!ctx.is('multipart/form-data')) throw new ConsoleProblem(415, 'Send the form of the page');
  const form = await readFormData(ctx.req, maxUploadBytes);
  const file = form.get('file');
  if (file instanceof Blob) uploads.set(ctx, file);
  ctx.request.body = Object.fromEntries(
    Array.from(form).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  return next();
};

type Problem = { status: number; text: string };
type Shown = { id: string; difference: DiscrepancyFound };

async function takeUpload(ctx: Context, staff: Staff, parts: ConsoleParts): Promise<void> {
  const { config, console: own, eventStore, frame, log, runtime } = parts;
  const { requestId } = ctx.state;
  const file = uploads.get(ctx);
  const { from, to, dry } = readForm(ctx);
  if (!file || file.size === 0) return showList(ctx, parts, { status: 400, text: 'Choose a file' });
  const period = { from: readDay(from)?.start ?? null, to: readDay(to)?.end ?? null };
  const dryRun = dry !== undefined;
  const badRows: BadRow[] = [];
  const found: Shown[] = [];
  const { transactionIdKey } = config;
  const stores = { eventStore, db: own.db, transactionIdKey, runtime };
  let summary: Summary;
  try {
    summary = await reconcile(stores, {
      file: file.stream(),
      period,
      dryRun,
      waitMs: readModelWaitMs,
      newCause: () => staffCause(ctx, staff),
      onBadRow: (row) => badRows.length < maxShown && badRows.push(row),
      onDiscrepancy: (id, difference) => found.length < maxShown && found.push({ id, difference }),
    });
  } catch (err) {
    if (err instanceof UnreadableExport) return showList(ctx, parts, { status: 400, text: err.message });
    if (err instanceof ReadModelBehind) return showList(ctx, parts, { status: 503, text: err.message });
    log.warn({ err, requestId }, 'an import was cut off');
    throw new ConsoleProblem(503, 'The stores do not answer; the same file, imported again, goes on');
  }
  log.info({ requestId, source: summary.source, rows: summary.rows, dryRun }, 'export imported');
  await frame.show(ctx, 'reconciliation/result.njk', resultModel(summary, found, badRows, dryRun));
}

function resultModel(
  summary: Summary,
  found: readonly Shown[],
  badRows: readonly BadRow[],
  isDryRun: boolean,
) {
  const shownClasses: readonly VerdictClass[] = verdictClasses;
  return {
    title: 'Import',
    scope: scopeText(summary),
    isAllMatched: isAllMatched(summary),
    isDryRun,
    classes: shownClasses.map((each) => {
      const { count, oursSen, theirsSen } = summary.classes[each];
      return { name: classNames[each], count, oursSen: oursSen as Sen, theirsSen: theirsSen as Sen };
    }),
    opened: summary.opened,
    vanished: summary.cleared,
    badRowCount: summary.badRows,
    badRows,
    // In a dry run nothing was kept: there may be no page of a difference to lead to.
    rows: found.map((each) => ({ ...rowModel(each), ...(isDryRun && { id: null }) })),
    maxShown,
  };
}

async function showList(
  ctx: Context,
  { console: { db }, frame, log }: ConsoleParts,
  problem: Problem | null,
): Promise<void> {
  const after = readCursor(readQuery(ctx).after, 1);
  const page = { limit: pageSize + 1, after: after && { at: after.at, id: after.ids[0] ?? '' } };
  const [found] = await askReadModels(ctx, log, [
    listDiscrepancies(db, { state: 'open', source: null }, page),
  ]);
  const rows = found.slice(0, pageSize);
  const last = found.length > pageSize ? rows.at(-1) : undefined;
  if (problem) ctx.status = problem.status;
  await frame.show(ctx, 'reconciliation/reconciliation.njk', {
    title: 'Reconciliation',
    problem: problem?.text ?? null,
    rows: rows.map(rowModel),
    isFirstPage: after === null,
    firstUrl: path,
    nextUrl: last
      ? `${path}${queryOf({ after: cursorText({ at: new Date(last.difference.at), ids: [last.id] }) })}`
      : null,
  });
}

function rowModel({ id, difference }: Shown) {
  const { file, kind, merchantCode, ours, paidAt, recordId, source, theirs, transactionId } = difference;
  return {
    id,
    name: discrepancyKindTexts[kind].name,
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
