/**
 * Which font prints which character. The Noto Sans packages come in subsets of a few hundred characters. Only those
 * that a text needs are read and embedded, which keeps receipts small.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import type { Weight } from './styles.ts';

export type FontRun = { text: string; font: string };

/** In order: a character is printed by the first font that has it. */
const packages: readonly { name: string; covers: (subset: string) => boolean }[] = [
  { name: 'noto-sans', covers: () => true },
  { name: 'noto-sans-tamil', covers: (subset) => subset === 'tamil' },
  { name: 'noto-sans-arabic', covers: (subset) => subset === 'arabic' },
  // Its numbered subsets hold the Chinese characters; the others would print Latin in another typeface.
  { name: 'noto-sans-sc', covers: (subset) => subset.startsWith('[') },
];

// In the range of the Latin subset, but missing from its font; the Chinese fonts have them.
const notInLatin = new Set(Array.from('―‖†‡‥‧‰‵※‼⁉⁏↑↓∕'));

const require = createRequire(import.meta.url);
const fonts = new Map<string, Buffer>();
let subsets: ReadonlyMap<number, string> | undefined;

/** The font with a name that `fontRuns` gave; read once. */
export function fontData(font: string): Buffer {
  const data = fonts.get(font) ?? fontOfWoff(readFileSync(require.resolve(`@fontsource/${font}.woff`)));
  fonts.set(font, data);
  return data;
}

/**
 * Splits a text where the font changes. A character that no font has goes to the Latin font, which prints a box.
 * Spaces and joiners (U+200C, U+200D) between two characters of one font stay in that font.
 */
export function fontRuns(text: string, weight: Weight): FontRun[] {
  // Nearly all text: to find the font of each character would be a tenth of a receipt's CPU.
  if (/^[ -~]+$/.test(text)) return [{ text, font: fontOf('A', weight) }];
  const runs: FontRun[] = [];
  const add = (part: string, font: string) => {
    const last = runs.at(-1);
    if (last?.font === font) last.text += part;
    else if (part !== '') runs.push({ text: part, font });
  };
  for (const [both, gap = '', character = ''] of text.matchAll(/([ \u200c\u200d]*)(.)/gsu)) {
    const font = fontOf(character, weight);
    if (runs.at(-1)?.font === font) {
      add(both, font);
    } else {
      add(gap, fontOf(' ', weight));
      add(character, font);
    }
  }
  return runs;
}

function fontOf(character: string, weight: Weight): string {
  subsets ??= readSubsets();
  const subset = subsets.get(character.codePointAt(0) ?? 0) ?? 'noto-sans/files/noto-sans-latin';
  return `${subset}-${weight}-normal`;
}

/** Code point → the first subset that has it, as a path without weight. */
function readSubsets(): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { name, covers } of packages) {
    const file = readFileSync(require.resolve(`@fontsource/${name}/unicode.json`), 'utf8');
    const ranges = Object.entries(JSON.parse(file) as Record<string, string>).reverse();
    for (const [subset, range] of ranges.filter(([subset]) => covers(subset))) {
      const path = `${name}/files/${name}-${subset.replace(/[[\]]/g, '')}`;
      for (const codePoint of codePointsOf(range)) {
        const isLacking = subset === 'latin' && notInLatin.has(String.fromCodePoint(codePoint));
        if (!found.has(codePoint) && !isLacking) found.set(codePoint, path);
      }
    }
  }
  return found;
}

/** `U+0131,U+0152-0153` → 0x131, 0x152, 0x153 */
function* codePointsOf(ranges: string): Iterable<number> {
  for (const range of ranges.split(',')) {
    const [first = 0, last = first] = range
      .slice(2)
      .split('-')
      .map((hex) => Number.parseInt(hex, 16));
    for (let codePoint = first; codePoint <= last; codePoint += 1) yield codePoint;
  }
}

const woffHeaderBytes = 44;
const woffEntryBytes = 20;
const fontHeaderBytes = 12;
const fontEntryBytes = 16;

/**
 * Unpacks WOFF 1.0 (W3C): given a WOFF file, the PDF library would inflate a table again for every glyph. Takes a whole
 * file of the installed font packages, which are trusted to be well-formed.
 */
function fontOfWoff(woff: Buffer): Buffer {
  const tables = woff.readUInt16BE(12);
  const font = Buffer.alloc(woff.readUInt32BE(16));
  woff.copy(font, 0, 4, 8);
  font.writeUInt16BE(tables, 4);
  let offset = fontHeaderBytes + tables * fontEntryBytes;
  for (let table = 0; table < tables; table += 1) {
    const entry = woffHeaderBytes + table * woffEntryBytes;
    const start = woff.readUInt32BE(entry + 4);
    const storedBytes = woff.readUInt32BE(entry + 8);
    const bytes = woff.readUInt32BE(entry + 12);
    const stored = woff.subarray(start, start + storedBytes);
    const target = fontHeaderBytes + table * fontEntryBytes;
    woff.copy(font, target, entry, entry + 4); // tag
    woff.copy(font, target + 4, entry + 16, entry + 20); // checksum
    font.writeUInt32BE(offset, target + 8);
    font.writeUInt32BE(bytes, target + 12);
    (storedBytes < bytes ? inflateSync(stored) : stored).copy(font, offset);
    // Tables start at multiples of four.
    offset += Math.ceil(bytes / 4) * 4;
  }
  return font;
}
