/**
 * A4 pages on which rows are drawn one below the other, with the structure that screen readers follow. A row that does
 * not fit continues on the next page, even in the middle of a cell.
 */
import PDFDocument from 'pdfkit';
import { printable } from './printable.ts';
import { colors, type Style } from './styles.ts';
import { drawLine, type Line, type Typesetter, wrapText } from './typesetter.ts';
import { hasRightToLeft } from './visual-order.ts';

const pageWidthPt = 595.28;
const pageHeightPt = 841.89;
export const marginPt = 50;
export const contentWidthPt = pageWidthPt - 2 * marginPt;
export const rightEdgePt = marginPt + contentWidthPt;
const topPt = 42;
const bottomPt = pageHeightPt - 56;
const footerPt = pageHeightPt - 32;
const lineHeight = 1.45;
const ascent = 1.07;

export type Element = PDFKit.PDFStructureElement;
export type Paragraph = { text: string; style: Style };
/** `xPt` is from the left edge of the page. */
export type Place = { xPt: number; widthPt: number; align?: 'right' };
export type Cell = Place & {
  tag: 'H1' | 'H2' | 'P' | 'TH' | 'TD' | 'Link';
  scope?: 'Row' | 'Column';
  paragraphs: readonly Paragraph[];
  /** The URL that a click on the text opens. */
  link?: string;
};

/** pdfkit's types lack the scope. */
type ElementOptions = { alt?: string; actual?: string; scope?: 'Row' | 'Column' };
type StyledLine = { line: Line; style: Style };

export type Sheet = Typesetter & {
  root: Element;
  /** Where the next row begins, from the top of the page. */
  yPt: number;
};

export function createSheet(lang: string, title: string, createdAt: Date): Sheet {
  const doc = new PDFDocument({
    size: [pageWidthPt, pageHeightPt],
    margin: 0,
    // Keeps the default, Helvetica, from being loaded.
    font: '',
    bufferPages: true,
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: `${lang}-MY`,
    info: {
      // The title also goes into XML, and pdfkit does not escape it.
      Title: printable(title).replace(/[<>&\ufffe\uffff]/g, ''),
      Creator: 'Payment ledger',
      Producer: 'PDFKit',
      CreationDate: createdAt,
    },
  });
  const root = doc.struct('Document');
  doc.addStructure(root);
  return { doc, widths: new Map(), fontIds: new Map(), root, yPt: topPt };
}

export function addElement(
  { doc }: Sheet,
  parent: Element,
  tag: string,
  options: ElementOptions = {},
): Element {
  const child = doc.struct(tag, options);
  parent.add(child);
  return child;
}

/** Draws what is not content: rules and backgrounds. */
export function decorate({ doc }: Sheet, draw: () => void): void {
  doc.markContent('Artifact', { type: 'Layout' });
  draw();
  doc.endMarkedContent();
}

export function drawRule(sheet: Sheet): void {
  decorate(sheet, () => ruleBelow(sheet));
}

/** A line over the whole width, with room above and below it. */
function ruleBelow(sheet: Sheet): void {
  const yPt = sheet.yPt + 2;
  sheet.doc.lineWidth(0.5).moveTo(marginPt, yPt).lineTo(rightEdgePt, yPt).stroke(colors.line);
  sheet.yPt = yPt + 2;
}

function newPage(sheet: Sheet, header: readonly Cell[] = []): void {
  sheet.doc.addPage();
  sheet.yPt = topPt;
  // The structure has the header once; its repetitions are only visible.
  sheet.doc.markContent('Artifact', { type: 'Pagination' });
  sheet.yPt = Math.max(topPt, ...header.map((cell) => drawWhatFits(sheet, cell, linesOf(sheet, cell))));
  if (header.length > 0) ruleBelow(sheet);
  sheet.doc.endMarkedContent();
}

/** Starts a new page unless this height is left on the current one. */
export function ensureRoom(sheet: Sheet, heightPt: number): void {
  if (sheet.yPt + heightPt > bottomPt) newPage(sheet);
}

/** Draws cells side by side. A page that the row continues on, or moves to as a whole, begins with `header`. */
export function drawRow(
  sheet: Sheet,
  parent: Element,
  cells: readonly Cell[],
  header: readonly Cell[] = [],
): void {
  const started = cells.map((cell) => ({
    cell,
    lines: linesOf(sheet, cell),
    element: addElement(sheet, parent, cell.tag, optionsOf(cell)),
  }));
  const heightsPt = started.map(({ lines }) => lines.reduce((sum, line) => sum + heightOf(line), 0));
  const heightPt = Math.max(0, ...heightsPt);
  if (sheet.yPt + heightPt > bottomPt && heightPt < bottomPt - topPt) newPage(sheet, header);
  for (;;) {
    const endsPt = started.map(({ cell, lines, element }) => {
      const content = sheet.doc.markStructureContent(cell.tag);
      const endPt = drawWhatFits(sheet, cell, lines, element);
      sheet.doc.endMarkedContent();
      element.add(content);
      return endPt;
    });
    sheet.yPt = Math.max(sheet.yPt, ...endsPt);
    if (started.every(({ lines }) => lines.length === 0)) return;
    newPage(sheet, header);
  }
}

function linesOf(sheet: Sheet, { paragraphs, widthPt }: Cell): StyledLine[] {
  return paragraphs.flatMap(({ text, style }) =>
    wrapText(sheet, text, style, widthPt).map((line) => ({ line, style })),
  );
}

/** Draws and removes the lines that fit on the page; returns where they end. */
function drawWhatFits(sheet: Sheet, cell: Cell, lines: StyledLine[], element?: Element): number {
  let endPt = sheet.yPt;
  for (let next = lines[0]; next && endPt + heightOf(next) <= bottomPt; next = lines[0]) {
    const { line, style } = next;
    const startPt = cell.align === 'right' ? cell.xPt + cell.widthPt - line.widthPt : cell.xPt;
    drawLine(sheet, line, style, startPt, endPt + style.sizePt * ascent);
    if (cell.link !== undefined && element) {
      // pdfkit's types lack the option that ties a link to its element.
      const options: object = { structParent: element };
      sheet.doc.link(startPt, endPt, line.widthPt, heightOf(next), cell.link, options);
    }
    endPt += heightOf(next);
    lines.shift();
  }
  return endPt;
}

/** Draws a figure; `alt` describes it to those who cannot see it. */
export function drawFigure(sheet: Sheet, parent: Element, alt: string, draw: () => void): void {
  const content = sheet.doc.markStructureContent('Figure');
  draw();
  sheet.doc.endMarkedContent();
  addElement(sheet, parent, 'Figure', { alt }).add(content);
}

/** Ends the document and gives each page its footer. */
export function finish(sheet: Sheet, footer: (page: number, pages: number) => Paragraph): void {
  const { doc } = sheet;
  const { start, count } = doc.bufferedPageRange();
  for (let page = start; page < start + count; page += 1) {
    doc.switchToPage(page);
    doc.markContent('Artifact', { type: 'Pagination' });
    const { text, style } = footer(page + 1, count);
    const [line] = wrapText(sheet, text, style, contentWidthPt);
    if (line) drawLine(sheet, line, style, rightEdgePt - line.widthPt, footerPt);
    doc.endMarkedContent();
  }
  doc.end();
}

/** Right-to-left text is drawn in another order than it is read: the structure holds the text itself. */
function optionsOf({ paragraphs, scope }: Cell): ElementOptions {
  const text = paragraphs.map((paragraph) => printable(paragraph.text)).join(' ');
  return { ...(scope && { scope }), ...(hasRightToLeft(text) && { actual: text }) };
}

const heightOf = ({ style }: StyledLine) => style.sizePt * lineHeight;
