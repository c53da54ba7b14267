/**
 * A text from outside in a form that a column can hold and index: at most 200 characters, with U+FFFD for what a text of
 * Postgres cannot contain. Only columns are changed like this; the state keeps the original.
 */
export function indexable(text: string): string {
  return text.slice(0, 200).toWellFormed().replaceAll('\0', '\ufffd');
}
