/** Turns markdown, as GitHub understands it, into HTML, and cuts its text into sections for the contents and the search. */
import { posix } from 'node:path';
import { escapeHtml } from '@ledger/web/templates.ts';
import GithubSlugger, { slug } from 'github-slugger';
import MarkdownIt, { type Token } from 'markdown-it';
import { codeBlock } from './code.ts';
import { callouts, taskLists } from './github-markdown.ts';

/** A heading, and the text and code below it. The text before the first heading has level 0, no `id` and no `heading`. */
export type Section = { id: string; heading: string; level: number; text: string; code: string };

/** HTML in the source stays text, because `html` is off. markdown-it never makes links of `javascript:` addresses. */
const md = new MarkdownIt({ html: false, linkify: true });
// Otherwise `running.md` would become a link to a host in Moldova.
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
md.use(callouts).use(taskLists);

md.renderer.rules.fence = md.renderer.rules.code_block = (tokens, index) =>
  codeBlock(tokens[index]?.info ?? '', tokens[index]?.content ?? '');
md.renderer.rules.table_open = () =>
  '<div class="table" role="group" aria-label="Table" tabindex="0">\n<table>\n';
md.renderer.rules.table_close = () => '</table>\n</div>\n';
md.renderer.rules.heading_open = (tokens, index, options, _env, self) =>
  `<div class="heading">${self.renderToken(tokens, index, options)}`;
md.renderer.rules.heading_close = (tokens, index, options, _env, self) => {
  const id = String(tokens[index - 2]?.attrGet('id'));
  const text = plainText(tokens[index - 1]);
  const name = `<span class="unseen">Link to “${escapeHtml(text)}”</span>`;
  const anchor = `<a class="anchor" href="#${escapeHtml(id)}"><span aria-hidden="true">#</span>${name}</a>`;
  return `${self.renderToken(tokens, index, options).trimEnd()}${anchor}</div>\n`;
};

/**
 * Parses the content of `file`. A first-level heading at the beginning is left out, because pages show their title
 * themselves. Links to other content files lead to their pages, given by `urls` (file → URL). Links to other files
 * become plain text.
 */
export function parseMarkdown(
  { file, markdown }: { file: string; markdown: string },
  urls: ReadonlyMap<string, string>,
) {
  const parsed = md.parse(markdown, {});
  const tokens = parsed[0]?.type === 'heading_open' && parsed[0].tag === 'h1' ? parsed.slice(3) : parsed;
  tokens.forEach(alignByClass);
  return {
    sections: cutAtHeadings(tokens),
    /** Links to content files that do not exist. */
    brokenLinks: tokens.flatMap(({ children }) => rewriteLinks(children ?? [], posix.dirname(file), urls)),
    /** Returns the HTML. */
    render: () => md.renderer.render(tokens, md.options, {}),
  };
}

/**
 * The text of the first heading, of whatever level; `''` if there is none. One that is underlined with hyphens does not
 * count: it may be front matter that was not recognised.
 */
export function firstHeading(markdown: string): string {
  const tokens = md.parse(markdown, {});
  const start = tokens.findIndex(({ markup, type }) => type === 'heading_open' && markup !== '-');
  return start === -1 ? '' : plainText(tokens[start + 1]).trim();
}

/** Gives every heading the id that GitHub gives it; a repeated id gets a number. */
function cutAtHeadings(tokens: readonly Token[]): Section[] {
  const slugger = new GithubSlugger();
  let section: Section = { id: '', heading: '', level: 0, text: '', code: '' };
  const sections = [section];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const heading = plainText(tokens[index + 1]);
      // A heading of punctuation alone needs an id too.
      const id = slugger.slug(slug(heading) === '' ? 'section' : heading);
      token.attrSet('id', id);
      section = { id, heading, level: Number(token.tag.slice(1)), text: '', code: '' };
      sections.push(section);
    } else if (token.type === 'fence' || token.type === 'code_block') {
      section.code += ` ${token.content}`;
    } else if (tokens[index - 1]?.type !== 'heading_open') {
      section.text += ` ${plainText(token)}`;
    }
  });
  const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
  return sections.map((each) => ({ ...each, text: oneLine(each.text), code: oneLine(each.code) }));
}

/** Replaces links as `parseMarkdown` says; returns those to content files that do not exist. */
function rewriteLinks(
  children: readonly Token[],
  folder: string,
  urls: ReadonlyMap<string, string>,
): string[] {
  const broken: string[] = [];
  let unlinked = false;
  for (const token of children) {
    if (token.type === 'link_open') {
      const written = String(token.attrGet('href'));
      const [path = '', ...fragment] = written.split('#');
      const file = posix.join(folder, path);
      const url = /^(?:[a-z][a-z0-9+.-]*:|\/|#)/i.test(written) ? path : urls.get(file);
      if (url !== undefined) token.attrSet('href', [url, ...fragment].join('#'));
      else if (file.endsWith('.md') && !file.startsWith('../')) broken.push(written);
      unlinked = url === undefined;
    }
    if (unlinked && token.type.startsWith('link_')) token.hidden = true;
  }
  return broken;
}

/** Replaces the inline style that markdown-it gives to aligned columns, which the policy forbids, by a class. */
function alignByClass(token: Token): void {
  const align = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? ''))?.[1];
  if (align !== undefined) token.attrs = [['class', align]];
}

function plainText(token: Token | undefined): string {
  if (!token) return '';
  if (!token.children) return token.content;
  return token.children
    .map((child) => (child.type.endsWith('break') ? ' ' : child.children ? plainText(child) : child.content))
    .join('');
}
