/** Nunjucks templates. None is made of what somebody else has written: all are files of the program. */
import nunjucks from 'nunjucks';

/** A text that templates do not escape. */
export const { SafeString } = nunjucks.runtime;

/** A text as templates show it. (The types of nunjucks lack it.) */
export const escapeHtml = (nunjucks.lib as unknown as { escape(text: string): string }).escape;

/** The types of nunjucks lack these, too. */
const { compiler } = nunjucks as unknown as {
  compiler: { compile(text: string, filters: [], extensions: [], path: string, options: object): string };
};

const strict = { throwOnUndefined: true, trimBlocks: true, lstripBlocks: true };

/** What was compiled, by path and text: the environments of several languages share it. */
const compiled = new Map<string, object>();

function compile(path: string, text: string): object {
  const key = JSON.stringify([path, text]);
  const found = compiled.get(key) ?? new Function(compiler.compile(text, [], [], path, strict))();
  compiled.set(key, found);
  return found;
}

/** The templates of a folder: escaped, compiled once, and strict about missing values. */
export function createTemplates(folder: string): nunjucks.Environment {
  const loader = new nunjucks.FileSystemLoader(folder);
  const read = loader.getSource.bind(loader);
  loader.getSource = (name) => {
    const source = read(name);
    // Null if there is none of this name.
    return source && Object.assign(source, { src: { type: 'code', obj: compile(source.path, source.src) } });
  };
  return new nunjucks.Environment(loader, { autoescape: true, ...strict });
}

/** The templates of a folder that holds only what makes plain text or Markdown, in which nothing is escaped. */
export function createTextTemplates(folder: string): nunjucks.Environment {
  return new nunjucks.Environment(new nunjucks.FileSystemLoader(folder), { autoescape: false, ...strict });
}
