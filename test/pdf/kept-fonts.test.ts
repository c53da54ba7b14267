import { buffer } from 'node:stream/consumers';
import { drawText } from '@ledger/pdf/blocks.ts';
import { fontData, fontRuns } from '@ledger/pdf/fonts.ts';
import { isKept } from '@ledger/pdf/kept-fonts.ts';
import { printable } from '@ledger/pdf/printable.ts';
import { createSheet } from '@ledger/pdf/sheet.ts';
import { styles } from '@ledger/pdf/styles.ts';
import test from 'ava';
import PDFDocument from 'pdfkit';

type OpenFont = { characterSet: number[]; glyphForCodePoint(code: number): { id: number } };

const openFont = (name: string): OpenFont =>
  Reflect.get(new PDFDocument({ font: '' }).font(fontData(name)), '_font').font;

test('in a font that is kept, no two printable characters share a glyph', (t) => {
  for (const weight of [400, 700] as const)
    for (const { font: name } of fontRuns('Aā', weight)) {
      t.true(isKept(name), name);
      const font = openFont(name);
      const characters = font.characterSet.map((code) => String.fromCodePoint(code));
      const shown = characters.filter((each) => each === ' ' || printable(each) === each);
      const glyphs = new Set(shown.map((each) => font.glyphForCodePoint(each.codePointAt(0) ?? 0).id));
      t.true(shown.length > 90);
      t.is(glyphs.size, shown.length, name);
    }
});

test('a font with several characters to a glyph is read for each document', (t) => {
  for (const { font } of fontRuns('محمد陈முருக', 400)) t.false(isKept(font), font);
});

/** The bytes of the fonts in a document that says `text`. */
async function fontsOf(text: string): Promise<(string | undefined)[]> {
  const sheet = createSheet('en', 'Test', new Date(0));
  drawText(sheet, sheet.root, 'P', text, styles.text);
  sheet.doc.end();
  const pdf = (await buffer(sheet.doc)).toString('latin1');
  const streamOf = (id: string) =>
    new RegExp(`^${id} 0 obj\\n.*?\\nstream\\n(.*?)\\nendstream`, 'ms').exec(pdf)?.[1];
  return Array.from(pdf.matchAll(/FontFile2 (\d+) 0 R/g), ([, id = '']) => streamOf(id));
}

test('documents without accents embed the same font, and others one that has their letters', async (t) => {
  const [plain] = await fontsOf('Official receipt');
  t.true((plain?.length ?? 0) > 5_000);
  t.deepEqual(await fontsOf('RM 1,234.50: Aminah · {x}'), [plain]);
  const [accented] = await fontsOf('Café');
  t.true((accented?.length ?? 0) > (plain?.length ?? 0));
  t.deepEqual(await fontsOf('Official receipt'), [plain]);
});
