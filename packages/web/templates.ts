/** Nunjucks templates. None is made of what somebody else has written: all are files of the program. */
import nunjucks from 'nunjucks';

/** A text that templates do not escape. */
export const { SafeString } = nunjucks.runtime;

/** A text as templates show it. (The types of nunjucks lack it.) */
export const escapeHtml = (nunjucks.lib as unknown as { escape(text: string): string }).escape;

const strict = { throwOnUndefined: true, trimBlocks: true, lstripBlocks: true };

/** The templates of a folder: escaped, compiled once, and strict about missing values. */
export function createTemplates(folder: string): nunjucks.Environment {
  return new nunjucks.Environment(new nunjucks.FileSystemLoader(folder), { autoescape: true, ...strict });
}

/** The templates of a folder that holds only what makes plain text or Markdown, in which nothing is escaped. */
export function createTextTemplates(folder: string): nunjucks.Environment {
  return new nunjucks.Environment(new nunjucks.FileSystemLoader(folder), { autoescape: false, ...strict });
}
