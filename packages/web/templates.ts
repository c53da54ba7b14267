/** Nunjucks templates. None is made of what somebody else has written: all are files of the program. */
import nunjucks from 'nunjucks';

/** A text that templates do not escape. */
export const { SafeString } = nunjucks.runtime;

/** A text as templates show it. (The types of nunjucks lack it.) */
export const escapeHtml = (nunjucks.lib as unknown as { escape(text: string): string }).escape;

/** The templates of a folder: compiled once, strict about missing values, and escaped unless they make no HTML. */
export function createTemplates(folder: string, { autoescape = true } = {}): nunjucks.Environment {
  return new nunjucks.Environment(new nunjucks.FileSystemLoader(folder), {
    autoescape,
    throwOnUndefined: true,
    trimBlocks: true,
    lstripBlocks: true,
  });
}
