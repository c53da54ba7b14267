/** The table of what was paid for. */
import { amountInWords } from '../amount-in-words.ts';
import { itemLinesOf } from '../facts.ts';
import type { Receipt } from '../receipt.ts';
import { type Language, texts } from '../texts.ts';
import { drawSection, drawText } from './parts.ts';
import { type Cell, contentWidthPt, type Element, marginPt, rightEdgePt, type Sheet } from './sheet.ts';
import { styles } from './styles.ts';
import type { Style } from './typesetter.ts';

const amountPt = 110;

/** Each item, the charge where there is one, the total, and that in words. */
export function drawAmounts(sheet: Sheet, receipt: Receipt, lang: Language): void {
  const words = texts[lang];
  const section = drawSection(sheet, words.receipt.amounts);
  const table = sheet.element(section, 'Table');
  const header = amountCells(words.item, '', words.amount, styles.columnHead, 'Column');
  drawAmount(sheet, table, header, []);
  for (const { text, detail, amount } of itemLinesOf(receipt)) {
    drawAmount(sheet, table, amountCells(text, detail, amount, styles.text), header);
  }
  if (receipt.charge !== '') {
    drawAmount(sheet, table, amountCells(words.charge, '', receipt.charge, styles.text, 'Row'), header);
  }
  drawAmount(sheet, table, amountCells(words.total, '', receipt.total, styles.total, 'Row'), header);
  sheet.moveDown(4);
  drawText(sheet, section, 'P', words.pdf.amountInWords, styles.label);
  drawText(sheet, section, 'P', amountInWords(receipt.totalSen, lang), styles.text);
  sheet.moveDown(12);
}

/** A row of the table of amounts; without a scope it is an item, with one it heads its column or row. */
function amountCells(
  text: string,
  detail: string,
  amount: string,
  style: Style,
  scope?: 'Row' | 'Column',
): Cell[] {
  const head = scope === undefined ? { tag: 'TD' as const } : { tag: 'TH' as const, scope };
  return [
    {
      ...head,
      xPt: marginPt,
      widthPt: contentWidthPt - amountPt - 15,
      paragraphs: [
        { text, style },
        { text: detail, style: styles.small },
      ],
    },
    {
      ...(scope === 'Column' ? head : { tag: 'TD' as const }),
      xPt: rightEdgePt - amountPt,
      widthPt: amountPt,
      align: 'right',
      paragraphs: [{ text: amount, style }],
    },
  ];
}

function drawAmount(sheet: Sheet, table: Element, cells: readonly Cell[], header: readonly Cell[]): void {
  sheet.row(sheet.element(table, 'TR'), cells, header);
  sheet.rule();
}
