/**
 * The rows of a CSV file as it streams in. A row that cannot be read is reported with its line, and reading continues with
 * the next line, so that one stray quote costs a row and not the rest of the file.
 */
import { parse } from 'csv-parse/sync';
import { orElse } from './or-else.ts';

export type BadRow = { line: number; fault: string };
export type CsvRow = { line: number; cells: readonly string[] } | (BadRow & { text: string });

/** In characters and lines. A row of an export has a few hundred characters in one line. */
const maxRowLength = 16_384;
const maxLinesOfRow = 10;

type Line = { line: number; text: string | null };

/**
 * UTF-8 (invalid bytes become U+FFFD), with or without a byte order mark; lines end with LF or CRLF, or all with CR; commas
 * separate cells, or semicolons where the first row has more of them. Blank lines are skipped. Lines count from 1.
 */
export async function* readCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow, void, void> {
  const lines = readLines(bytes);
  const ahead: (Line | undefined)[] = [];
  const lineAt = async (index: number): Promise<Line | undefined> => {
    while (ahead.length <= index) ahead.push((await lines.next()).value);
    return ahead[index];
  };

  let delimiter = '';
  for (let first = await lineAt(0); first; first = await lineAt(0)) {
    const { line, text } = first;
    delimiter ||= delimiterOf(text ?? '');
    const whole = await wholeRow(lineAt);
    const cells = whole === null ? null : parseRow(whole, delimiter);
    ahead.splice(0, whole === null || cells === null ? 1 : occurrences(whole, '\n') + 1);
    if (cells && cells.length > 0) yield { line, cells };
    if (!cells) yield { line, fault: 'has quotes that do not match, or is too long', text: text ?? '' };
  }
}

/** The text of the row that begins at the next line; quoted cells may have line breaks. Null when it does not end. */
async function wholeRow(lineAt: (index: number) => Promise<Line | undefined>): Promise<string | null> {
  let text = '';
  for (let index = 0; index < maxLinesOfRow; index += 1) {
    const next = await lineAt(index);
    if (!next || next.text === null) return null;
    text = index === 0 ? next.text : `${text}\n${next.text}`;
    if (text.length > maxRowLength) return null;
    if (occurrences(text, '"') % 2 === 0) return text;
  }
  return null;
}

/** No cells for a blank line, null for text that is not a row. */
function parseRow(text: string, delimiter: string): readonly string[] | null {
  if (!text.includes('"')) return text.trim() === '' ? [] : text.split(delimiter);
  // Only quoted cells have line breaks, so it is one row.
  return orElse(() => parse(text, { delimiter, record_delimiter: '\n' })[0] ?? null, null);
}

/** A line that is too long has no text, so that it takes no memory. */
async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Line, undefined> {
  const decoder = new TextDecoder();
  let line = 1;
  let pending: string | null = '';
  /** How the first line ends. After it, a CR may be part of a cell. */
  let lineEnd: string | undefined;
  const lineOf = (text: string | null): Line => ({ line, text: text?.replace(/\r$/, '') ?? null });
  for await (const chunk of bytes) {
    let text = decoder.decode(chunk, { stream: true });
    if (lineEnd === undefined) {
      if (pending !== null) text = pending + text;
      pending &&= '';
      lineEnd = /^(?:[^"\r\n]|"[^"]*"|\r(?![^\r\n]))*(\n|\r(?=[^\r\n]))/.exec(text)?.[1];
    }
    for (const [index, piece] of text.split(lineEnd ?? '\n').entries()) {
      if (index > 0) {
        yield lineOf(pending);
        line += 1;
        pending = '';
      }
      pending = pending === null || pending.length + piece.length > maxRowLength ? null : pending + piece;
    }
  }
  yield lineOf(pending);
}

/** `''` for a blank line: the first line that is not blank decides. */
function delimiterOf(header: string): string {
  if (header.trim() === '') return '';
  return occurrences(header, ';') > occurrences(header, ',') ? ';' : ',';
}

const occurrences = (text: string, character: string) => text.split(character).length - 1;
