/** The whole documentation: every address and its answer. No part of a URL ever becomes a file name. */

import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { escapeHtml, parseMarkdown } from '@ledger/markdown/markdown.ts';
import { createTemplates } from '../../common/templates.ts';
import { type Answer, createAnswer } from '../server/static-files.ts';
import { addAssets, pagePolicy, themeScript } from './assets.ts';
import { type DocsFile, readDocsFiles } from './files.ts';
import { createSearch } from './search.ts';

export type Site = Awaited<ReturnType<typeof createSite>>;

type Page = DocsFile & ReturnType<typeof parseMarkdown>;
type Category = { name: string; pages: readonly DocsFile[] };

/**
 * Reads, checks and renders everything in `folder`, which takes most of a second. `baseUrl` is for links that must be
 * absolute. Rejects with a ConfigError that names every fault.
 */
export async function createSite({ folder, baseUrl }: { folder: string; baseUrl: string }) {
  const files = readDocsFiles(folder);
  const urls = new Map(files.map(({ file, url }) => [file, url]));
  const pages = files.map((file) => ({ ...file, ...parseMarkdown(file, urls) }));
  const broken = pages.flatMap(({ file, brokenLinks }) =>
    brokenLinks.map((link) => `content/docs/${file}: the link ${link} leads to no page`),
  );
  if (broken.length > 0) throw new ConfigError(broken);
  return await renderSite(pages, baseUrl);
}

async function renderSite(pages: readonly Page[], baseUrl: string) {
  // Loaded here, because only readers of the documentation need the grammars of a dozen languages.
  const { codeBlock, highlightCss } = await import('@ledger/markdown/code.ts');
  const rendered = pages.map((page) => ({ page, html: page.render({ codeBlock }) }));
  /** By the path of the URL. */
  const answers = new Map<string, Answer>();
  const assets = addAssets(answers, highlightCss());
  const categories = Array.from(
    Map.groupBy(pages, ({ category }) => category),
    ([name, itsPages]) => ({ name, pages: itsPages }),
  );
  const environment = createTemplates('docs');
  const show = (name: string, model: object) =>
    environment.render(name, { assets, baseUrl, categories, themeScript, ...model });

  answers.set('/docs', pageAnswer(show('overview.njk', { path: '/docs' })));
  rendered.forEach(({ page, html }, index) => {
    const contents = page.sections.filter(({ level }) => level === 2 || level === 3);
    const [previous = null, next = null] = [pages[index - 1], pages[index + 1]];
    const model = { path: page.url, page, html, contents, previous, next };
    answers.set(page.url, pageAnswer(show('page.njk', model)));
    answers.set(`${page.url}.md`, createAnswer('text/markdown', page.source));
  });
  answers.set('/llms.txt', createAnswer('text/plain', llmsText(categories, baseUrl)));
  answers.set('/sitemap.xml', createAnswer('application/xml', sitemap(categories, baseUrl)));

  const search = createSearch(pages);
  return {
    answers,
    notFound: pageAnswer(show('not-found.njk', { path: '' }), 404),
    search: (query: string) =>
      pageAnswer(show('search.njk', { path: '/docs/search', query, hits: query ? search(query) : [] })),
  };
}

const pageAnswer = (html: string, status = 200): Answer =>
  createAnswer('text/html', html, { status, headers: { 'Content-Security-Policy': pagePolicy } });

/** An index for language models, which links to the markdown of each page. */
function llmsText(categories: readonly Category[], baseUrl: string): string {
  const lines = categories.flatMap(({ name, pages }) => [
    '',
    `## ${name}`,
    '',
    ...pages.map(({ url, title, description }) => {
      const link = `- [${title.replace(/[[\]\\]/g, '\\$&')}](${baseUrl}${url}.md)`;
      return description === '' ? link : `${link}: ${description.replace(/\s+/g, ' ')}`;
    }),
  ]);
  const about =
    '> An event-sourced payment ledger that public agencies put in front of their payment gateway.';
  return ['# Payment ledger', '', about, ...lines, ''].join('\n');
}

function sitemap(categories: readonly Category[], baseUrl: string): string {
  const paths = ['/docs', ...categories.flatMap(({ pages }) => pages.map(({ url }) => url))];
  const entries = paths.map((path) => `<url><loc>${escapeHtml(baseUrl + path)}</loc></url>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...entries,
    '</urlset>',
    '',
  ].join('\n');
}
