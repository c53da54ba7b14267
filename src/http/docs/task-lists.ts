/** GitHub's task lists: items that begin with `[ ]` or `[x]` get a box that shows whether they are done. */
import type { MarkdownIt } from 'markdown-it';

/** Plug-in of markdown-it. */
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
