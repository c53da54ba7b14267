/** The receipt of a payment, or its statement if it is not paid, as a PDF: A4, tagged, the same bytes every time. */
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
import { drawQrCode, drawSuccessIcon, maxCodeCharacters } from '@ledger/pdf/figures.ts';
import {
  addElement,
  contentWidthPt,
  createSheet,
  decorate,
  drawFigure,
  drawRow,
  ensureRoom,
  marginPt,
  rightEdgePt,
  type Sheet,
} from '@ledger/pdf/sheet.ts';
import { styles } from '@ledger/pdf/styles.ts';
import { amountInWords } from './amount-in-words.ts';
import type { Printed } from './file.ts';
import type { Receipt } from './receipt.ts';
import {
  explanationOf,
  factsOf,
  headingOf,
  historyText,
  itemLinesOf,
  type Language,
  otherChargeTexts,
  type ReceiptTexts,
  texts,
  timeText,
} from './texts.ts';

type Document = { sheet: Sheet; receipt: Receipt; lang: Language; words: ReceiptTexts };

/**
 * Streams the PDF. `verifyUrl` is the page that confirms this receipt, percent-encoded, printed with its QR code;
 * `''` for a statement, which has nothing to confirm. No text makes it throw: a character without a font is a box.
 */
export function receiptPdf(receipt: Receipt, { lang, verifyUrl }: Printed): NodeJS.ReadableStream {
  const words = texts[lang];
  const heading = headingOf(receipt, lang);
  const sheet = createSheet(lang, `${heading} ${receipt.receiptNo}`, new Date(receipt.at));
  const document = { sheet, receipt, lang, words };
  drawHeading(sheet, receipt.agency, heading);
  const warnings = [
    ...(receipt.isOfficial ? [] : [words.receipt.notReceipt]),
    ...otherChargeTexts(receipt, lang),
  ];
  for (const warning of warnings) drawText(sheet, sheet.root, 'P', warning, styles.warning);
  drawText(sheet, sheet.root, 'P', explanationOf(receipt, lang), styles.label);
  if (receipt.asAt !== '') {
    const asAt = format(words.receipt.asAt, { time: timeText(receipt.asAt, lang) });
    drawText(sheet, sheet.root, 'P', asAt, styles.warning);
  }
  sheet.yPt += 10;
  if (receipt.isOfficial) drawPayment(document, verifyUrl);
  else {
    const history = receipt.history.map(
      (entry) => [timeText(entry.at, lang), historyText(entry, lang)] as const,
    );
    drawPairs(sheet, words.receipt.details, factsOf(receipt, lang));
    drawPairs(sheet, words.receipt.history, history);
  }
  const note = receipt.isOfficial ? words.pdf.computerGenerated : '';
  drawEnd(sheet, note, (page, pages) => [receipt.receiptNo, format(words.pdf.page, { page, pages })]);
  return sheet.doc;
}

function drawPayment(document: Document, verifyUrl: string): void {
  const { sheet, receipt, lang, words } = document;
  drawTotalAndStatus(document);
  drawPairs(sheet, words.receipt.details, factsOf(receipt, lang));
  drawAmounts(document);
  if (verifyUrl !== '') drawVerification(document, verifyUrl);
}

/** The status is a word and an icon, never a colour alone. */
function drawTotalAndStatus({ sheet, receipt, words }: Document): void {
  drawSummary(sheet, (section, { topPt, heightPt, paddingPt }) => {
    const totalWidthPt = contentWidthPt * 0.58;
    const total = { xPt: marginPt + paddingPt, widthPt: totalWidthPt - paddingPt };
    sheet.yPt = topPt + 9;
    drawText(sheet, section, 'P', words.total, styles.label, total);
    drawText(sheet, section, 'P', receipt.total, styles.sum, total);

    const middlePt = topPt + heightPt / 2;
    const radiusPt = 9;
    const iconPt = marginPt + totalWidthPt;
    decorate(sheet, () => drawSuccessIcon(sheet.doc, iconPt + radiusPt, middlePt, radiusPt));
    const textPt = iconPt + 2 * radiusPt + 8;
    sheet.yPt = middlePt - styles.status.sizePt * 0.74;
    drawText(sheet, section, 'P', words.statuses.success, styles.status, {
      xPt: textPt,
      widthPt: rightEdgePt - textPt,
    });
  });
}

function drawAmounts({ sheet, receipt, lang, words }: Document): void {
  const section = drawSection(sheet, words.receipt.amounts);
  const table = beginTable(sheet, section, {
    widthsPt: [377, 118],
    amounts: 1,
    head: [words.item, words.amount],
  });
  for (const { description, detail, amount } of itemLinesOf(receipt)) {
    const item = [
      { text: description, style: styles.text },
      { text: detail, style: styles.small },
    ];
    addRow(sheet, table, [item, amount], styles.text);
  }
  if (receipt.fee !== '') addRow(sheet, table, [words.fee, receipt.fee], styles.text, 'Row');
  addRow(sheet, table, [words.total, receipt.total], styles.total, 'Row');
  sheet.yPt += 4;
  drawText(sheet, section, 'P', words.pdf.amountInWords, styles.label);
  drawText(sheet, section, 'P', amountInWords(receipt.totalSen, lang), styles.text);
  sheet.yPt += 12;
}

/** Lets anyone who holds the paper ask us whether it is genuine. */
function drawVerification({ sheet, words }: Document, verifyUrl: string): void {
  const sizePt = 80;
  ensureRoom(sheet, sizePt + 30);
  const section = addElement(sheet, sheet.root, 'Sect');
  const topPt = sheet.yPt;
  if (verifyUrl.length <= maxCodeCharacters) {
    drawFigure(sheet, section, format(words.pdf.codeOf, { url: verifyUrl }), () =>
      drawQrCode(sheet.doc, verifyUrl, marginPt, topPt, sizePt),
    );
  }
  const textPt = marginPt + sizePt + 16;
  const place = { xPt: textPt, widthPt: rightEdgePt - textPt };
  drawText(sheet, section, 'H2', words.pdf.verify, styles.heading, place);
  drawText(sheet, section, 'P', words.pdf.scan, styles.label, place);
  drawRow(sheet, section, [
    { tag: 'Link', ...place, link: verifyUrl, paragraphs: [{ text: verifyUrl, style: styles.link }] },
  ]);
  sheet.yPt = Math.max(sheet.yPt, topPt + sizePt) + 14;
}
