/** The official receipt, or the statement of a payment, as a PDF: A4, tagged, every name printed, the same bytes every time. */
import { amountInWords } from './amount-in-words.ts';
import { drawQrCode, drawStatusIcon, isScannable } from './pdf-figures.ts';
import { colors, styles } from './pdf-styles.ts';
import { printable } from './printable.ts';
import type { Receipt } from './receipt.ts';
import { type Cell, contentWidthPt, createSheet, type Element, marginPt, type Sheet } from './sheet.ts';
import type { ReceiptTexts } from './texts/en.ts';
import { historyText, type Language, statusName, texts, timeText } from './texts.ts';
import type { Style } from './typesetter.ts';

type Document = { sheet: Sheet; receipt: Receipt; lang: Language; words: ReceiptTexts };

const labelPt = 160;
const amountPt = 110;
const rightEdgePt = marginPt + contentWidthPt;

/**
 * Streams the PDF. `verifyUrl` is the page that confirms this receipt, printed with its QR code; `''` for a
 * statement, which has nothing to confirm. Nothing in a receipt makes it throw: what no font has prints as a box.
 */
export function receiptPdf(
  receipt: Receipt,
  { lang, verifyUrl }: { lang: Language; verifyUrl: string },
): NodeJS.ReadableStream {
  const words = texts[lang];
  const kind = receipt.isOfficial ? words.receipt.official : words.receipt.statement;
  // The title also goes into XML, which the library does not escape.
  const title = printable(`${kind} ${receipt.receiptNo}`).replace(/[<>&]/g, '');
  const sheet = createSheet({ lang, title, createdAt: new Date(receipt.at) });
  const document = { sheet, receipt, lang, words };
  drawHeading(document, kind);
  drawSummary(document);
  drawDetails(document);
  drawAmounts(document);
  if (!receipt.isOfficial) drawHistory(document);
  if (verifyUrl !== '') drawVerification(document, verifyUrl);
  drawNote(document);
  sheet.finish((page, pages) => ({
    text: [receipt.receiptNo, words.pdf.page(String(page), String(pages))].filter(Boolean).join(' · '),
    style: styles.small,
  }));
  return sheet.doc;
}

function drawHeading({ sheet, receipt, words }: Document, kind: string): void {
  sheet.decorate(() => sheet.doc.rect(0, 0, sheet.doc.page.width, 6).fill(colors.primary));
  drawText(sheet, sheet.root, 'P', receipt.agency, styles.agency);
  sheet.moveDown(2);
  drawText(sheet, sheet.root, 'H1', kind.toLocaleUpperCase('en'), styles.title);
  sheet.moveDown(2);
  if (!receipt.isOfficial) drawText(sheet, sheet.root, 'P', words.receipt.notReceipt, styles.warning);
  drawText(sheet, sheet.root, 'P', words.receipt.explanations[statusName(receipt.status)], styles.label);
  sheet.moveDown(10);
}

/** The sum and the status, which is said by word and icon. */
function drawSummary({ sheet, receipt, words }: Document): void {
  const [heightPt, paddingPt, iconPt] = [64, 14, 18];
  const status = statusName(receipt.status);
  const topPt = sheet.yPt;
  const middlePt = topPt + heightPt / 2;
  const statusX = marginPt + contentWidthPt * 0.58;
  sheet.decorate(() => {
    sheet.doc
      .roundedRect(marginPt, topPt, contentWidthPt, heightPt, 6)
      .fillAndStroke(colors.washed, colors.line);
    drawStatusIcon(sheet.doc, status, statusX + iconPt / 2, middlePt, iconPt / 2);
  });
  const section = sheet.element(sheet.root, 'Sect');
  const sum = { xPt: marginPt + paddingPt, widthPt: contentWidthPt * 0.58 - paddingPt };
  sheet.moveTo(topPt + 9);
  sheet.row(section, [
    {
      tag: 'P',
      ...sum,
      paragraphs: [
        { text: words.total, style: styles.label },
        { text: receipt.total, style: styles.sum },
      ],
    },
  ]);
  const statusStyle = { ...styles.status, color: colors.status[status] };
  const textX = statusX + iconPt + 8;
  sheet.moveTo(middlePt - statusStyle.sizePt * 0.74);
  sheet.row(section, [
    {
      tag: 'P',
      xPt: textX,
      widthPt: rightEdgePt - textX,
      paragraphs: [{ text: words.statuses[status], style: statusStyle }],
    },
  ]);
  sheet.moveTo(topPt + heightPt + 12);
}

function drawDetails({ sheet, receipt, lang, words }: Document): void {
  const facts: [string, string][] = [
    [words.receipt.receiptNo, receipt.receiptNo],
    [words.receipt.dateTime, timeText(receipt.at, lang)],
    [words.payer, receipt.payerName],
    [words.receipt.icNo, receipt.icNo],
    [words.service, receipt.service],
    [words.description, receipt.description],
    [words.reference, receipt.reference],
    [words.receipt.transactionId, receipt.transactionId],
    [words.method, receipt.mode === '' ? '' : words.modes[receipt.mode]],
    [words.bank, receipt.bank],
    [words.receipt.fpxNo, receipt.fpxNo],
    [words.receipt.orderNo, receipt.orderNo],
  ];
  drawPairs(
    sheet,
    words.receipt.details,
    facts.filter(([, fact]) => fact !== ''),
  );
}

function drawHistory({ sheet, receipt, lang, words }: Document): void {
  drawPairs(
    sheet,
    words.receipt.history,
    receipt.history.map((entry) => [timeText(entry.at, lang), historyText(entry, lang)]),
  );
}

/** A table of two columns, with a heading of its own. */
function drawPairs(sheet: Sheet, heading: string, pairs: readonly (readonly [string, string])[]): void {
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
    drawRule(sheet);
  }
  sheet.moveDown(10);
}

function drawAmounts({ sheet, receipt, lang, words }: Document): void {
  const section = drawSection(sheet, words.receipt.amounts);
  const table = sheet.element(section, 'Table');
  const header = amountCells(words.item, '', words.amount, styles.columnHead, 'Column');
  drawAmount(sheet, table, header, []);
  const items =
    receipt.items.length > 0
      ? receipt.items
      : [{ description: receipt.description, titleId: '', receiptNo: '', amount: receipt.amount }];
  for (const item of items) {
    const detail = [item.titleId, item.receiptNo].filter(Boolean).join(' · ');
    drawAmount(sheet, table, amountCells(item.description, detail, item.amount, styles.text), header);
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
  drawRule(sheet);
}

/** What lets anyone who holds the paper ask us whether it is true. */
function drawVerification({ sheet, words }: Document, verifyUrl: string): void {
  const sizePt = 80;
  sheet.ensure(sizePt + 30);
  const section = sheet.element(sheet.root, 'Sect');
  const topPt = sheet.yPt;
  const textX = marginPt + sizePt + 16;
  const place = { xPt: textX, widthPt: rightEdgePt - textX };
  if (isScannable(verifyUrl)) {
    sheet.figure(section, words.pdf.codeOf(verifyUrl), () =>
      drawQrCode(sheet.doc, verifyUrl, marginPt, topPt, sizePt),
    );
  }
  sheet.moveTo(topPt);
  const { verify, scan } = words.pdf;
  sheet.row(section, [{ tag: 'H2', ...place, paragraphs: [{ text: verify, style: styles.heading }] }]);
  sheet.row(section, [{ tag: 'P', ...place, paragraphs: [{ text: scan, style: styles.label }] }]);
  const link = {
    tag: 'Link' as const,
    link: verifyUrl,
    paragraphs: [{ text: verifyUrl, style: styles.link }],
  };
  sheet.row(section, [{ ...link, ...place }]);
  sheet.moveTo(Math.max(sheet.yPt, topPt + sizePt) + 14);
}

function drawNote({ sheet, words }: Document): void {
  drawText(sheet, sheet.root, 'P', words.pdf.computerGenerated, styles.small);
}

function drawSection(sheet: Sheet, heading: string): Element {
  // A heading is not left alone at the end of a page.
  sheet.ensure(70);
  const section = sheet.element(sheet.root, 'Sect');
  drawText(sheet, section, 'H2', heading, styles.heading);
  drawRule(sheet);
  return section;
}

function drawText(sheet: Sheet, parent: Element, tag: 'H1' | 'H2' | 'P', text: string, style: Style): void {
  sheet.row(parent, [{ tag, xPt: marginPt, widthPt: contentWidthPt, paragraphs: [{ text, style }] }]);
}

function drawRule(sheet: Sheet): void {
  sheet.moveDown(2);
  sheet.decorate(() => {
    const { doc, yPt } = sheet;
    doc.lineWidth(0.5).moveTo(marginPt, yPt).lineTo(rightEdgePt, yPt).stroke(colors.line);
  });
  sheet.moveDown(2);
}
