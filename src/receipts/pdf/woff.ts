/** Unpacks WOFF 1.0 (W3C): given a WOFF file, the PDF library would inflate a table again for every glyph. */
import { inflateSync } from 'node:zlib';

const woffHeaderBytes = 44;
const woffEntryBytes = 20;
const fontHeaderBytes = 12;
const fontEntryBytes = 16;

/** Takes a whole WOFF file of the installed font packages, which are trusted to be well-formed. */
export function fontOfWoff(woff: Buffer): Buffer {
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
