/**
 * pdfkit reads a font anew for each document, and shapes the same words again: half of the CPU of a receipt (34 ms with,
 * 17 ms without). The fonts that most text is printed in stay open, with the shapes of their words.
 */

/** What pdfkit has of a font in a document; its types lack it. */
type FontOfDocument = { font: { createSubset(): object }; subset: object; layoutCache: object };
type Kept = Pick<FontOfDocument, 'font' | 'layoutCache'> & { documents: number };

/** The shapes of the words of so many documents are kept together, some 60 KB each. */
const mostDocuments = 100;
const fonts = new Map<string, Kept>();

/**
 * The Latin fonts have a glyph of its own for each character. Others print several with one glyph: the font library then
 * names the character that it saw first, which must not be one of another document.
 */
export const isKept = (font: string): boolean => font.startsWith('noto-sans/files/noto-sans-latin-');

/** Puts the open font in the place of the one that a document has just read; the first one stays open. */
export function useKept(name: string, ofDocument: FontOfDocument): void {
  let kept = fonts.get(name);
  if (!kept || kept.documents === mostDocuments) {
    const font = kept?.font ?? ofDocument.font;
    kept = { font, layoutCache: ofDocument.layoutCache, documents: 0 };
    fonts.set(name, kept);
  }
  kept.documents += 1;
  ofDocument.font = kept.font;
  ofDocument.subset = kept.font.createSubset();
  ofDocument.layoutCache = kept.layoutCache;
}
