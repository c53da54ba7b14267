/** Nunjucks templates. None is made of what somebody else has written: all are files of the program. */
import nunjucks from 'nunjucks';

/** A text that templates do not escape. */
export const { SafeString } = nunjucks.runtime;

/** A text as templates show it. (The types of nunjucks lack it.) */
export const escapeHtml = (nunjucks.lib as unknown as { escape(text: string): string }).escape;

/** The templates of a folder: escaped, compiled once, and strict about missing values. */
export function createTemplates(folder: string): nunjucks.Environment {
  return new nunjucks.Environment(new nunjucks.FileSystemLoader(folder), {
    autoescape: true,
    throwOnUndefined: true,
    trimBlocks: true,
    lstripBlocks: true,
  });
}
