import { fontData, fontRuns } from '@ledger/pdf/fonts.ts';
import { isKept } from '@ledger/pdf/kept-fonts.ts';
import { printable } from '@ledger/pdf/printable.ts';
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
