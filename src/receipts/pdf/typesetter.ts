/** Sets any text in lines: wrapped, in the order in which it is seen, each run in a font that has its characters. */

import { printable } from '../printable.ts';
import { type FontRun, fontData, fontRuns, type Weight } from './fonts.ts';
import { hasRightToLeft, visualOrderOf } from './visual-order.ts';

export type Style = { sizePt: number; weight: Weight; color: string };
/** `unitWidth` is in points at a size of one point. */
type SetRun = FontRun & { unitWidth: number };
export type Line = { runs: readonly SetRun[]; widthPt: number };

export type Typesetter = {
  /** The text in lines no wider than `widthPt`; none where there is nothing to print. */
  wrap(text: string, style: Style, widthPt: number): Line[];
  /** Draws a line from `xPt` with its baseline at `yPt`. */
  draw(line: Line, style: Style, xPt: number, yPt: number): void;
};

/**
 * The library lays out word after word from the left, and remembers each. With a list of features, even an empty
 * one, it lays out a run as a whole, which right-to-left words need.
 */
const layoutOf = (text: string) => (hasRightToLeft(text) ? { features: [] } : {});
/** Letters that a font surely has, each with one glyph, in the order of reading. */
const plainLatin = /^[ -~\u00a1-\u024f\u1e00-\u1eff\u2013-\u201e]*$/;
const plainChinese = /^[\p{Script=Han} ]*$/u;
// A line may end at a space, after a hyphen or a slash, before the parts of an address, around any Chinese character with its punctuation.
const pieces =
  /\p{Script=Han}[\p{Pe}\p{Po}]*|[^\s\p{Script=Han}]+?(?:[-/](?=\P{N})|(?=[?&=\s\p{Script=Han}])|$)|\s/gu;
/** No character, so that every font prints its box. */
const unprintable = '\uffff';
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

export function createTypesetter(doc: PDFKit.PDFDocument): Typesetter {
  /** Of a text in points, at a size of one point. */
  const widths = new Map<string, number>();
  /** The library calls its fonts F1, F2, … in the order of their first use. */
  const fontIds = new Map<string, string>();

  function useFont(font: string): void {
    if (!fontIds.has(font)) {
      doc.registerFont(font, fontData(font));
      fontIds.set(font, `F${fontIds.size + 1}`);
    }
    doc.font(font);
  }

  function measured(run: FontRun): SetRun {
    useFont(run.font);
    return { ...run, unitWidth: doc.fontSize(1).widthOfString(run.text, layoutOf(run.text)) };
  }

  /** The shaping library fails on some sequences of marks that no language has: those are set one by one, or as boxes. */
  function shaped(run: FontRun): SetRun[] {
    try {
      return [measured(run)];
    } catch {
      const characters = Array.from(run.text);
      if (characters.length === 1) return [measured({ ...run, text: unprintable })];
      return characters.flatMap((text) => shaped({ ...run, text }));
    }
  }

  function widthOf(text: string, { sizePt, weight }: Style): number {
    const key = `${weight} ${text}`;
    const width = widths.get(key) ?? unitWidthOf(fontRuns(text, weight).flatMap(shaped));
    widths.set(key, width);
    return width * sizePt;
  }

  function wrap(text: string, style: Style, widthPt: number): Line[] {
    const paragraph = printable(text);
    const visualOrder = visualOrderOf(paragraph);
    const lines: Line[] = [];
    for (const [start, end] of lineBreaks(paragraph, style, widthPt)) {
      const runs = visualOrder(start, end).flatMap((run) => {
        const parts = fontRuns(run.text, style.weight);
        return (run.isRightToLeft ? parts.reverse().map(turned) : parts).flatMap(shaped);
      });
      lines.push({ runs, widthPt: unitWidthOf(runs) * style.sizePt });
    }
    return lines;
  }

  /** Where each line starts and ends, without the spaces at its end. A piece longer than a line is cut anywhere. */
  function lineBreaks(paragraph: string, style: Style, widthPt: number): [number, number][] {
    const breaks: [number, number][] = [];
    let [start, end, linePt] = [0, 0, 0];
    const flush = () => {
      const length = paragraph.slice(start, end).trimEnd().length;
      if (length > 0) breaks.push([start, start + length]);
    };
    const parts = (paragraph.match(pieces) ?? []).flatMap((piece) =>
      widthOf(piece, style) <= widthPt ? [piece] : graphemesOf(piece),
    );
    for (const part of parts) {
      const partPt = widthOf(part, style);
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

  function draw(line: Line, { sizePt, color }: Style, xPt: number, yPt: number): void {
    let runPt = xPt;
    for (const run of line.runs) {
      useFont(run.font);
      doc.fontSize(sizePt).fillColor(color);
      const isPlain = (run.font.startsWith('noto-sans-sc/') ? plainChinese : plainLatin).test(run.text);
      if (!isPlain) doc.markContent('Span', { actual: textAsSeen(run.text) });
      doc.text(run.text, runPt, yPt, { ...layoutOf(run.text), lineBreak: false, baseline: 'alphabetic' });
      if (!isPlain) endActualText(run.font, sizePt);
      runPt += run.unitWidth * sizePt;
    }
  }

  /** Readers place the text by the font and the coordinates in force where it ends, which printing took back. */
  function endActualText(font: string, sizePt: number): void {
    doc.save().transform(1, 0, 0, -1, 0, doc.page.height);
    doc.addContent(`/${fontIds.get(font)} ${sizePt} Tf`);
    doc.endMarkedContent();
    doc.restore();
  }

  return { wrap, draw };
}

function unitWidthOf(runs: readonly SetRun[]): number {
  return runs.reduce((sum, { unitWidth }) => sum + unitWidth, 0);
}

/**
 * The text that a run's glyphs stand for: their own number and order may be others, and some stand for parts of
 * letters. Readers of a page's content take it from left to right, as it is seen, and turn it themselves; the
 * order of reading is in the structure.
 */
function textAsSeen(text: string): string {
  return hasRightToLeft(text) ? Array.from(text).reverse().join('') : text;
}

/** Fonts turn what has right-to-left letters; brackets and the like on their own are turned here. */
function turned(run: FontRun): FontRun {
  return hasRightToLeft(run.text) ? run : { ...run, text: graphemesOf(run.text).reverse().join('') };
}

function graphemesOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
