/** /console/statements: what an agency collected on a day, as a page, as CSV and as PDF. */
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import { boundsOfDay, dayBefore } from '../../../common/malaysian-time.ts';
import {
  accountOfDay,
  type Collection,
  collectedReceipts,
  collectionPage,
  collectionTotals,
} from '../../../projections/journal/collection-queries.ts';
import { merchantAccount, merchantsWithAccount } from '../../../projections/journal/queries.ts';
import { collectionLines } from '../../../statements/csv.ts';
import { gatherReceipts, maxPdfReceipts } from '../../../statements/document.ts';
import { grandTotal } from '../../../statements/totals.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import { merchantsFor, pageOf, queryOf, readQuery } from '../frame/forms-and-lists.ts';
import { readPageAsked } from '../frame/list.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import { takeDownloadSlot } from '../frame/request-slots.ts';
import type { StaffContext } from '../frame/session.ts';
import { accountPath } from './account.ts';
import { findGap, readAsOf, refuseGap } from './as-of.ts';

const path = '/console/statements';
const csvPath = '/console/statements/collection.csv';
const pdfPath = '/console/statements/collection.pdf';

type Request = { agency: string; collection: Collection };

/** Every agency of the configuration, and former ones that collected something. */
async function findAgencies(ctx: StaffContext, { askReadModels, config, db }: PageDependencies) {
  const [codes] = await askReadModels(ctx, [merchantsWithAccount(db)]);
  return merchantsFor(ctx, config.merchants, codes);
}

/** Null before an agency is chosen. Throws HttpProblem for an agency or a day that does not exist. */
function readRequest(ctx: Context, agencies: ReturnType<typeof merchantsFor>, now: Date): Request | null {
  const { merchant, day = '', known } = readQuery(ctx);
  if (merchant === undefined) return null;
  const agency = agencies.find(({ value }) => value === merchant)?.name;
  if (agency === undefined) throw new HttpProblem(404, 'There is no such agency');
  if (!boundsOfDay(day)) throw new HttpProblem(400, 'There is no such day; write a day as 2026-11-20');
  return { agency, collection: { merchantCode: merchant, day, asOf: readAsOf(known, now) } };
}

export const showCollection: Page = async (ctx, dependencies) => {
  const now = dependencies.runtime.now();
  const agencies = await findAgencies(ctx, dependencies);
  const request = readRequest(ctx, agencies, now);
  const { day, known = '' } = readQuery(ctx);
  await dependencies.show(ctx, 'journal/collection.njk', {
    merchants: agencies,
    merchant: request?.collection.merchantCode ?? '',
    day: day || dayBefore(now.toISOString()),
    known,
    ...(request
      ? await statementOf(ctx, dependencies, request)
      : { statement: null, firstUrl: null, nextUrl: null }),
  });
};

async function statementOf(
  ctx: StaffContext,
  dependencies: PageDependencies,
  { agency, collection }: Request,
) {
  const { askReadModels, db } = dependencies;
  const page = readPageAsked(readQuery(ctx), lists.collectedReceipts, 200);
  const [totals, found, parts, gap] = await askReadModels(ctx, [
    collectionTotals(db, collection),
    collectionPage(db, collection, page),
    accountOfDay(db, collection),
    findGap(ctx, dependencies, collection.asOf),
  ]);
  const { merchantCode: merchant, day } = collection;
  const asOf = collection.asOf.toISOString();
  // The links carry the as-of time of this page, so that the documents hold what the page shows.
  const fields = { merchant, day, known: asOf };
  const { rows, ...links } = pageOf(found, page, path, fields);
  const all = grandTotal(totals);
  const statement = {
    agency,
    asOf,
    gap: gap?.message ?? null,
    parts,
    recordedSen: parts.reduce((sum, { isRecorded, sumSen }) => (isRecorded ? sum + sumSen : sum), 0n),
    accountUrl: `${accountPath}${queryOf({ account: merchantAccount(merchant), from: day, to: day })}`,
    totals,
    all,
    rows,
    csvUrl: `${csvPath}${queryOf(fields)}`,
    pdfUrl: all.receipts > maxPdfReceipts ? null : `${pdfPath}${queryOf(fields)}`,
    maxPdfReceipts,
  };
  return { statement, ...links };
}

/** Also throws HttpProblem if the journal lacks something: a document is complete or refused. */
async function readDownload(ctx: StaffContext, dependencies: PageDependencies): Promise<Request> {
  const agencies = await findAgencies(ctx, dependencies);
  const request = readRequest(ctx, agencies, dependencies.runtime.now());
  if (!request) throw new HttpProblem(400, 'Choose an agency');
  await refuseGap(ctx, dependencies, request.collection.asOf);
  return request;
}

function attach(ctx: Context, { merchantCode, day }: Collection, extension: 'csv' | 'pdf'): void {
  ctx.attachment(`collection-${merchantCode.replace(/[^\w.-]+/g, '-')}-${day}.${extension}`);
}

export const downloadCollectionCsv: Page = async (ctx, dependencies) => {
  const { collection } = await readDownload(ctx, dependencies);
  takeDownloadSlot(ctx);
  attach(ctx, collection, 'csv');
  ctx.type = 'text/csv; charset=utf-8';
  ctx.body = collectionLines(collection, collectedReceipts(dependencies.db, collection));
};

export const downloadCollectionPdf: Page = async (ctx, dependencies) => {
  const { agency, collection } = await readDownload(ctx, dependencies);
  const lang = readQuery(ctx).lang === 'en' ? 'en' : 'ms';
  takeDownloadSlot(ctx);
  const receipts = await gatherReceipts(collectedReceipts(dependencies.db, collection));
  const printedAt = dependencies.runtime.now();
  ctx.body = await dependencies.documents.collection({ agency, collection, receipts, printedAt, lang });
  attach(ctx, collection, 'pdf');
  ctx.type = 'application/pdf';
};
