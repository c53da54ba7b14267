/** The only importer of nunjucks. No template is made of what somebody else has written: all are files of views/. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import nunjucks from 'nunjucks';

/** A text that templates do not escape. */
export const { SafeString } = nunjucks.runtime;

/** A text as templates show it. (The types of nunjucks lack it.) */
export const escapeHtml = (nunjucks.lib as unknown as { escape(text: string): string }).escape;

const views = fileURLToPath(new URL('../../views/', import.meta.url));

/** The templates of a folder of views/, such as `email`: escaped, compiled once, and strict about missing values. */
export function createTemplates(folder = ''): nunjucks.Environment {
  return new nunjucks.Environment(new nunjucks.FileSystemLoader(resolve(views, folder)), {
    autoescape: true,
    throwOnUndefined: true,
    trimBlocks: true,
    lstripBlocks: true,
  });
}
