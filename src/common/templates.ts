/** The templates of views/. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemplates as createTemplatesIn, createTextTemplates } from '@ledger/web/templates.ts';
import { toIsoWithOffset } from './malaysian-time.ts';
import { displaySen } from './money.ts';

const views = fileURLToPath(new URL('../../views/', import.meta.url));
const textFolder = resolve(views, 'text');

/** The templates of a folder of views/, such as `email`. */
export const createTemplates = (folder = '') => createTemplatesIn(resolve(views, folder));

const texts = createTextTemplates(textFolder);
texts.addFilter('time', toIsoWithOffset);
texts.addFilter('money', displaySen);
texts.addFilter('thousands', (count: number) => count.toLocaleString('en'));
texts.addFilter('pad', (text: string, width: number) => text.padEnd(width));
texts.addFilter('padStart', (text: string, width: number) => text.padStart(width));
/** The first of two columns in the help; what is too long for it has a line of its own. */
texts.addFilter('column', (text: string) =>
  text.length < 28 ? text.padEnd(28) : `${text}\n${' '.repeat(30)}`,
);

/** Plain text or Markdown by a template of views/text, such as `status.txt`; without the last line end. */
export const renderText = (name: string, model: object): string =>
  texts.render(`${name}.njk`, model).replace(/\n$/, '');
