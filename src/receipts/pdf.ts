/** The official receipt, or the statement of a payment, as a PDF: A4, tagged, every name printed, the same bytes every time. */
import { factsOf } from './facts.ts';
import { drawAmounts } from './pdf/amounts.ts';
import { drawQrCode, drawStatusIcon, isScannable } from './pdf/figures.ts';
import { drawPairs, drawText } from './pdf/parts.ts';
import { contentWidthPt, createSheet, marginPt, rightEdgePt, type Sheet } from './pdf/sheet.ts';
import { colors, styles } from './pdf/styles.ts';
import type { Receipt } from './receipt.ts';
import type { ReceiptTexts } from './texts/en.ts';
import { historyText, type Language, statusName, texts, timeText } from './texts.ts';

type Document = { sheet: Sheet; receipt: Receipt; lang: Language; words: ReceiptTexts };

/**
 * Streams the PDF. `verifyUrl` is the page that confirms this receipt, percent-encoded, printed with its QR code;
 * `''` for a statement, which has nothing to confirm. Nothing in a receipt makes it throw: what no font has prints as a box.
 */
export function receiptPdf(
  receipt: Receipt,
  { lang, verifyUrl }: { lang: Language; verifyUrl: string },
): NodeJS.ReadableStream {
  const words = texts[lang];
  const kind = receipt.isOfficial ? words.receipt.official : words.receipt.statement;
  const title = `${kind} ${receipt.receiptNo}`;
  const sheet = createSheet({ lang, title, createdAt: new Date(receipt.at) });
  const document = { sheet, receipt, lang, words };
  drawHeading(document, kind);
  drawSummary(document);
  drawPairs(sheet, words.receipt.details, factsOf(receipt, lang));
  drawAmounts(sheet, receipt, lang);
  if (!receipt.isOfficial) drawHistory(document);
  if (verifyUrl !== '') drawVerification(document, verifyUrl);
  drawText(sheet, sheet.root, 'P', words.pdf.computerGenerated, styles.small);
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
  sheet.ensure(heightPt);
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

function drawHistory({ sheet, receipt, lang, words }: Document): void {
  drawPairs(
    sheet,
    words.receipt.history,
    receipt.history.map((entry) => [timeText(entry.at, lang), historyText(entry, lang)]),
  );
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
