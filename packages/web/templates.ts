/** Nunjucks templates. None is made of what somebody else has written: all are files of the program. */
import nunjucks from 'nunjucks';

/** A text that templates do not escape. */
export const { SafeString } = nunjucks.runtime;

/** A text as templates show it. (The types of nunjucks lack it.) */
export const escapeHtml = (nunjucks.lib as unknown as { escape(text: string): string }).escape;

const options = { autoescape: true, throwOnUndefined: true, trimBlocks: true, lstripBlocks: true };

/** The types of nunjucks lack these, too. */
const { compiler } = nunjucks as unknown as {
  compiler: { compile(text: string, filters: [], extensions: [], path: string, opts: object): string };
};

/** Functions that nunjucks made of templates, by path and text: what has an environment for each language makes them once. */
const made = new Map<string, object>();

function functionsOf(path: string, text: string): object {
  const key = `${path}\n${text}`;
  const functions = made.get(key) ?? new Function(compiler.compile(text, [], [], path, options))();
  made.set(key, functions);
  return functions;
}

/** The templates of a folder: escaped, compiled once, and strict about missing values. */
export function createTemplates(folder: string): nunjucks.Environment {
  const loader = new nunjucks.FileSystemLoader(folder);
  const read = loader.getSource.bind(loader);
  loader.getSource = (name) => {
    const found = read(name);
    // Null if there is none of this name.
    return found && Object.assign(found, { src: { type: 'code', obj: functionsOf(found.path, found.src) } });
  };
  return new nunjucks.Environment(loader, options);
}
