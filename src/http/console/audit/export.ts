/** /console/export: downloads the payments of a period. */
import { Readable } from 'node:stream';
import {
  beginExport,
  ExportImpossible,
  type ExportRequest,
  readExportRequest,
} from '../../../audit/export/export.ts';
import { dayOf } from '../../../common/malaysian-time.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import { type Fields, merchantsFor, orShowAgain, readForm } from '../frame/forms-and-lists.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import type { StaffContext } from '../frame/session.ts';

const types: Readonly<Record<ExportRequest['format'], string>> = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

export const showExportForm: Page = async (ctx, dependencies) => {
  const today = dayOf(dependencies.runtime.now().toISOString());
  await showForm(ctx, dependencies, { from: `${today.slice(0, 8)}01`, to: today }, null);
};

async function showForm(
  ctx: StaffContext,
  { config, show }: PageDependencies,
  { from = '', to = '', merchant = '', format = 'csv', opened = '' }: Fields,
  problem: string | null,
): Promise<void> {
  await show(ctx, 'audit/export.njk', {
    problem,
    fields: { from, to, merchant, format, opened },
    merchants: merchantsFor(ctx, config.merchants),
  });
}

/** A failed download is cut short: browsers report it as failed, and JSON lines lack their last line. */
export const downloadExport: Page = async (ctx, dependencies) => {
  const fields = readForm(ctx);
  const download = async () => {
    const request = readExportRequest(fields, ctx.state.staff.merchants);
    const { pieces } = await beginOrProblem(ctx, request, dependencies);
    const detail = detailOf(request);
    const what = request.isOpened ? 'exportOpened' : 'export';
    await dependencies.recordAccess(ctx, { what, transactionId: null, detail });
    ctx.attachment(fileNameOf(request));
    ctx.type = types[request.format];
    ctx.body = Readable.from(pieces);
  };
  // The message names the field, never its value.
  await orShowAgain(ctx, download, (problem) => showForm(ctx, dependencies, fields, problem));
};

async function beginOrProblem(ctx: Context, request: ExportRequest, dependencies: PageDependencies) {
  try {
    return await beginExport(request, dependencies);
  } catch (err) {
    if (err instanceof ExportImpossible) throw new HttpProblem(503, err.message);
    dependencies.log.warn({ err, requestId: ctx.state.requestId }, 'an export cannot begin');
    throw new HttpProblem(503, 'The stores do not answer; try again in a few seconds');
  }
}

function detailOf({ format, merchantCode, scope, span }: ExportRequest): string {
  const whose = merchantCode ?? scope?.join(', ') ?? 'all merchants';
  return `${format} of ${whose}, ${span.start} to ${span.end}`;
}

/** Named after the first and the last Malaysian day of the period. */
function fileNameOf({ format, span }: ExportRequest): string {
  const last = dayOf(new Date(Date.parse(span.end) - 1).toISOString());
  return `payments-${dayOf(span.start)}-to-${last}.${format}`;
}
