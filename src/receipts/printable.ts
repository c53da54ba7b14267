/**
 * What of a text can be printed, on paper or in a mail: no control characters, nothing that is invisible or turns
 * the direction of what follows (U+202E and the like), one space where there were several, composed letters, and
 * no more marks on a letter than languages use, because stacked ones would be printed over other lines.
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
