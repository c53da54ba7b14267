/** The whole documentation: every address and its answer. No part of a URL ever becomes a file name. */
import { fileURLToPath } from 'node:url';
import nunjucks from 'nunjucks';
import { ConfigError } from '../../config/yaml-file.ts';
import { type Answer, createAnswer } from '../server/static-files.ts';
import { addAssets, pagePolicy, themeScript } from './assets.ts';
import { type DocsFile, readDocsFiles } from './files.ts';
import { llmsText, sitemap } from './machine-readable.ts';
import { type ParsedMarkdown, parseMarkdown } from './markdown.ts';
import { createSearch } from './search.ts';

export type Site = {
  /** By the path of the URL. */
  answers: ReadonlyMap<string, Answer>;
  notFound: Answer;
  search(query: string): Answer;
};

type Page = DocsFile & ParsedMarkdown;

const views = fileURLToPath(new URL('../../../views/docs/', import.meta.url));

/**
 * Reads and checks everything in `folder` now, and returns a function that renders it when it is first called: this
 * takes most of a second. `baseUrl` is for links that must be absolute. Throws a ConfigError that names every fault.
 */
export function createSite({ folder, baseUrl }: { folder: string; baseUrl: string }): () => Site {
  const files = readDocsFiles(folder);
  const urls = new Map(files.map(({ file, url }) => [file, url]));
  const pages = files.map((file) => ({ ...file, ...parseMarkdown(file, urls) }));
  const broken = pages.flatMap(({ file, brokenLinks }) =>
    brokenLinks.map((link) => `content/docs/${file}: the link ${link} leads to no page`),
  );
  if (broken.length > 0) throw new ConfigError(broken);
  let site: Site | undefined;
  return () => {
    site ??= renderSite(pages, baseUrl);
    return site;
  };
}

function renderSite(pages: readonly Page[], baseUrl: string): Site {
  const rendered = pages.map((page) => ({ page, html: page.render() }));
  const answers = new Map<string, Answer>();
  const assets = addAssets(answers);
  const categories = Array.from(
    Map.groupBy(pages, ({ category }) => category),
    ([name, itsPages]) => ({ name, pages: itsPages }),
  );
  const show = createTemplates({ assets, baseUrl, categories, themeScript });

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
    search: (query) =>
      pageAnswer(show('search.njk', { path: '/docs/search', query, hits: query ? search(query) : [] })),
  };
}

/** Returns a function that renders a template of views/docs/; every template also sees `shared`. */
function createTemplates(shared: object): (name: string, model: object) => string {
  const environment = new nunjucks.Environment(new nunjucks.FileSystemLoader(views), {
    autoescape: true,
    throwOnUndefined: true,
    trimBlocks: true,
    lstripBlocks: true,
  });
  return (name, model) => environment.render(name, { ...shared, ...model });
}

const pageAnswer = (html: string, status = 200): Answer =>
  createAnswer('text/html', html, { status, headers: { 'Content-Security-Policy': pagePolicy } });
