/** The whole documentation, made once: every address and what it answers. Nothing of a URL ever becomes a file name. */
import { fileURLToPath } from 'node:url';
import nunjucks from 'nunjucks';
import { ConfigError } from '../../config/config-error.ts';
import { type Answer, createAnswer } from '../server/static-files.ts';
import { createAssets, pagePolicy } from './assets.ts';
import { groupByCategory, linkTo, urlOf } from './categories.ts';
import { readDocsFiles } from './files.ts';
import { llmsText, sitemap } from './for-machines.ts';
import { renderMarkdown } from './markdown.ts';
import { createSearch } from './search.ts';

export type Site = {
  /** By path, as it stands in a URL. */
  answers: ReadonlyMap<string, Answer>;
  notFound: Answer;
  search(query: string): Answer;
};

const views = fileURLToPath(new URL('../../../views/docs/', import.meta.url));

/**
 * Reads and renders everything in `folder`; `baseUrl` is for the links that must name a host.
 * Throws ConfigError that names every fault of the content.
 */
export function createSite({ folder, baseUrl }: { folder: string; baseUrl: string }): Site {
  const files = readDocsFiles(folder);
  const routes = new Map(files.map((file) => [file.file, urlOf(file)]));
  const pages = files.map((file) => ({ file, url: urlOf(file), ...renderMarkdown(file, routes) }));
  const broken = pages.flatMap(({ file, brokenLinks }) =>
    brokenLinks.map((link) => `content/docs/${file.file}: the link ${link} leads to no page`),
  );
  if (broken.length > 0) throw new ConfigError(broken);
  const assets = createAssets();
  const categories = groupByCategory(files);
  const show = createTemplates({ assets: assets.urls, baseUrl, categories, themeScript: assets.themeScript });

  const answers = new Map(assets.answers);
  answers.set('/docs', pageAnswer(show('overview.njk', { path: '/docs' })));
  pages.forEach(({ file, url, html, headings }, index) => {
    const links = [index - 1, index + 1].map((beside) => files[beside]);
    const [previous, next] = links.map((beside) => (beside ? linkTo(beside) : null));
    const contents = headings.filter(({ level }) => level === 2 || level === 3);
    answers.set(url, pageAnswer(show('page.njk', { path: url, page: file, html, contents, previous, next })));
    answers.set(`${url}.md`, createAnswer('text/markdown', file.source));
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

/** A function that fills in a template of views/docs/; `shared` is what every template sees. */
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
