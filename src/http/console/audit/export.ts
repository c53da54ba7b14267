/** /console/export: downloads the payments of a period. */
import { Readable } from 'node:stream';
import {
  beginExport,
  ExportImpossible,
  type ExportRequest,
  readExportRequest,
} from '../../../audit/export/export.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import { dayOf } from '../../../common/malaysian-time.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import { type Fields, merchantOptions, readForm } from '../frame/forms-and-lists.ts';
import type { Page, PageDependencies } from '../frame/page.ts';

const types: Readonly<Record<ExportRequest['format'], string>> = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

export const showExportForm: Page = async (ctx, dependencies) => {
  const today = dayOf(dependencies.runtime.now().toISOString());
  await showForm(ctx, dependencies, { from: `${today.slice(0, 8)}01`, to: today }, null);
};

async function showForm(
  ctx: Context,
  { config, show }: PageDependencies,
  { from = '', to = '', merchant = '', format = 'csv', opened = '' }: Fields,
  problem: string | null,
): Promise<void> {
  await show(ctx, 'audit/export.njk', {
    problem,
    fields: { from, to, merchant, format, opened },
    merchants: merchantOptions(config.merchants),
  });
}

/** A failed download is cut short: browsers report it as failed, and JSON lines lack their last line. */
export const downloadExport: Page = async (ctx, dependencies) => {
  const fields = readForm(ctx);
  const request = readOrFault(fields);
  if (typeof request === 'string') {
    ctx.status = 400;
    return showForm(ctx, dependencies, fields, request);
  }
  const { pieces } = await beginOrProblem(ctx, request, dependencies);
  const detail = detailOf(request);
  const what = request.isOpened ? 'exportOpened' : 'export';
  await dependencies.recordAccess(ctx, { what, transactionId: null, detail });
  ctx.attachment(fileNameOf(request));
  ctx.type = types[request.format];
  ctx.body = Readable.from(pieces);
};

/** The message names the field, never its value. */
function readOrFault(fields: Fields): ExportRequest | string {
  try {
    return readExportRequest(fields);
  } catch (error) {
    if (error instanceof InvalidFields) return error.message;
    throw error;
  }
}

async function beginOrProblem(
  ctx: Context,
  request: ExportRequest,
  { db, eventStore, log, personalData, runtime }: PageDependencies,
) {
  try {
    return await beginExport(request, { eventStore, db, personalData, runtime });
  } catch (err) {
    if (err instanceof ExportImpossible) throw new HttpProblem(503, err.message);
    log.warn({ err, requestId: ctx.state.requestId }, 'an export cannot begin');
    throw new HttpProblem(503, 'The stores do not answer; try again in a few seconds');
  }
}

function detailOf({ format, merchantCode, span }: ExportRequest): string {
  return `${format} of ${merchantCode ?? 'all merchants'}, ${span.start} to ${span.end}`;
}

/** Named after the first and the last Malaysian day of the period. */
function fileNameOf({ format, span }: ExportRequest): string {
  const last = dayOf(new Date(Date.parse(span.end) - 1).toISOString());
  return `payments-${dayOf(span.start)}-to-${last}.${format}`;
}
