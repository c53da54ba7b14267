/** /console/statements: what an agency collected on a day, on the page, as CSV and as PDF. */
import { boundsOfDay, dayOf } from '../../../kernel/malaysian-time.ts';
import {
  type CollectedReceipt,
  type Collection,
  collectedReceipts,
  collectionPage,
  collectionTotals,
  type ReceiptKey,
} from '../../../projections/journal/collection-queries.ts';
import { journalGap, merchantsWithAccount } from '../../../projections/journal/queries.ts';
import { texts } from '../../../receipts/texts.ts';
import { collectionCsv } from '../../../statements/csv.ts';
import { collectionPdf, maxPdfReceipts, TooManyReceipts } from '../../../statements/pdf.ts';
import { grandTotal } from '../../../statements/totals.ts';
import type { Context } from '../../server/context.ts';
import { cursorText, readCursor } from '../frame/cursor.ts';
import { queryOf } from '../frame/filter-fields.ts';
import { readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { askReadModels } from '../frame/read-models.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { readAsOf } from './as-of.ts';
import { refuseGap } from './refuse-gap.ts';

const path = '/console/statements';
const csvPath = '/console/statements/collection.csv';
const pdfPath = '/console/statements/collection.pdf';
const pageSize = 200;
const dayMs = 24 * 60 * 60 * 1000;

export function statementRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    { method: 'get', path, action: 'look', handle: (ctx) => show(ctx, parts) },
    { method: 'get', path: csvPath, action: 'look', handle: (ctx) => downloadCsv(ctx, parts) },
    { method: 'get', path: pdfPath, action: 'look', handle: (ctx) => downloadPdf(ctx, parts) },
  ];
}

type Agencies = ReadonlyMap<string, string>;
type Asked = { agency: string; collection: Collection };

/** Every agency of the configuration, and those that left it and had collected something. */
async function findAgencies(ctx: Context, { config, console: { db }, log }: ConsoleParts): Promise<Agencies> {
  const [codes] = await askReadModels(ctx, log, [merchantsWithAccount(db)]);
  const known = Array.from(config.merchants.values(), ({ code, name }) => [code, name] as const);
  const left = codes.filter((code) => !config.merchants.has(code)).map((code) => [code, code] as const);
  return new Map([...known, ...left]);
}

/** Null before an agency is chosen. Throws ConsoleProblem for an agency or a day that there is not. */
function readAsked(ctx: Context, agencies: Agencies, now: Date): Asked | null {
  const { merchant, day = '', known } = readQuery(ctx);
  if (merchant === undefined) return null;
  const agency = agencies.get(merchant);
  if (agency === undefined) throw new ConsoleProblem(404, 'There is no such agency');
  if (!boundsOfDay(day)) throw new ConsoleProblem(400, 'There is no such day; a day reads 2026-11-20');
  return { agency, collection: { merchantCode: merchant, day, asOf: readAsOf(known, now) } };
}

async function show(ctx: Context, parts: ConsoleParts): Promise<void> {
  const now = parts.clock();
  const agencies = await findAgencies(ctx, parts);
  const asked = readAsked(ctx, agencies, now);
  const { day, known = '' } = readQuery(ctx);
  const yesterday = dayOf(new Date(now.getTime() - dayMs).toISOString());
  await parts.frame.show(ctx, 'journal/statements.njk', {
    title: 'Daily collection',
    merchants: Array.from(agencies, ([value, name]) => ({ value, text: `${name} (${value})` })),
    merchant: asked?.collection.merchantCode ?? '',
    day: day || yesterday,
    known,
    statement: asked && (await statementOf(ctx, parts, asked)),
  });
}

/** The totals of the day, and a page of its receipts. */
async function statementOf(
  ctx: Context,
  { console: { db }, eventStore, log, runtime }: ConsoleParts,
  asked: Asked,
) {
  const { agency, collection } = asked;
  const after = readKey(readQuery(ctx).after);
  const [totals, found, gap] = await askReadModels(ctx, log, [
    collectionTotals(db, collection),
    collectionPage(db, collection, { after, limit: pageSize + 1 }),
    journalGap(collection.asOf, { eventStore, db, runtime }),
  ]);
  const rows = found.slice(0, pageSize);
  const last = found.length > pageSize ? rows.at(-1) : undefined;
  const { merchantCode: merchant, day, asOf } = collection;
  // Links name the moment of this page, so that what is downloaded is what was seen.
  const fields = { merchant, day, known: asOf.toISOString() };
  const all = grandTotal(totals);
  return {
    agency,
    asOf: fields.known,
    gap: gap?.message ?? null,
    totals: totals.map((total) => ({ ...total, name: methodName(total.method) })),
    all,
    rows: rows.map((receipt) => ({
      ...receipt,
      paidAt: receipt.paidAt.toISOString(),
      recordedAt: receipt.recordedAt.toISOString(),
      methodName: methodName(receipt.method),
    })),
    csvUrl: `${csvPath}${queryOf(fields)}`,
    pdfUrls: all.receipts > maxPdfReceipts ? null : pdfUrls(fields),
    maxPdfReceipts,
    firstUrl: after && `${path}${queryOf(fields)}`,
    nextUrl: last
      ? `${path}${queryOf({ ...fields, after: cursorText({ at: last.paidAt, ids: [last.transactionId] }) })}`
      : null,
  };
}

function pdfUrls(fields: Readonly<Record<string, string>>) {
  return {
    ms: `${pdfPath}${queryOf({ ...fields, lang: 'ms' })}`,
    en: `${pdfPath}${queryOf({ ...fields, lang: 'en' })}`,
  };
}

function methodName(method: CollectedReceipt['method']): string {
  return method === 'unknown' ? 'Not known' : texts.en.modes[method];
}

function readKey(text: string | undefined): ReceiptKey | null {
  const cursor = readCursor(text, 1);
  return cursor && { paidAt: cursor.at, transactionId: cursor.ids[0] ?? '' };
}

async function readDownload(ctx: Context, parts: ConsoleParts): Promise<Asked> {
  const asked = readAsked(ctx, await findAgencies(ctx, parts), parts.clock());
  if (!asked) throw new ConsoleProblem(400, 'Which agency is the statement of?');
  await refuseGap(ctx, parts, asked.collection.asOf);
  return asked;
}

function attach(ctx: Context, { merchantCode, day }: Collection, ending: 'csv' | 'pdf'): void {
  ctx.attachment(`collection-${merchantCode.replace(/[^\w.-]+/g, '-')}-${day}.${ending}`);
}

async function downloadCsv(ctx: Context, parts: ConsoleParts): Promise<void> {
  const { collection } = await readDownload(ctx, parts);
  attach(ctx, collection, 'csv');
  ctx.type = 'text/csv; charset=utf-8';
  ctx.body = collectionCsv(collection, collectedReceipts(parts.console.db, collection));
}

async function downloadPdf(ctx: Context, parts: ConsoleParts): Promise<void> {
  const { agency, collection } = await readDownload(ctx, parts);
  const lang = readQuery(ctx).lang === 'en' ? 'en' : 'ms';
  const receipts = collectedReceipts(parts.console.db, collection);
  try {
    ctx.body = await collectionPdf({ agency, collection, runtime: parts.runtime }, receipts, lang);
  } catch (error) {
    if (error instanceof TooManyReceipts) throw new ConsoleProblem(409, error.message);
    throw error;
  }
  attach(ctx, collection, 'pdf');
  ctx.type = 'application/pdf';
}
