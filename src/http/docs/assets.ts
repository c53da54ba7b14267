/** Styles and scripts of the documentation: ours or from our packages, each under an address that names its content. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { switchableStyle } from '../server/design-tokens.ts';
import { type Answer, addImmutable } from '../server/static-files.ts';
import { highlightCss } from './code.ts';

export type Assets = {
  /** By path. */
  answers: ReadonlyMap<string, Answer>;
  urls: { style: string; script: string; diagram: string };
  /** Put into every page's head, so that a chosen theme is there before anything is painted. */
  themeScript: string;
};

const view = (name: string) => readFileSync(new URL(`../../../views/docs/${name}`, import.meta.url), 'utf8');

const themeScript = view('theme.js').trim();

/** What a page of the documentation may load, post to and be framed by. */
export const pagePolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(themeScript).digest('base64')}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Mermaid styles its drawings within: the frame that draws is the one page where that is allowed. */
const diagramPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

const mermaid = readFileSync(fileURLToPath(import.meta.resolve('@mermaid-js/tiny')));

/** After all content has been rendered, since the style holds the colours of its code. */
export function createAssets(): Assets {
  const answers = new Map<string, Answer>();
  const add = (name: string, type: string, content: string | Buffer, headers = {}) =>
    addImmutable(answers, `/docs/assets/${name}`, type, content, headers);
  const style = add('docs.css', 'text/css', switchableStyle(view('docs.css')) + highlightCss());
  const script = add('docs.js', 'text/javascript', view('docs.js'));
  const drawing = [
    add('mermaid.js', 'text/javascript', mermaid),
    add('diagram.js', 'text/javascript', view('diagram.js')),
  ];
  const scripts = drawing.map((path) => `<script defer src="${path}"></script>`).join('');
  const diagram = add(
    'diagram.html',
    'text/html',
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Diagram</title>${scripts}<main></main></html>`,
    { 'Content-Security-Policy': diagramPolicy, 'X-Frame-Options': 'SAMEORIGIN' },
  );
  return { answers, urls: { style, script, diagram }, themeScript };
}
