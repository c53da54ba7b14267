/** What receipts and statements are composed of: heading, summary, sections, tables. */
import {
  addElement,
  type Cell,
  contentWidthPt,
  decorate,
  drawRow,
  drawRule,
  type Element,
  ensureRoom,
  finish,
  marginPt,
  type Paragraph,
  type Place,
  rightEdgePt,
  type Sheet,
} from './sheet.ts';
import { colors, type Style, styles } from './styles.ts';

const wholeWidth: Place = { xPt: marginPt, widthPt: contentWidthPt };

export function drawText(
  sheet: Sheet,
  parent: Element,
  tag: 'H1' | 'H2' | 'P',
  text: string,
  style: Style,
  place = wholeWidth,
): void {
  drawRow(sheet, parent, [{ tag, ...place, paragraphs: [{ text, style }] }]);
}

export function drawHeading(sheet: Sheet, agency: string, title: string): void {
  decorate(sheet, () => sheet.doc.rect(0, 0, sheet.doc.page.width, 6).fill(colors.primary));
  drawText(sheet, sheet.root, 'P', agency, styles.agency);
  sheet.yPt += 2;
  drawText(sheet, sheet.root, 'H1', title.toLocaleUpperCase('en'), styles.title);
  sheet.yPt += 2;
}

/** A shaded box with what matters most; `draw` fills it. */
export function drawSummary(
  sheet: Sheet,
  draw: (section: Element, box: { topPt: number; heightPt: number; paddingPt: number }) => void,
): void {
  const heightPt = 64;
  ensureRoom(sheet, heightPt);
  const topPt = sheet.yPt;
  decorate(sheet, () =>
    sheet.doc
      .roundedRect(marginPt, topPt, contentWidthPt, heightPt, 6)
      .fillAndStroke(colors.washed, colors.line),
  );
  draw(addElement(sheet, sheet.root, 'Sect'), { topPt, heightPt, paddingPt: 14 });
  sheet.yPt = topPt + heightPt + 12;
}

export function drawSection(sheet: Sheet, heading: string): Element {
  // Keeps a heading from standing alone at the end of a page.
  ensureRoom(sheet, 70);
  const section = addElement(sheet, sheet.root, 'Sect');
  drawText(sheet, section, 'H2', heading, styles.heading);
  drawRule(sheet);
  return section;
}

/**
 * Begins a table, each page of which begins with `head`. The last column ends at the right margin; the last `amounts`
 * columns are aligned to the right.
 */
export function beginTable(
  sheet: Sheet,
  section: Element,
  layout: { widthsPt: readonly number[]; amounts: number; head?: readonly string[]; headStyle?: Style },
) {
  const { widthsPt, amounts, head, headStyle = styles.columnHead } = layout;
  const gapPt = 7;
  let nextPt = marginPt;
  const columns = widthsPt.map((fullPt, index): Place => {
    const xPt = nextPt;
    nextPt += fullPt;
    const isLast = index === widthsPt.length - 1;
    const widthPt = isLast ? rightEdgePt - xPt : fullPt - gapPt;
    return { xPt, widthPt, ...(index >= widthsPt.length - amounts && { align: 'right' }) };
  });
  const element = addElement(sheet, section, 'Table');
  const header = head ? cellsOf(columns, head, headStyle, 'Column') : [];
  if (head) drawTableRow(sheet, element, header);
  return { element, columns, header };
}

/** A text in the style of its row, or paragraphs in styles of their own. */
type Content = string | readonly Paragraph[];

/** `scope` makes the first cell the heading of its row. */
export function addRow(
  sheet: Sheet,
  { element, columns, header }: ReturnType<typeof beginTable>,
  contents: readonly Content[],
  style: Style,
  scope?: 'Row',
): void {
  drawTableRow(sheet, element, cellsOf(columns, contents, style, scope), header);
}

function drawTableRow(sheet: Sheet, table: Element, cells: readonly Cell[], header?: readonly Cell[]): void {
  drawRow(sheet, addElement(sheet, table, 'TR'), cells, header);
  drawRule(sheet);
}

function cellsOf(
  columns: readonly Place[],
  contents: readonly Content[],
  style: Style,
  scope?: 'Row' | 'Column',
): Cell[] {
  return columns.map((column, index) => {
    const content = contents[index] ?? '';
    const isHeading = scope === 'Column' || (scope === 'Row' && index === 0);
    return {
      ...column,
      ...(isHeading ? { tag: 'TH', scope } : { tag: 'TD' }),
      paragraphs: typeof content === 'string' ? [{ text: content, style }] : content,
    };
  });
}

/** A section of labels and their texts. */
export function drawPairs(
  sheet: Sheet,
  heading: string,
  pairs: readonly (readonly [label: string, text: string])[],
): void {
  const table = beginTable(sheet, drawSection(sheet, heading), { widthsPt: [160, 335], amounts: 0 });
  for (const [label, text] of pairs)
    addRow(sheet, table, [[{ text: label, style: styles.label }], text], styles.text, 'Row');
  sheet.yPt += 10;
}

/** The last line of the document, and a footer that names it on every page. */
export function drawEnd(
  sheet: Sheet,
  note: string,
  footer: (page: string, pages: string) => readonly string[],
): void {
  drawText(sheet, sheet.root, 'P', note, styles.small);
  finish(sheet, (page, pages) => ({
    text: footer(String(page), String(pages)).filter(Boolean).join(' · '),
    style: styles.small,
  }));
}
