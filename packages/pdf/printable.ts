/**
 * The printable part of a text: without control characters and without characters that are invisible or change the
 * direction (U+202E and the like), with single spaces and composed letters, and with at most the marks on a letter that
 * languages use, because more would be printed over other lines.
 */
export function printable(text: string): string {
  return (
    text
      .toWellFormed()
      .normalize('NFC')
      .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
      .replace(/[\u2010-\u2012]/g, '-')
      // Joiners shape the letters of these scripts, and are invisible elsewhere.
      .replace(/(?<![\p{Script=Arabic}\p{Script=Tamil}\p{Script=Devanagari}])[\u200c\u200d]+/gu, '')
      .replace(/[\p{Default_Ignorable_Code_Point}--[\u200c\u200d]]/gv, '')
      .replace(/(\p{M}{4})\p{M}+/gu, '$1')
      .trim()
  );
}
