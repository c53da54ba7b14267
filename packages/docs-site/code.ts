/** Highlights code blocks by classes, whose colours are in docs.css: the Content-Security-Policy forbids inline styles. */
import { escapeHtml } from '@ledger/web/templates.ts';
import highlighter from 'highlight.js/lib/common';
import http from 'highlight.js/lib/languages/http';

highlighter.registerLanguage('http', http);

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
    // The reader's browser replaces the source with the drawing (views/diagram.js).
    return `<figure class="diagram"><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></figure>\n`;
  const html = highlighter.getLanguage(language)
    ? highlighter.highlight(code, { language }).value
    : escapeHtml(code);
  const ranges = rangesOf(meta);
  const isHighlighted = (line: number) => ranges.some(([from, to]) => line >= from && line <= to);
  const lines = linesOf(html).map((line, index) =>
    isHighlighted(index + 1) ? `<span class="highlighted">${line}</span>` : line,
  );
  const caption = title === undefined ? '' : `<figcaption>${escapeHtml(title)}</figcaption>`;
  const pre = `<pre tabindex="0"><code>${lines.join('\n')}</code></pre>`;
  return `<figure class="code">${caption}${pre}</figure>\n`;
}

/** The ranges of `{1,3-5}`: from 1 to 1, and from 3 to 5. */
function rangesOf(meta: string): [from: number, to: number][] {
  const [, list = ''] = /\{([\d,-]+)\}/.exec(meta) ?? [];
  return Array.from(list.matchAll(/(\d+)(?:-(\d+))?/g), ([, from, to = from]) => [Number(from), Number(to)]);
}

/** Lines whose `span` elements end where they end, so that each line can have an element of its own. */
function linesOf(html: string): string[] {
  const open: string[] = [];
  return html.split('\n').map((line) => {
    const reopened = open.join('');
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g))
      if (tag === '</span>') open.pop();
      else open.push(tag);
    return `${reopened}${line}${'</span>'.repeat(open.length)}`;
  });
}
