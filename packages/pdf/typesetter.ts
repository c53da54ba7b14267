/** Sets any text in lines: wrapped, in visual order, each run in a font that has its characters. */
import { type FontRun, fontRuns } from './fonts.ts';
import { addFont } from './kept-fonts.ts';
import { printable } from './printable.ts';
import type { Style } from './styles.ts';
import { hasRightToLeft, visualOrderOf } from './visual-order.ts';

export type Typesetter = {
  doc: PDFKit.PDFDocument;
  /** The widths of texts, by weight, in points at a size of one point. */
  widths: Map<string, number>;
  /** pdfkit calls its fonts F1, F2, … in the order of their first use. */
  fontIds: Map<string, string>;
};

/** `unitWidth` is in points at a size of one point. */
type SetRun = FontRun & { unitWidth: number };
export type Line = { runs: readonly SetRun[]; widthPt: number };

/** The text in lines no wider than `widthPt`; none where there is nothing to print. */
export function wrapText(typesetter: Typesetter, text: string, style: Style, widthPt: number): Line[] {
  const paragraph = printable(text);
  const visualOrder = visualOrderOf(paragraph);
  const lineOf = (start: number, end: number): Line => {
    const runs = visualOrder(start, end).flatMap((run) => {
      const parts = fontRuns(run.text, style.weight);
      const ordered = run.isRightToLeft ? parts.reverse().map(reversed) : parts;
      return ordered.flatMap((part) => shaped(typesetter, part));
    });
    return { runs, widthPt: unitWidthOf(runs) * style.sizePt };
  };
  if (paragraph === '') return [];
  // Most text fits on one line; to measure it word by word would take a tenth of a receipt's CPU.
  const whole = lineOf(0, paragraph.length);
  if (whole.widthPt <= widthPt) return [whole];
  return lineBreaks(typesetter, paragraph, style, widthPt).map(([start, end]) => lineOf(start, end));
}

/** Draws a line from `xPt` with its baseline at `yPt`. */
export function drawLine(
  typesetter: Typesetter,
  line: Line,
  { sizePt, color }: Style,
  xPt: number,
  yPt: number,
): void {
  const { doc } = typesetter;
  let runPt = xPt;
  for (const run of line.runs) {
    useFont(typesetter, run.font);
    doc.fontSize(sizePt).fillColor(color);
    const isPlain = (run.font.startsWith('noto-sans-sc/') ? plainChinese : plainLatin).test(run.text);
    if (!isPlain) doc.markContent('Span', { actual: textAsSeen(run.text) });
    doc.text(run.text, runPt, yPt, { ...layoutOf(run.text), lineBreak: false, baseline: 'alphabetic' });
    if (!isPlain) endActualText(typesetter, run.font, sizePt);
    runPt += run.unitWidth * sizePt;
  }
}

// A line may end at a space, after a hyphen or a slash, before the parts of an address, around a Chinese character
// with its punctuation.
const pieces =
  /\p{Script=Han}[\p{Pe}\p{Po}]*|[^\s\p{Script=Han}]+?(?:[-/](?=\P{N})|(?=[?&=\s\p{Script=Han}])|$)|\s/gu;

/** Where each line starts and ends, without the spaces at its end. A piece wider than a line breaks anywhere. */
function lineBreaks(
  typesetter: Typesetter,
  paragraph: string,
  style: Style,
  widthPt: number,
): [start: number, end: number][] {
  const breaks: [number, number][] = [];
  let [start, end, linePt] = [0, 0, 0];
  const flush = () => {
    const length = paragraph.slice(start, end).trimEnd().length;
    if (length > 0) breaks.push([start, start + length]);
  };
  const parts = (paragraph.match(pieces) ?? []).flatMap((piece) =>
    widthOf(typesetter, piece, style) <= widthPt ? [piece] : graphemesOf(piece),
  );
  for (const part of parts) {
    const partPt = widthOf(typesetter, part, style);
    if (linePt + partPt > widthPt && part !== ' ') {
      flush();
      [start, linePt] = [end, 0];
    }
    end += part.length;
    linePt += partPt;
  }
  flush();
  return breaks;
}

function widthOf(typesetter: Typesetter, text: string, { sizePt, weight }: Style): number {
  const key = `${weight} ${text}`;
  const width =
    typesetter.widths.get(key) ??
    unitWidthOf(fontRuns(text, weight).flatMap((run) => shaped(typesetter, run)));
  typesetter.widths.set(key, width);
  return width * sizePt;
}

function unitWidthOf(runs: readonly SetRun[]): number {
  return runs.reduce((sum, { unitWidth }) => sum + unitWidth, 0);
}

/** A noncharacter, for which every font prints a box. */
const unprintable = '\uffff';

/** The shaping library fails on some sequences of marks that no language uses: their characters are set one by one. */
function shaped(typesetter: Typesetter, run: FontRun): SetRun[] {
  try {
    return [measured(typesetter, run)];
  } catch {
    const characters = Array.from(run.text);
    if (characters.length === 1) return [measured(typesetter, { ...run, text: unprintable })];
    return characters.flatMap((text) => shaped(typesetter, { ...run, text }));
  }
}

function measured(typesetter: Typesetter, run: FontRun): SetRun {
  useFont(typesetter, run.font);
  const unitWidth = typesetter.doc.fontSize(1).widthOfString(run.text, layoutOf(run.text));
  return { ...run, unitWidth };
}

function useFont({ doc, fontIds }: Typesetter, font: string): void {
  if (!fontIds.has(font)) {
    addFont(doc, font);
    fontIds.set(font, `F${fontIds.size + 1}`);
  }
  doc.font(font);
}

/**
 * pdfkit lays out word by word from the left and caches each word. With a list of features, even an empty one, it lays
 * out a run as a whole, which right-to-left words need.
 */
const layoutOf = (text: string) => (hasRightToLeft(text) ? { features: [] } : {});

/** Characters that the fonts have, each with one glyph, in reading order. */
const plainLatin = /^[ -~\u00a1-\u024f\u1e00-\u1eff\u2013-\u201e]*$/;
const plainChinese = /^[\p{Script=Han} ]*$/u;

/**
 * The text that a run's glyphs stand for, since glyphs may differ from letters in number and order. PDF readers take a
 * page's content from left to right and turn it themselves; the structure has the reading order.
 */
function textAsSeen(text: string): string {
  return hasRightToLeft(text) ? Array.from(text).reverse().join('') : text;
}

/** PDF readers place the text by the font and coordinates in force where it ends, but pdfkit has reset them by then. */
function endActualText({ doc, fontIds }: Typesetter, font: string, sizePt: number): void {
  doc.save().transform(1, 0, 0, -1, 0, doc.page.height);
  doc.addContent(`/${fontIds.get(font)} ${sizePt} Tf`);
  doc.endMarkedContent();
  doc.restore();
}

/** Fonts reverse right-to-left letters themselves; brackets and the like on their own are reversed here. */
function reversed(run: FontRun): FontRun {
  return hasRightToLeft(run.text) ? run : { ...run, text: graphemesOf(run.text).reverse().join('') };
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

function graphemesOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
