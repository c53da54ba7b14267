/** A day's collection as a PDF: A4, tagged, in the look of the receipts. */
import { toDateTime } from '../kernel/malaysian-time.ts';
import { displaySen, groupedSen } from '../kernel/money.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { CollectedReceipt, Collection, MethodTotal } from '../projections/journal/collection-queries.ts';
import { drawPairs, drawSection, drawText } from '../receipts/pdf/parts.ts';
import {
  type Cell,
  contentWidthPt,
  createSheet,
  type Element,
  marginPt,
  rightEdgePt,
  type Sheet,
} from '../receipts/pdf/sheet.ts';
import { colors, styles } from '../receipts/pdf/styles.ts';
import type { Style } from '../receipts/pdf/typesetter.ts';
import type { ReceiptTexts } from '../receipts/texts/en.ts';
import { type Language, texts, timeText } from '../receipts/texts.ts';
import { type StatementTexts, statementTexts } from './texts.ts';
import { grandTotal, totalsByMethod } from './totals.ts';

/** A document is in memory as a whole until its pages are counted; a day of more receipts is for the CSV. */
export const maxPdfReceipts = 2_000;

/** A day has more receipts than a PDF takes. */
export class TooManyReceipts extends Error {
  override name = 'TooManyReceipts';
}

type Document = {
  sheet: Sheet;
  lang: Language;
  words: StatementTexts;
  receiptWords: ReceiptTexts;
  collection: Collection;
  receipts: readonly CollectedReceipt[];
  totals: readonly MethodTotal[];
};

type Occasion = { agency: string; collection: Collection; runtime: Pick<Runtime, 'now' | 'yieldToIo'> };

/** The document that is being drawn: several at a time would be several in memory. */
let drawing: Promise<unknown> = Promise.resolve();

/** Streams the PDF. Throws TooManyReceipts beyond `maxPdfReceipts`, and what the receipts throw. */
export function collectionPdf(
  occasion: Occasion,
  found: AsyncIterable<CollectedReceipt>,
  lang: Language,
): Promise<NodeJS.ReadableStream> {
  const drawn = drawing.then(() => draw(occasion, found, lang));
  drawing = drawn.catch(() => {});
  return drawn;
}

async function draw(
  { agency, collection, runtime }: Occasion,
  found: AsyncIterable<CollectedReceipt>,
  lang: Language,
): Promise<NodeJS.ReadableStream> {
  const receipts = await gather(found);
  const printedAt = runtime.now();
  const words = statementTexts[lang];
  const { day, merchantCode, asOf } = collection;
  const sheet = createSheet({ lang, title: `${words.title} ${merchantCode} ${day}`, createdAt: printedAt });
  const totals = totalsByMethod(receipts);
  const document = { sheet, lang, words, receiptWords: texts[lang], collection, receipts, totals };
  drawHeading(document, agency);
  drawSummary(document);
  drawPairs(sheet, words.details, [
    [words.agencyCode, merchantCode],
    [words.day, dayText(day, lang)],
    [words.asOf, timeText(asOf.toISOString(), lang)],
    [words.printedAt, timeText(printedAt.toISOString(), lang)],
  ]);
  if (receipts.length > 0) {
    drawTotals(document);
    await drawReceipts(document, runtime);
  }
  drawText(sheet, sheet.root, 'P', words.note, styles.small);
  drawText(sheet, sheet.root, 'P', texts[lang].pdf.computerGenerated, styles.small);
  sheet.finish((page, pages) => ({
    text: `${merchantCode} · ${day} · ${texts[lang].pdf.page(String(page), String(pages))}`,
    style: styles.small,
  }));
  return sheet.doc;
}

async function gather(found: AsyncIterable<CollectedReceipt>): Promise<CollectedReceipt[]> {
  const receipts: CollectedReceipt[] = [];
  for await (const receipt of found) {
    if (receipts.length === maxPdfReceipts)
      throw new TooManyReceipts(`A PDF holds at most ${maxPdfReceipts} receipts: this day is for the CSV`);
    receipts.push(receipt);
  }
  return receipts;
}

/** `2026-11-20` → `Friday, 20 November 2026` */
function dayText(day: string, lang: Language): string {
  const noon = new Date(`${day}T12:00:00+08:00`);
  const locale = lang === 'en' ? 'en-GB' : 'ms-MY';
  return noon.toLocaleDateString(locale, { dateStyle: 'full', timeZone: 'Asia/Kuala_Lumpur' });
}

function drawHeading({ sheet, words, lang, collection }: Document, agency: string): void {
  sheet.decorate(() => sheet.doc.rect(0, 0, sheet.doc.page.width, 6).fill(colors.primary));
  drawText(sheet, sheet.root, 'P', agency, styles.agency);
  sheet.moveDown(2);
  drawText(sheet, sheet.root, 'H1', words.title.toLocaleUpperCase('en'), styles.title);
  sheet.moveDown(2);
  drawText(sheet, sheet.root, 'P', dayText(collection.day, lang), styles.label);
  sheet.moveDown(10);
}

/** What the agency is owed of this day, before anything else. */
function drawSummary({ sheet, words, receipts, totals }: Document): void {
  const [heightPt, paddingPt] = [64, 14];
  const { amountSen, chargeSen } = grandTotal(totals);
  const topPt = sheet.yPt;
  sheet.decorate(() =>
    sheet.doc
      .roundedRect(marginPt, topPt, contentWidthPt, heightPt, 6)
      .fillAndStroke(colors.washed, colors.line),
  );
  const section = sheet.element(sheet.root, 'Sect');
  const figures = [
    { label: words.collected, figure: displaySen(amountSen), xPt: marginPt + paddingPt, widthPt: 250 },
    { label: words.receipts, figure: String(receipts.length), xPt: marginPt + 275, widthPt: 75 },
    { label: words.charges, figure: displaySen(chargeSen), xPt: marginPt + 360, widthPt: 125 },
  ];
  for (const [index, { label, figure, xPt, widthPt }] of figures.entries()) {
    sheet.moveTo(topPt + (index === 0 ? 9 : 14));
    const style = index === 0 ? styles.sum : styles.status;
    const paragraphs = [
      { text: label, style: styles.label },
      { text: figure, style },
    ];
    sheet.row(section, [{ tag: 'P', xPt, widthPt, paragraphs }]);
  }
  sheet.moveTo(topPt + heightPt + 12);
  if (receipts.length > 0) return;
  drawText(sheet, sheet.root, 'P', words.none, styles.total);
  sheet.moveDown(10);
}

type Column = { xPt: number; widthPt: number; align?: 'right' };

/** Columns side by side, from their widths; the last of them are amounts, set to the right. */
function columnsOf(widthsPt: readonly number[], amounts: number): Column[] {
  const gapPt = 7;
  let xPt = marginPt;
  return widthsPt.map((widthPt, index) => {
    const isAmount = index >= widthsPt.length - amounts;
    const column = { xPt, widthPt: widthPt - gapPt, ...(isAmount && { align: 'right' as const }) };
    xPt += widthPt;
    // The last column ends with the rule below it.
    return index === widthsPt.length - 1 ? { ...column, widthPt: rightEdgePt - column.xPt } : column;
  });
}

type Paragraphs = Cell['paragraphs'];

const paragraph = (text: string, style: Style): Paragraphs => [{ text, style }];

function cellsOf(
  columns: readonly Column[],
  contents: readonly Paragraphs[],
  scope?: 'Column' | 'Row',
): Cell[] {
  return columns.map((column, index) => {
    const heads = scope === 'Column' || (scope === 'Row' && index === 0);
    const tag = heads ? { tag: 'TH' as const, scope } : { tag: 'TD' as const };
    return { ...column, ...tag, paragraphs: contents[index] ?? [] };
  });
}

function drawRow(sheet: Sheet, table: Element, cells: readonly Cell[], header: readonly Cell[]): void {
  sheet.row(sheet.element(table, 'TR'), cells, header);
  sheet.rule();
}

function drawTotals({ sheet, words, receiptWords, totals }: Document): void {
  const columns = columnsOf([195, 60, 80, 70, 90], 4);
  const table = sheet.element(drawSection(sheet, words.byMethod), 'Table');
  const row = (contents: readonly string[], style: Style, scope: 'Column' | 'Row') =>
    cellsOf(
      columns,
      contents.map((text) => paragraph(text, style)),
      scope,
    );
  const { method, amount, charge, total } = receiptWords;
  const head = [method, words.receipts, `${amount} (RM)`, `${charge} (RM)`, `${total} (RM)`];
  const header = row(head, styles.columnHead, 'Column');
  const figures = ({ receipts, amountSen, chargeSen }: Omit<MethodTotal, 'method'>) => [
    String(receipts),
    groupedSen(amountSen),
    groupedSen(chargeSen),
    groupedSen(amountSen + chargeSen),
  ];
  drawRow(sheet, table, header, []);
  for (const each of totals) {
    const name = methodName(each.method, words, receiptWords);
    drawRow(sheet, table, row([name, ...figures(each)], styles.text, 'Row'), header);
  }
  const all = row([total, ...figures(grandTotal(totals))], boldText, 'Row');
  drawRow(sheet, table, all, header);
  sheet.moveDown(12);
}

const boldText = { ...styles.text, weight: 700 } as const;
const cellText = { ...styles.text, sizePt: 8 } as const;
const cellHead = { ...styles.columnHead, sizePt: 8 } as const;
const cellTotal = { ...boldText, sizePt: 8 } as const;

async function drawReceipts(document: Document, runtime: Pick<Runtime, 'yieldToIo'>): Promise<void> {
  const { sheet, words, receiptWords, lang, receipts, totals } = document;
  const columns = columnsOf([30, 46, 112, 103, 87, 67, 50], 2);
  const table = sheet.element(drawSection(sheet, words.receipts), 'Table');
  const { receipt, reference, method, amount, charge, total } = receiptWords;
  const head = [words.no, words.time, receipt.receiptNo, reference, method, `${amount} (RM)`, charge];
  const header = cellsOf(
    columns,
    head.map((text) => paragraph(text, cellHead)),
    'Column',
  );
  drawRow(sheet, table, header, []);
  for (const [index, each] of receipts.entries()) {
    // Whoever else is served by this process is not kept waiting for a long table.
    if (index % 20 === 0) await runtime.yieldToIo();
    const late = each.isLate ? words.recordedLate(timeText(each.recordedAt.toISOString(), lang)) : '';
    const contents = [
      paragraph(String(index + 1), cellText),
      paragraph(toDateTime(each.paidAt.toISOString()).slice(11), cellText),
      [...paragraph(each.receiptNo, cellText), ...paragraph(late, lateMark)],
      paragraph(each.reference, cellText),
      paragraph(methodName(each.method, words, receiptWords), cellText),
      paragraph(groupedSen(each.amountSen), cellText),
      paragraph(groupedSen(each.chargeSen), cellText),
    ];
    drawRow(sheet, table, cellsOf(columns, contents), header);
  }
  const { amountSen, chargeSen } = grandTotal(totals);
  const sums = ['', '', total, '', '', groupedSen(amountSen), groupedSen(chargeSen)];
  const all = cellsOf(
    columns,
    sums.map((text) => paragraph(text, cellTotal)),
  );
  drawRow(sheet, table, all, header);
  sheet.moveDown(10);
}

const lateMark = { ...styles.small, sizePt: 7, color: colors.status.pending };

function methodName(
  method: MethodTotal['method'],
  words: StatementTexts,
  receiptWords: ReceiptTexts,
): string {
  return method === 'unknown' ? words.unknownMethod : receiptWords.modes[method];
}
