/** Plug-ins of markdown-it for two of GitHub's extensions: callouts and task lists. */
import type { MarkdownIt, Token } from 'markdown-it';

/** By kind: stroked paths on a 20 × 20 grid. They are decorative: the kind is printed next to them. */
const icons: Readonly<Record<string, string>> = {
  note: '<circle cx="10" cy="10" r="8"/><path d="M10 9v5m0-8v.1"/>',
  tip: '<path d="M7 14.5c-5-4-2-12 3-12s8 8 3 12zM7.5 17.5h5"/>',
  important: '<path d="M2.5 3.5h15v10.5h-6l-4 3.5v-3.5h-5zM10 6v3.5m0 1.9v.1"/>',
  warning: '<path d="M10 2.5 18.5 17h-17zM10 8v4m0 2.4v.1"/>',
  caution: '<path d="M6.5 2h7L18 6.5v7L13.5 18h-7L2 13.5v-7zM10 6v5m0 2.9v.1"/>',
};

/** A callout is a quotation whose first line is `[!NOTE]` or another of the words above, and nothing else. */
export function callouts(md: MarkdownIt): void {
  md.core.ruler.push('callouts', ({ tokens }) => {
    tokens.forEach((token, index) => {
      if (token.type === 'blockquote_open') markCallout(tokens, index);
    });
  });
  md.renderer.rules.blockquote_open = (tokens, index) => {
    const kind: unknown = tokens[index]?.meta?.callout;
    if (typeof kind !== 'string') return '<blockquote>\n';
    const icon = `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">${icons[kind]}</svg>`;
    const name = kind.charAt(0).toUpperCase() + kind.slice(1);
    return `<div class="callout ${kind}" role="note" aria-label="${name}">\n<p class="callout-name">${icon} ${name}</p>\n`;
  };
  md.renderer.rules.blockquote_close = (tokens, index) =>
    tokens[index]?.meta?.callout ? '</div>\n' : '</blockquote>\n';
}

/** If the quotation that opens at `index` is a callout, marks its two ends and removes the `[!NOTE]` from its text. */
function markCallout(tokens: Token[], index: number): void {
  const [open, paragraph, inline, paragraphEnd] = tokens.slice(index, index + 4);
  if (!open || paragraph?.type !== 'paragraph_open' || !inline?.children || !paragraphEnd) return;
  const [marker, lineBreak, ...rest] = inline.children;
  const kind =
    /^\[!(\w+)\]\s*$/.exec(marker?.type === 'text' ? marker.content : '')?.[1]?.toLowerCase() ?? '';
  if (!Object.hasOwn(icons, kind)) return;
  if (lineBreak && lineBreak.type !== 'softbreak' && lineBreak.type !== 'hardbreak') return;
  const close = tokens.find(
    (token, at) => at > index && token.type === 'blockquote_close' && token.level === open.level,
  );
  if (!close) return;
  open.meta = { callout: kind };
  close.meta = { callout: kind };
  inline.children = rest;
  if (rest.length === 0) {
    paragraph.hidden = true;
    paragraphEnd.hidden = true;
  }
}

/** An item that begins with `[ ]` or `[x]` gets a checkbox that shows whether it is done. */
export function taskLists(md: MarkdownIt): void {
  md.core.ruler.push('task_lists', ({ tokens }) => {
    tokens.forEach((item, index) => {
      const inline = tokens[index + 2];
      const first = inline?.children?.[0];
      if (item.type !== 'list_item_open' || inline?.type !== 'inline' || first?.type !== 'text') return;
      const done = /^\[([ xX])\]\s+/.exec(first.content);
      if (!done) return;
      first.content = first.content.slice(done[0].length);
      item.attrSet('class', 'task');
      item.meta = { done: done[1] !== ' ' };
    });
  });
  md.renderer.rules.list_item_open = (tokens, index, options, _env, self) => {
    const open = self.renderToken(tokens, index, options);
    const done: unknown = tokens[index]?.meta?.done;
    if (typeof done !== 'boolean') return open;
    const state = done ? 'checked aria-label="done"' : 'aria-label="to do"';
    return `${open}<input type="checkbox" disabled ${state}> `;
  };
}
