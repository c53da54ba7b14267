/** A day's collection as a PDF: A4, tagged, in the look of the receipts. */
import { format } from '@ledger/kernel/format.ts';
import {
  addRow,
  beginTable,
  drawEnd,
  drawHeading,
  drawPairs,
  drawSection,
  drawSummary,
  drawText,
} from '@ledger/pdf/blocks.ts';
import { createSheet, marginPt, type Sheet } from '@ledger/pdf/sheet.ts';
import { styles } from '@ledger/pdf/styles.ts';
import en from '../../content/texts/statements.en.json' with { type: 'json' };
import ms from '../../content/texts/statements.ms.json' with { type: 'json' };
import { toDateTime } from '../common/malaysian-time.ts';
import { displaySen, groupedSen } from '../common/money.ts';
import type { CollectedReceipt, MethodTotal } from '../projections/journal/collection-queries.ts';
import { type Language, type ReceiptTexts, texts, timeText } from '../receipts/texts.ts';
import type { CollectionStatement } from './document.ts';
import { grandTotal, totalsByMethod } from './totals.ts';

type StatementTexts = typeof en;
export const statementTexts: Readonly<Record<Language, StatementTexts>> = { en, ms };

type Document = {
  sheet: Sheet;
  lang: Language;
  words: StatementTexts;
  receiptWords: ReceiptTexts;
  receipts: readonly CollectedReceipt[];
  totals: readonly MethodTotal[];
};

/** Streams the PDF. */
export function collectionPdf(statement: CollectionStatement): NodeJS.ReadableStream {
  const { agency, collection, receipts, printedAt, lang } = statement;
  const { day, merchantCode, asOf } = collection;
  const words = statementTexts[lang];
  const receiptWords = texts[lang];
  const sheet = createSheet(lang, `${words.title} ${merchantCode} ${day}`, printedAt);
  const document = { sheet, lang, words, receiptWords, receipts, totals: totalsByMethod(receipts) };
  drawHeading(sheet, agency, words.title);
  drawText(sheet, sheet.root, 'P', dayText(day, lang), styles.label);
  sheet.yPt += 10;
  drawFigures(document);
  drawPairs(sheet, words.details, [
    [words.agencyCode, merchantCode],
    [words.day, dayText(day, lang)],
    [words.asOf, timeText(asOf.toISOString(), lang)],
    [words.printedAt, timeText(printedAt.toISOString(), lang)],
  ]);
  if (receipts.length > 0) {
    drawTotals(document);
    drawReceipts(document);
  }
  drawText(sheet, sheet.root, 'P', words.note, styles.small);
  drawEnd(sheet, receiptWords.pdf.computerGenerated, (page, pages) => [
    merchantCode,
    day,
    format(receiptWords.pdf.page, { page, pages }),
  ]);
  return sheet.doc;
}

/** `2026-11-20` → `Friday, 20 November 2026` */
function dayText(day: string, lang: Language): string {
  const noon = new Date(`${day}T12:00:00+08:00`);
  const locale = lang === 'en' ? 'en-GB' : 'ms-MY';
  return noon.toLocaleDateString(locale, { dateStyle: 'full', timeZone: 'Asia/Kuala_Lumpur' });
}

/** What the agency is owed for this day, how many receipts there are, and the fees. */
function drawFigures({ sheet, words, receipts, totals }: Document): void {
  const { amountSen, chargeSen } = grandTotal(totals);
  drawSummary(sheet, (section, { topPt, paddingPt }) => {
    const large = { style: styles.sum, downPt: 9 };
    const small = { style: styles.status, downPt: 14 };
    const figures = [
      [words.collected, displaySen(amountSen), large, { xPt: marginPt + paddingPt, widthPt: 250 }],
      [words.receipts, String(receipts.length), small, { xPt: marginPt + 275, widthPt: 75 }],
      [words.fees, displaySen(chargeSen), small, { xPt: marginPt + 360, widthPt: 125 }],
    ] as const;
    for (const [label, figure, { style, downPt }, place] of figures) {
      sheet.yPt = topPt + downPt;
      drawText(sheet, section, 'P', label, styles.label, place);
      drawText(sheet, section, 'P', figure, style, place);
    }
  });
  if (receipts.length > 0) return;
  drawText(sheet, sheet.root, 'P', words.none, styles.total);
  sheet.yPt += 10;
}

function drawTotals(document: Document): void {
  const { sheet, words, receiptWords, totals } = document;
  const { method, amount, fee, total } = receiptWords;
  const table = beginTable(sheet, drawSection(sheet, words.byMethod), {
    widthsPt: [195, 60, 80, 70, 90],
    amounts: 4,
    head: [method, words.receipts, `${amount} (RM)`, `${fee} (RM)`, `${total} (RM)`],
  });
  const figuresOf = ({ receipts, amountSen, chargeSen }: Omit<MethodTotal, 'method'>) => [
    String(receipts),
    groupedSen(amountSen),
    groupedSen(chargeSen),
    groupedSen(amountSen + chargeSen),
  ];
  for (const each of totals)
    addRow(sheet, table, [methodName(each.method, document), ...figuresOf(each)], styles.text, 'Row');
  addRow(sheet, table, [total, ...figuresOf(grandTotal(totals))], styles.strong, 'Row');
  sheet.yPt += 12;
}

function drawReceipts(document: Document): void {
  const { sheet, words, receiptWords, lang, receipts, totals } = document;
  const { receipt, reference, method, amount, fee, total } = receiptWords;
  const table = beginTable(sheet, drawSection(sheet, words.receipts), {
    widthsPt: [28, 41, 149, 84, 74, 73, 46],
    amounts: 2,
    head: [words.no, words.time, receipt.receiptNo, reference, method, `${amount} (RM)`, fee],
    headStyle: styles.denseHead,
  });
  for (const [index, each] of receipts.entries()) {
    const late = each.isLate
      ? format(words.recordedLate, { time: timeText(each.recordedAt.toISOString(), lang) })
      : '';
    const number = [
      { text: each.receiptNo, style: styles.dense },
      { text: late, style: styles.denseNote },
    ];
    const contents = [
      String(index + 1),
      toDateTime(each.paidAt.toISOString()).slice(11),
      number,
      each.reference,
      methodName(each.method, document),
      groupedSen(each.amountSen),
      groupedSen(each.chargeSen),
    ];
    addRow(sheet, table, contents, styles.dense);
  }
  const { amountSen, chargeSen } = grandTotal(totals);
  const sums = ['', '', total, '', '', groupedSen(amountSen), groupedSen(chargeSen)];
  addRow(sheet, table, sums, styles.denseStrong);
  sheet.yPt += 10;
}

function methodName(method: MethodTotal['method'], { words, receiptWords }: Document): string {
  return method === 'unknown' ? words.unknownMethod : receiptWords.modes[method];
}
