/** Styles and scripts of the console: each file in or below views/console, under an address that names its content. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Answer, createAnswer, hashOf } from '../../docs/answer.ts';
import { themedStyle } from '../../server/design-tokens.ts';

export type ConsoleAssets = {
  /** By path. */
  answers: ReadonlyMap<string, Answer>;
  /** The path of a file, by its name. */
  urls: Readonly<Record<string, string>>;
};

const folder = new URL('../../../../views/console/', import.meta.url);

export function createConsoleAssets(): ConsoleAssets {
  const answers = new Map<string, Answer>();
  const urls: Record<string, string> = {};
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true });
  for (const file of files.filter((each) => /\.(css|js)$/.test(each))) {
    const name = basename(file);
    const isStyle = name.endsWith('.css');
    const source = readFileSync(new URL(file, folder), 'utf8');
    const text = isStyle ? themedStyle(source) : source;
    const path = `/console/assets/${name.replace('.', `.${hashOf(Buffer.from(text))}.`)}`;
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
    answers.set(path, createAnswer(isStyle ? 'text/css' : 'text/javascript', text, { headers }));
    urls[name] = path;
  }
  return { answers, urls };
}
