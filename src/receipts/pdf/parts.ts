/** What the sections of a document are made of. */
import { contentWidthPt, type Element, marginPt, type Sheet } from './sheet.ts';
import { styles } from './styles.ts';
import type { Style } from './typesetter.ts';

const labelPt = 160;

export function drawSection(sheet: Sheet, heading: string): Element {
  // A heading is not left alone at the end of a page.
  sheet.ensure(70);
  const section = sheet.element(sheet.root, 'Sect');
  drawText(sheet, section, 'H2', heading, styles.heading);
  sheet.rule();
  return section;
}

export function drawText(
  sheet: Sheet,
  parent: Element,
  tag: 'H1' | 'H2' | 'P',
  text: string,
  style: Style,
): void {
  sheet.row(parent, [{ tag, xPt: marginPt, widthPt: contentWidthPt, paragraphs: [{ text, style }] }]);
}

/** A table of two columns, with a heading of its own. */
export function drawPairs(
  sheet: Sheet,
  heading: string,
  pairs: readonly (readonly [string, string])[],
): void {
  const section = drawSection(sheet, heading);
  const table = sheet.element(section, 'Table');
  for (const [label, text] of pairs) {
    sheet.row(sheet.element(table, 'TR'), [
      {
        tag: 'TH',
        scope: 'Row',
        xPt: marginPt,
        widthPt: labelPt - 8,
        paragraphs: [{ text: label, style: styles.label }],
      },
      {
        tag: 'TD',
        xPt: marginPt + labelPt,
        widthPt: contentWidthPt - labelPt,
        paragraphs: [{ text, style: styles.text }],
      },
    ]);
    sheet.rule();
  }
  sheet.moveDown(10);
}
