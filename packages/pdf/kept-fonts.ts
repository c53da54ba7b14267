/**
 * pdfkit reads a font anew for each document, and shapes the same words again: half of the CPU of a receipt (34 ms with,
 * 17 ms without). The fonts that most text is printed in stay open, with the shapes of their words.
 */
import { deflateSync } from 'node:zlib';
import { fontData } from './fonts.ts';

/** What pdfkit has of an object in a document, and of a font there; its types lack them. */
type ObjectOfDocument = {
  data: Record<string, unknown>;
  compress: boolean;
  write(bytes: Buffer): void;
  end(content?: Uint8Array | string): void;
};
type FontOfDocument = {
  document: { ref(data?: object): ObjectOfDocument };
  font: object;
  subset: { glyphs: readonly number[]; encode(): Uint8Array };
  layoutCache: object;
  encode(text: string): unknown;
  embed(): void;
};
/** `streams` are what documents embed of it, compressed: first its file, then the characters of its glyphs. */
type Kept = Pick<FontOfDocument, 'font' | 'layoutCache'> & { documents: number; streams: Buffer[] };

/** How many documents have the shapes of their words kept, some 60 KB each. */
const mostDocuments = 100;
const fonts = new Map<string, Kept>();

/** Embedded whether used or not, 6 KB in all: what nearly every document consists of, with its ligatures. */
const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
const alwaysEmbedded = `${ascii}· fi fl ff ffi ffl`;

/**
 * The Latin fonts have a glyph of its own for each character. Others print several with one glyph: the font library then
 * names the character that it saw first, which must not be one of another document.
 */
export const isKept = (font: string): boolean => font.startsWith('noto-sans/files/noto-sans-latin-');

/** Gives a font to a document, under its name, and makes it the current one. */
export function addFont(doc: PDFKit.PDFDocument, name: string): void {
  let kept = fonts.get(name);
  const source: unknown = kept?.font ?? fontData(name);
  doc.registerFont(name, source as Buffer).font(name);
  if (!isKept(name)) return;
  const ofDocument: FontOfDocument = Reflect.get(doc, '_font');
  if (!kept || kept.documents === mostDocuments) {
    const { font, layoutCache } = ofDocument;
    kept = { font, layoutCache, documents: 0, streams: kept?.streams ?? [] };
    fonts.set(name, kept);
  }
  kept.documents += 1;
  ofDocument.layoutCache = kept.layoutCache;
  if (name.startsWith('noto-sans/files/noto-sans-latin-ext-')) return;
  ofDocument.encode(alwaysEmbedded);
  embedOnce(ofDocument, kept.streams);
}

/** Embeds the same bytes again in a document that adds no glyph, which saves a fifth of its CPU. */
function embedOnce(ofDocument: FontOfDocument, streams: Buffer[]): void {
  const { document, subset } = ofDocument;
  const [embed, encode, glyphs] = [ofDocument.embed, subset.encode, subset.glyphs.length];
  let ended = 0;
  const ref = (data?: object) => {
    const object = document.ref(data);
    const { end } = object;
    object.end = (content) => {
      if (content !== undefined) {
        const compressed = streams[ended] ?? deflateSync(content);
        streams[ended++] = compressed;
        object.compress = false;
        object.data.Filter = 'FlateDecode';
        object.write(compressed);
      }
      end.call(object);
    };
    return object;
  };
  ofDocument.embed = () => {
    if (subset.glyphs.length === glyphs) {
      ofDocument.document = { ref };
      subset.encode = () => streams[0] ?? encode.call(subset);
    }
    embed.call(ofDocument);
  };
}
