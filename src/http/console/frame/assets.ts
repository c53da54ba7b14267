/** The console's styles and scripts: every .css and .js file below views/console, under an address with its hash. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Answer, addImmutable } from '@ledger/web/answers.ts';
import { baseStyle, themedStyle } from '@ledger/web/design-tokens.ts';

const folder = new URL('../../../../views/console/', import.meta.url);

/** The answers by path, and the paths by file name. */
export function createConsoleAssets() {
  const answers = new Map<string, Answer>();
  const urls: Record<string, string> = {};
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true });
  for (const file of files.filter((each) => /\.(css|js)$/.test(each))) {
    const name = basename(file);
    const isStyle = name.endsWith('.css');
    const own = readFileSync(new URL(file, folder), 'utf8');
    // layout.njk has this one on every page.
    const source = name === 'console.css' ? baseStyle + own : own;
    const text = isStyle ? themedStyle(source) : source;
    const type = isStyle ? 'text/css' : 'text/javascript';
    urls[name] = addImmutable(answers, `/console/assets/${name}`, type, text);
  }
  return { answers, urls };
}
