/**
 * A4 pages on which rows are drawn one under the other, with the structure that screen readers follow. What
 * does not fit continues on the next page, in the middle of a cell if need be.
 */
import PDFDocument from 'pdfkit';
import { printable } from '../printable.ts';
import type { Language } from '../texts.ts';
import { colors } from './styles.ts';
import { createTypesetter, type Line, type Style } from './typesetter.ts';
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
type Paragraph = { text: string; style: Style };
export type Cell = {
  tag: 'H1' | 'H2' | 'P' | 'TH' | 'TD' | 'Link';
  scope?: 'Row' | 'Column';
  /** From the left edge of the page. */
  xPt: number;
  widthPt: number;
  align?: 'right';
  paragraphs: readonly Paragraph[];
  /** Where a press on the text leads. */
  link?: string;
};

/** The types lack the scope. */
type ElementOptions = { alt?: string; actual?: string; scope?: 'Row' | 'Column' };
type SetLine = { line: Line; style: Style };

export type Sheet = ReturnType<typeof createSheet>;

export function createSheet({ lang, title, createdAt }: { lang: Language; title: string; createdAt: Date }) {
  const doc = new PDFDocument({
    size: [pageWidthPt, pageHeightPt],
    margin: 0,
    // Helvetica, the default, would be read and never used.
    font: '',
    bufferPages: true,
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: `${lang}-MY`,
    // The title also goes into XML, which the library does not escape.
    info: {
      Title: printable(title).replace(/[<>&\ufffe\uffff]/g, ''),
      Creator: 'Payment ledger',
      Producer: 'PDFKit',
      CreationDate: createdAt,
    },
  });
  const typesetter = createTypesetter(doc);
  const root = doc.struct('Document');
  doc.addStructure(root);
  let yPt = topPt;

  /** An element inside another one, to which rows and elements can be added. */
  function element(parent: Element, tag: string, options: ElementOptions = {}): Element {
    const child = doc.struct(tag, options);
    parent.add(child);
    return child;
  }

  /** Draws what is no content: rules, backgrounds, page numbers. */
  function decorate(draw: () => void): void {
    doc.markContent('Artifact', { type: 'Layout' });
    draw();
    doc.endMarkedContent();
  }

  function newPage(repeated: readonly Cell[] = []): void {
    doc.addPage();
    yPt = topPt;
    // For the eye alone: the structure has them once.
    doc.markContent('Artifact', { type: 'Pagination' });
    yPt = Math.max(yPt, ...repeated.map((cell) => drawWhatFits(cell, linesOf(cell))));
    if (repeated.length > 0) ruleBelow();
    doc.endMarkedContent();
  }

  /** A line over the whole width, with room above and below it. */
  function ruleBelow(): void {
    yPt += 2;
    doc.lineWidth(0.5).moveTo(marginPt, yPt).lineTo(rightEdgePt, yPt).stroke(colors.line);
    yPt += 2;
  }

  function linesOf({ paragraphs, widthPt }: Cell): SetLine[] {
    return paragraphs.flatMap(({ text, style }) =>
      typesetter.wrap(text, style, widthPt).map((line) => ({ line, style })),
    );
  }

  /** Starts a new page unless this much fits on what is left of this one. */
  function ensure(heightPt: number): void {
    if (yPt + heightPt > bottomPt) newPage();
  }

  /** Draws cells side by side. Where the row goes on, or wholly moves, to a next page, `repeated` heads that page. */
  function row(parent: Element, cells: readonly Cell[], repeated: readonly Cell[] = []): void {
    const started = cells.map((cell) => {
      return { cell, lines: linesOf(cell), part: element(parent, cell.tag, optionsOf(cell)) };
    });
    const heightPt = Math.max(0, ...started.map(({ lines }) => sumOf(lines.map(heightOf))));
    if (yPt + heightPt > bottomPt && heightPt < bottomPt - topPt) newPage(repeated);
    for (;;) {
      const endsPt = started.map(({ cell, lines, part }) => {
        const content = doc.markStructureContent(cell.tag);
        const endPt = drawWhatFits(cell, lines, part);
        doc.endMarkedContent();
        part.add(content);
        return endPt;
      });
      yPt = Math.max(yPt, ...endsPt);
      if (started.every(({ lines }) => lines.length === 0)) return;
      newPage(repeated);
    }
  }

  /** Draws and takes away the lines that fit on the page; returns where they end. */
  function drawWhatFits(cell: Cell, lines: SetLine[], part?: Element): number {
    let endPt = yPt;
    for (let next = lines[0]; next && endPt + heightOf(next) <= bottomPt; next = lines[0]) {
      const { line, style } = next;
      const startPt = cell.align === 'right' ? cell.xPt + cell.widthPt - line.widthPt : cell.xPt;
      typesetter.draw(line, style, startPt, endPt + style.sizePt * ascent);
      if (cell.link !== undefined && part) {
        // The types lack what ties a link to its element.
        const options: object = { structParent: part };
        doc.link(startPt, endPt, line.widthPt, heightOf(next), cell.link, options);
      }
      endPt += heightOf(next);
      lines.shift();
    }
    return endPt;
  }

  /** Draws a figure, which needs words for those who do not see it. */
  function figure(parent: Element, alt: string, draw: () => void): void {
    const content = doc.markStructureContent('Figure');
    draw();
    doc.endMarkedContent();
    element(parent, 'Figure', { alt }).add(content);
  }

  /** Ends the document, each page with a footer. */
  function finish(footer: (page: number, pages: number) => Paragraph): void {
    const { start, count } = doc.bufferedPageRange();
    for (let page = start; page < start + count; page += 1) {
      doc.switchToPage(page);
      doc.markContent('Artifact', { type: 'Pagination' });
      const { text, style } = footer(page + 1, count);
      const [line] = typesetter.wrap(text, style, contentWidthPt);
      if (line) typesetter.draw(line, style, rightEdgePt - line.widthPt, footerPt);
      doc.endMarkedContent();
    }
    doc.end();
  }

  return {
    doc,
    root,
    element,
    decorate,
    ensure,
    rule: () => decorate(ruleBelow),
    row,
    figure,
    finish,
    get yPt() {
      return yPt;
    },
    moveDown(byPt: number) {
      yPt += byPt;
    },
    moveTo(toPt: number) {
      yPt = toPt;
    },
  };
}

/** Where the order of what is seen is not that of reading, the structure has the text itself. */
function optionsOf({ paragraphs, scope }: Cell): ElementOptions {
  const text = paragraphs.map((paragraph) => printable(paragraph.text)).join(' ');
  return { ...(scope && { scope }), ...(hasRightToLeft(text) && { actual: text }) };
}

const heightOf = ({ style }: SetLine) => style.sizePt * lineHeight;
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
