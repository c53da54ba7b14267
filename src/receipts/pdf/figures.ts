/** The QR code and the status icons of the PDF. */
import { encode } from 'uqr';
import type { StatusName } from '../texts.ts';
import { colors } from './styles.ts';

/** A code of this print size with more characters is too fine for phones. */
const maxCodeCharacters = 300;

export const isScannable = (url: string) => url.length <= maxCodeCharacters;

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
    let start = 0;
    while (start < size) {
      let end = start;
      while (modules[end]) end += 1;
      // Adjacent dark modules are one rectangle, without hairlines between them.
      if (end > start) {
        doc.rect(xPt + start * modulePt, yPt + row * modulePt, (end - start) * modulePt, modulePt);
      }
      start = end + 1;
    }
  }
  doc.fill(colors.black);
}

type Stroke = readonly (readonly [number, number])[];
const clock: readonly Stroke[] = [
  [
    [0, -0.55],
    [0, 0.05],
    [0.36, 0.3],
  ],
];
/** Strokes within a circle of radius 1 around 0, 0. */
const signs: Readonly<Record<StatusName, readonly Stroke[]>> = {
  success: [
    [
      [-0.45, 0.02],
      [-0.12, 0.36],
      [0.46, -0.32],
    ],
  ],
  failed: [
    [
      [-0.34, -0.34],
      [0.34, 0.34],
    ],
    [
      [0.34, -0.34],
      [-0.34, 0.34],
    ],
  ],
  cancelled: [
    [
      [-0.45, 0],
      [0.45, 0],
    ],
  ],
  pending: clock,
  requested: clock,
};

export function drawStatusIcon(
  doc: PDFKit.PDFDocument,
  status: StatusName,
  xPt: number,
  yPt: number,
  radiusPt: number,
): void {
  doc.circle(xPt, yPt, radiusPt).fill(colors.status[status]);
  doc
    .lineWidth(radiusPt / 5)
    .lineCap('round')
    .lineJoin('round');
  for (const points of signs[status]) {
    for (const [index, [x, y]] of points.entries()) {
      const [toX, toY] = [xPt + x * radiusPt, yPt + y * radiusPt];
      if (index === 0) doc.moveTo(toX, toY);
      else doc.lineTo(toX, toY);
    }
    doc.stroke(colors.white);
  }
}
