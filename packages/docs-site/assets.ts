/** Styles and scripts of the documentation, each under an address that contains its hash. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Answer, addImmutable } from '@ledger/web/answers.ts';
import { contentPolicy, sourceHash } from '@ledger/web/content-policy.ts';
import { baseStyle, switchableStyle } from '@ledger/web/design-tokens.ts';

export const viewsFolder = fileURLToPath(new URL('views/', import.meta.url));
/** Apart from the pages, so that no page can be rendered without escaping. */
export const textFolder = `${viewsFolder}text/`;

export const view = (name: string) => readFileSync(`${viewsFolder}${name}`, 'utf8');

/** Goes into the head of every page, so that the chosen theme applies before the first paint. */
export const themeScript = view('theme.js').trim();

/** What a page may load, post to and be framed by; `scripts` are inline, beside that of the theme. */
export const policyWith = (scripts: readonly string[]) =>
  contentPolicy({
    'script-src': ["'self'", ...[themeScript, ...scripts].map(sourceHash)].join(' '),
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'frame-src': "'self'",
    'form-action': "'self'",
  });

/** Mermaid adds styles to its drawings: only the frame that draws them allows this. */
const diagramPolicy = contentPolicy({
  'script-src': "'self'",
  'style-src': "'unsafe-inline'",
  'frame-ancestors': "'self'",
});

const mermaid = readFileSync(fileURLToPath(import.meta.resolve('@mermaid-js/tiny')));

/** Adds the files to `answers` and returns their paths. */
export function addAssets(answers: Map<string, Answer>) {
  const add = (name: string, type: string, content: string | Buffer, headers = {}) =>
    addImmutable(answers, `/docs/assets/${name}`, type, content, headers);
  const drawing = [
    add('mermaid.js', 'text/javascript', mermaid),
    add('diagram.js', 'text/javascript', view('diagram.js')),
  ];
  const scripts = drawing.map((path) => `<script defer src="${path}"></script>`).join('');
  return {
    style: add('docs.css', 'text/css', switchableStyle(baseStyle + view('docs.css'))),
    script: add('docs.js', 'text/javascript', view('docs.js')),
    diagram: add(
      'diagram.html',
      'text/html',
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Diagram</title>${scripts}<main></main></html>`,
      { 'Content-Security-Policy': diagramPolicy, 'X-Frame-Options': 'SAMEORIGIN' },
    ),
  };
}
