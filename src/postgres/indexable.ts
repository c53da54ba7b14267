/**
 * A text from outside as a column can hold and index it: at most 200 characters, U+FFFD for what Postgres has no
 * text for. Only the columns are cut and mended like this; the state keeps what was said.
 */
export function indexable(text: string): string {
  return text.slice(0, 200).toWellFormed().replaceAll('\0', '\ufffd');
}
