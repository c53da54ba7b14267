/** Markdown as GitHub understands it → HTML, its headings, and its text cut at headings for the search. */
import { posix } from 'node:path';
import GithubSlugger, { slug } from 'github-slugger';
import MarkdownIt, { type Token } from 'markdown-it';
import { callouts } from './callouts.ts';
import { codeBlock } from './code.ts';
import { escapeHtml } from './escape-html.ts';
import { taskLists } from './task-lists.ts';

export type Heading = { id: string; text: string; level: number };

/** What stands under one heading; what stands before the first has the id ''. */
export type Section = { id: string; heading: string; text: string };

export type RenderedMarkdown = {
  html: string;
  headings: Heading[];
  sections: Section[];
  /** Links to content files that do not exist. */
  brokenLinks: string[];
};

/** HTML in the source stays text: `html` is off. Addresses of scripts never become links: markdown-it sees to that. */
const md = new MarkdownIt({ html: false, linkify: true });
// `running.md` is a file here and no address in Moldova.
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
md.use(callouts).use(taskLists);
md.renderer.rules.fence = (tokens, index) =>
  codeBlock(tokens[index]?.info ?? '', tokens[index]?.content ?? '');
md.renderer.rules.code_block = (tokens, index) => codeBlock('', tokens[index]?.content ?? '');
md.renderer.rules.table_open = () =>
  '<div class="table" role="group" aria-label="Table" tabindex="0">\n<table>\n';
md.renderer.rules.table_close = () => '</table>\n</div>\n';
md.renderer.rules.heading_open = (tokens, index, options, _env, self) =>
  `<div class="heading">${self.renderToken(tokens, index, options)}`;
md.renderer.rules.heading_close = (tokens, index, options, _env, self) => {
  const id = idOf(tokens[index - 2]);
  const text = plainText(tokens[index - 1]);
  const name = `<span class="unseen">Link to “${escapeHtml(text)}”</span>`;
  const anchor = `<a class="anchor" href="#${escapeHtml(id)}"><span aria-hidden="true">#</span>${name}</a>`;
  return `${self.renderToken(tokens, index, options).trimEnd()}${anchor}</div>\n`;
};

/**
 * Renders the content of `file`. A first-level heading at its beginning is left out, since pages show their title
 * themselves. Links to other content files lead to their pages, as `routes` (file → path) has them; links to files
 * outside the content become plain text.
 */
export function renderMarkdown(
  { file, markdown }: { file: string; markdown: string },
  routes: ReadonlyMap<string, string>,
): RenderedMarkdown {
  const tokens = withoutTitle(md.parse(markdown, {}));
  const headings = nameHeadings(tokens);
  const brokenLinks: string[] = [];
  for (const token of tokens) {
    if (token.children) brokenLinks.push(...rewriteLinks(token.children, posix.dirname(file), routes));
    alignByClass(token);
  }
  const html = md.renderer.render(tokens, md.options, {});
  return { html, headings, sections: cutAtHeadings(tokens), brokenLinks };
}

function withoutTitle(tokens: Token[]): Token[] {
  return tokens[0]?.type === 'heading_open' && tokens[0].tag === 'h1' ? tokens.slice(3) : tokens;
}

/** Gives every heading the id that GitHub gives it: of two that are alike, the second is numbered. */
function nameHeadings(tokens: readonly Token[]): Heading[] {
  const slugger = new GithubSlugger();
  const headings: Heading[] = [];
  tokens.forEach((token, index) => {
    if (token.type !== 'heading_open') return;
    const text = plainText(tokens[index + 1]);
    // A heading of punctuation alone has a name to be linked by, too.
    const id = slugger.slug(slug(text) === '' ? 'section' : text);
    token.attrSet('id', id);
    headings.push({ id, text, level: Number(token.tag.slice(1)) });
  });
  return headings;
}

/** Returns the links that should lead to a page and lead to none. */
function rewriteLinks(
  children: readonly Token[],
  folder: string,
  routes: ReadonlyMap<string, string>,
): string[] {
  const broken: string[] = [];
  let unlinked = false;
  for (const token of children) {
    if (token.type === 'link_open') {
      const written = String(token.attrGet('href'));
      const { href, isBroken } = addressOf(written, folder, routes);
      if (isBroken) broken.push(written);
      unlinked = href === null;
      if (href !== null) token.attrSet('href', href);
    }
    if (unlinked && token.type.startsWith('link_')) token.hidden = true;
  }
  return broken;
}

/** No address for a file that is no page; what is written as a page of this content should be one. */
function addressOf(
  href: string,
  folder: string,
  routes: ReadonlyMap<string, string>,
): { href: string | null; isBroken: boolean } {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/|#)/i.test(href)) return { href, isBroken: false };
  const [path = '', ...fragment] = href.split('#');
  const file = posix.join(folder, path);
  const route = routes.get(file);
  if (route !== undefined) return { href: [route, ...fragment].join('#'), isBroken: false };
  return { href: null, isBroken: file.endsWith('.md') && !file.startsWith('../') };
}

/** Columns that are aligned say so by a class: the policy forbids the style that markdown-it gives them. */
function alignByClass(token: Token): void {
  const align = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? ''))?.[1];
  if (align === undefined) return;
  token.attrs = [['class', align]];
}

function cutAtHeadings(tokens: readonly Token[]): Section[] {
  const sections: Section[] = [];
  let section: { id: string; heading: string; texts: string[] } = { id: '', heading: '', texts: [] };
  const end = () => {
    const text = section.texts.join(' ').replace(/\s+/g, ' ').trim();
    if (text !== '' || section.id !== '') sections.push({ id: section.id, heading: section.heading, text });
  };
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      end();
      section = { id: idOf(token), heading: plainText(tokens[index + 1]), texts: [] };
    } else if (tokens[index - 1]?.type !== 'heading_open') {
      section.texts.push(plainText(token));
    }
  }
  end();
  return sections;
}

const idOf = (heading: Token | undefined): string => String(heading?.attrGet('id') ?? '');

/** The words of a token without their mark-up. */
function plainText(token: Token | undefined): string {
  if (!token) return '';
  if (!token.children) return token.content;
  return token.children
    .map((child) => (child.type.endsWith('break') ? ' ' : child.children ? plainText(child) : child.content))
    .join('');
}
