/** /console/export: the payments of a span of time, to take along. */
import { Readable } from 'node:stream';
import {
  beginExport,
  type ExportFormat,
  ExportImpossible,
  type ExportRequest,
  readExportRequest,
} from '../../../audit/export/export.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import { dayOf } from '../../../kernel/malaysian-time.ts';
import type { Context } from '../../server/context.ts';
import { readForm } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import type { Staff } from '../frame/staff.ts';

const path = '/console/export';

const types: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

export function exportRoutes(parts: ConsoleParts): ConsoleRoute[] {
  const { clock } = parts;
  return [
    {
      method: 'get',
      path,
      action: 'export',
      async handle(ctx) {
        const today = dayOf(clock().toISOString());
        await showForm(ctx, parts, { from: `${today.slice(0, 8)}01`, to: today, format: 'csv' }, null);
      },
    },
    { method: 'post', path, action: 'export', handle: (ctx, staff) => download(ctx, staff, parts) },
  ];
}

type Fields = Readonly<Record<string, string | undefined>>;

async function showForm(
  ctx: Context,
  { config, frame }: ConsoleParts,
  { from, to, merchant, format }: Fields,
  problem: string | null,
): Promise<void> {
  await frame.show(ctx, 'audit/export.njk', {
    title: 'Export',
    problem,
    fields: { from: from ?? '', to: to ?? '', merchant: merchant ?? '', format: format ?? 'csv' },
    merchants: [
      { value: '', text: 'All merchants' },
      ...Array.from(config.merchants.values(), ({ code, name }) => ({
        value: code,
        text: `${name} (${code})`,
      })),
    ],
  });
}

/** A download that fails half-way is cut off: the browser calls it failed, and JSON lines lack their end. */
async function download(ctx: Context, staff: Staff, parts: ConsoleParts): Promise<void> {
  const fields = readForm(ctx);
  const request = readOrFault(fields);
  if (typeof request === 'string') {
    ctx.status = 400;
    return showForm(ctx, parts, fields, request);
  }
  const { pieces } = await beginOrProblem(ctx, request, parts);
  await parts.recordLook(ctx, staff, {
    what: 'export',
    transactionId: null,
    detail: detailOf(request),
  });
  ctx.attachment(fileNameOf(request));
  ctx.type = types[request.format];
  ctx.body = Readable.from(pieces);
}

/** The message names the field, never what was sent in it. */
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
  { console: { db }, eventStore, log, runtime }: ConsoleParts,
) {
  try {
    return await beginExport(request, { eventStore, db, runtime });
  } catch (err) {
    if (err instanceof ExportImpossible) throw new ConsoleProblem(503, err.message);
    log.warn({ err, requestId: ctx.state.requestId }, 'an export cannot begin');
    throw new ConsoleProblem(503, 'The stores do not answer; try again in a few seconds');
  }
}

function detailOf({ format, merchantCode, span }: ExportRequest): string {
  return `${format} of ${merchantCode ?? 'all merchants'}, ${span.start} to ${span.end}`;
}

/** By the first and the last Malaysian day of the span. */
function fileNameOf({ format, span }: ExportRequest): string {
  const last = dayOf(new Date(Date.parse(span.end) - 1).toISOString());
  return `payments-${dayOf(span.start)}-to-${last}.${format}`;
}
