/** Highlights code blocks in both themes at once, by classes: the Content-Security-Policy forbids inline styles. */
import { transformerMetaHighlight, transformerStyleToClass } from '@shikijs/transformers';
import { createHighlighter } from 'shiki';
import { escapeHtml } from './markdown.ts';

const themes = { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' };
const highlighter = await createHighlighter({
  langs: 'diff html http ini java javascript json php python shellscript sql typescript yaml'.split(' '),
  themes: Object.values(themes),
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
  const key = `${info}\n${source}`;
  const block = kept.get(key) ?? drawn(info, source);
  kept.set(key, block);
  return block;
}

/** Highlighting takes most of the time of rendering, and most blocks stay as they are when a file changes. */
const kept = new Map<string, string>();

function drawn(info: string, source: string): string {
  const title = /\btitle="([^"]*)"/.exec(info)?.[1];
  const meta = info.replace(/\btitle="[^"]*"/, '');
  const [language = ''] = meta.trim().split(/\s/, 1);
  const code = source.replace(/\n$/, '');
  if (language === 'mermaid')
    // The reader's browser replaces the source with the drawing (views/diagram.js).
    return `<figure class="diagram"><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></figure>\n`;
  const pre = highlighter.codeToHtml(code, {
    lang: known.has(language) ? language : 'text',
    themes,
    defaultColor: false,
    meta: { __raw: meta },
    transformers: [transformerMetaHighlight(), classes],
  });
  const caption = title === undefined ? '' : `<figcaption>${escapeHtml(title)}</figcaption>`;
  return `<figure class="code">${caption}${pre}</figure>\n`;
}
