/** Statements that are files of content/sql, because they are long. */
import { readFileSync } from 'node:fs';
import { format } from '../kernel/format.ts';

/** By name; each is read once. */
const sources = new Map<string, string>();

/** The statement of a file, without its comments, and with its placeholders filled: `{table}` becomes the value of `table`. */
export function sqlOf(name: string, values: Readonly<Record<string, string | number>> = {}): string {
  const file = new URL(`../../content/sql/${name}.sql`, import.meta.url);
  const source =
    sources.get(name) ??
    readFileSync(file, 'utf8')
      .replace(/^\s*--.*\n/gm, '')
      .trim();
  sources.set(name, source);
  return format(source, values);
}
