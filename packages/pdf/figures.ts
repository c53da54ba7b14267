/** The QR code and the status icons of the PDF. */
import { encode } from 'uqr';
import { colors } from './styles.ts';

/** A code of this print size with more characters is too fine for phones. */
export const maxCodeCharacters = 300;

/** A QR code (ISO/IEC 18004, level M), as wide as `sizePt`; the white page around it is its quiet zone. */
export function drawQrCode(
  doc: PDFKit.PDFDocument,
  text: string,
  xPt: number,
  yPt: number,
  sizePt: number,
): void {
  const { data, size } = encode(text, { ecc: 'M', border: 0 });
  const modulePt = sizePt / size;
  for (const [row, modules] of data.entries()) {
    // Adjacent dark modules are one rectangle, without hairlines between them.
    for (const { 0: dark, index } of modules.map(Number).join('').matchAll(/1+/g))
      doc.rect(xPt + index * modulePt, yPt + row * modulePt, dark.length * modulePt, modulePt);
  }
  doc.fill(colors.black);
}

/** A tick, as an SVG path within a circle of radius 1 around 0, 0. */
const tick = 'M -0.45 0.02 L -0.12 0.36 L 0.46 -0.32';

export function drawSuccessIcon(doc: PDFKit.PDFDocument, xPt: number, yPt: number, radiusPt: number): void {
  doc.circle(xPt, yPt, radiusPt).fill(colors.success);
  doc.save().translate(xPt, yPt).scale(radiusPt);
  doc.lineWidth(0.2).lineCap('round').lineJoin('round').path(tick).stroke(colors.white);
  doc.restore();
}
