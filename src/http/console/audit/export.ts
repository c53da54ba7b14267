/** /console/export: downloads the payments of a period. */
import { Readable } from 'node:stream';
import {
  beginExport,
  detailOf,
  ExportImpossible,
  type ExportRequest,
  readExportRequest,
} from '../../../audit/export/export.ts';
import { dayOf } from '../../../common/malaysian-time.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import type { FormPage } from '../frame/form-page.ts';
import { type Fields, merchantsFor } from '../frame/forms-and-lists.ts';
import type { PageDependencies } from '../frame/page.ts';
import { takeDownloadSlot } from '../frame/request-slots.ts';

export const paymentExport: FormPage = {
  template: 'audit/export.njk',
  async model(ctx, { config, runtime }, typed) {
    const today = dayOf(runtime.now().toISOString());
    const asked = typed ?? { from: `${today.slice(0, 8)}01`, to: today };
    const { from = '', to = '', merchant = '', format = 'csv', opened = '' }: Fields = asked;
    return { fields: { from, to, merchant, format, opened }, merchants: merchantsFor(ctx, config.merchants) };
  },
  /** A failed download is cut short: browsers report it as failed, and JSON lines lack their last line. */
  async submit(ctx, dependencies, form) {
    const request = readExportRequest(form, ctx.state.staff.merchants);
    takeDownloadSlot(ctx);
    const { pieces } = await beginOrProblem(ctx, request, dependencies);
    const what = request.isOpened ? 'exportOpened' : 'export';
    await dependencies.recordAccess(ctx, { what, transactionId: null, detail: detailOf(request) });
    ctx.attachment(fileNameOf(request));
    ctx.type = `${request.format === 'csv' ? 'text/csv' : 'application/jsonl'}; charset=utf-8`;
    ctx.body = Readable.from(pieces);
  },
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

/** Named after the first and the last Malaysian day of the period. */
function fileNameOf({ format, span }: ExportRequest): string {
  const last = dayOf(new Date(Date.parse(span.end) - 1).toISOString());
  return `payments-${dayOf(span.start)}-to-${last}.${format}`;
}
