/** Highlights code blocks in both themes at once, by classes: the Content-Security-Policy forbids inline styles. */
import { transformerMetaHighlight, transformerStyleToClass } from '@shikijs/transformers';
import { createHighlighterCoreSync } from 'shiki/core';
import { createOnigurumaEngine } from 'shiki/engine/oniguruma';
import diff from 'shiki/langs/diff.mjs';
import html from 'shiki/langs/html.mjs';
import http from 'shiki/langs/http.mjs';
import ini from 'shiki/langs/ini.mjs';
import javascript from 'shiki/langs/javascript.mjs';
import json from 'shiki/langs/json.mjs';
import php from 'shiki/langs/php.mjs';
import python from 'shiki/langs/python.mjs';
import shell from 'shiki/langs/shellscript.mjs';
import sql from 'shiki/langs/sql.mjs';
import typescript from 'shiki/langs/typescript.mjs';
import yaml from 'shiki/langs/yaml.mjs';
import dark from 'shiki/themes/github-dark-high-contrast.mjs';
import light from 'shiki/themes/github-light-high-contrast.mjs';
import { escapeHtml } from './markdown.ts';

const highlighter = createHighlighterCoreSync({
  langs: [diff, html, http, ini, javascript, json, php, python, shell, sql, typescript, yaml],
  themes: [light, dark],
  // Starts three times as fast as shiki's engine for JavaScript regular expressions.
  engine: await createOnigurumaEngine(import('shiki/wasm')),
});
const known = new Set(highlighter.getLoadedLanguages());
const classes = transformerStyleToClass({ classPrefix: 'c' });

/** The CSS rules for every block that has been highlighted so far. */
export const highlightCss = (): string => classes.getCSS();

/**
 * A fenced block as HTML. `info` is what follows the fence: a language, `title="…"`, and `{1,3-5}` for highlighted
 * lines. The text of the `code` element is exactly `source`; the copy button relies on this.
 */
export function codeBlock(info: string, source: string): string {
  const title = /\btitle="([^"]*)"/.exec(info)?.[1];
  const meta = info.replace(/\btitle="[^"]*"/, '');
  const [language = ''] = meta.trim().split(/\s/, 1);
  const code = source.replace(/\n$/, '');
  if (language === 'mermaid')
    // The reader's browser replaces the source with the drawing (views/docs/diagram.js).
    return `<figure class="diagram"><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></figure>\n`;
  const pre = highlighter.codeToHtml(code, {
    lang: known.has(language) ? language : 'text',
    themes: { light: light.name ?? '', dark: dark.name ?? '' },
    defaultColor: false,
    meta: { __raw: meta },
    transformers: [transformerMetaHighlight(), classes],
  });
  const caption = title === undefined ? '' : `<figcaption>${escapeHtml(title)}</figcaption>`;
  return `<figure class="code">${caption}${pre}</figure>\n`;
}
