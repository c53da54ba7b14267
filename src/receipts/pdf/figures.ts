/** What the PDF draws rather than writes: the QR code and the icon of a status. */
import { encode } from 'uqr';
import type { StatusName } from '../texts.ts';
import { colors } from './styles.ts';

/** More does not fit a code of this print size that a phone can still read. */
const maxCodeCharacters = 300;

export const isScannable = (url: string) => url.length <= maxCodeCharacters;

/** A QR code (ISO/IEC 18004, level M), as wide as `sizePt`; the white of the page is its quiet zone. */
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
      // Dark modules side by side are one rectangle: no hairlines between them.
      if (end > start) {
        doc.rect(xPt + start * modulePt, yPt + row * modulePt, (end - start) * modulePt, modulePt);
      }
      start = end + 1;
    }
  }
  doc.fill(colors.black);
}

/** Strokes within a circle of radius 1 around 0, 0. */
const signs: Readonly<Record<StatusName, readonly (readonly [number, number])[][]>> = {
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
  pending: [
    [
      [0, -0.55],
      [0, 0.05],
      [0.36, 0.3],
    ],
  ],
  requested: [
    [
      [0, -0.55],
      [0, 0.05],
      [0.36, 0.3],
    ],
  ],
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
