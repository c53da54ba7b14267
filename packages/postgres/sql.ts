/** Statements that are files, because they are long. */
import { readFileSync } from 'node:fs';
import { format } from '@ledger/kernel/format.ts';

type SqlOf = (name: string, values?: Readonly<Record<string, string | number>>) => string;

/**
 * Reads the statements of a folder, each once. One is given without its comments, and with its placeholders filled:
 * `{table}` becomes the value of `table`.
 */
export function sqlIn(folder: URL): SqlOf {
  const sources = new Map<string, string>();
  return (name, values = {}) => {
    const source =
      sources.get(name) ??
      readFileSync(new URL(`${name}.sql`, folder), 'utf8')
        .replace(/^\s*--.*\n/gm, '')
        .trim();
    sources.set(name, source);
    return format(source, values);
  };
}
