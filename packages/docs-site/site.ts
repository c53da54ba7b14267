/** The whole documentation: every address and its answer. No part of a URL ever becomes a file name. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { type Answer, createAnswer } from '@ledger/web/answers.ts';
import { createTemplates, createTextTemplates } from '@ledger/web/templates.ts';
import { addAssets, policyWith, textFolder, themeScript, viewsFolder } from './assets.ts';
import { type Content, type DocsFile, readDocsFiles } from './files.ts';
import { parseMarkdown } from './markdown.ts';
import { addReferenceAssets, referenceScripts } from './reference.ts';
import { referenceMarkdown } from './reference-markdown.ts';
import { createSearch } from './search.ts';

export type Site = Awaited<ReturnType<typeof createSite>>;

export type SiteOptions = Content & {
  /** For links that must be absolute. */
  baseUrl: string;
  /** The name of the site, and a sentence about it. */
  name: string;
  about: string;
  /** An OpenAPI document. */
  describe(): object;
  runtime: Pick<Runtime, 'yieldToIo'>;
};

type Page = DocsFile & ReturnType<typeof parseMarkdown>;

const html = createTemplates(viewsFolder);
const plainText = createTextTemplates(textFolder);

/**
 * Reads, checks and renders everything, which takes most of a second; between two pages the process does what else it has
 * to. Rejects with a ConfigError that names every fault.
 */
export async function createSite(options: SiteOptions) {
  const files = readDocsFiles(options);
  const urls = new Map(files.map(({ file, url }) => [file, url]));
  const pages: Page[] = [];
  for (const file of files) {
    pages.push({ ...file, ...parseMarkdown(file, urls) });
    await options.runtime.yieldToIo();
  }
  const broken = pages.flatMap(({ file, brokenLinks }) =>
    brokenLinks.map((link) => `${options.folderName}/${file}: the link ${link} leads to no page`),
  );
  if (broken.length > 0) throw new ConfigError(broken);
  return await renderSite(pages, options);
}

async function renderSite(pages: readonly Page[], { about, baseUrl, describe, name, runtime }: SiteOptions) {
  const markdown = referenceMarkdown(describe());
  const reference = parseMarkdown({ file: 'reference.md', markdown }, new Map());
  /** By the path of the URL. */
  const answers = new Map<string, Answer>();
  const assets = { ...addAssets(answers), ...addReferenceAssets(answers) };
  const categories = Array.from(
    Map.groupBy(pages, ({ category }) => category),
    ([category, itsPages]) => ({ name: category, pages: itsPages }),
  );
  const common = { about, assets, baseUrl, categories, name, themeScript };
  const show = (view: string, model: object) => html.render(view, { ...common, ...model });

  answers.set('/docs', pageAnswer(show('overview.njk', { path: '/docs' })));
  answers.set('/docs.md', createAnswer('text/markdown', plainText.render('llms.txt.njk', common)));
  for (const [index, page] of pages.entries()) {
    const contents = page.sections.filter(({ level }) => level === 2 || level === 3);
    const [previous = null, next = null] = [pages[index - 1], pages[index + 1]];
    const model = { path: page.url, page, html: page.render(), contents, previous, next };
    answers.set(page.url, pageAnswer(show('page.njk', model)));
    answers.set(`${page.url}.md`, createAnswer('text/markdown', page.source));
    await runtime.yieldToIo();
  }
  const scripts = referenceScripts();
  const referenceModel = { path: '/reference', html: reference.render(), scripts };
  answers.set('/reference', pageAnswer(show('reference.njk', referenceModel), { scripts }));
  answers.set('/reference.md', createAnswer('text/markdown', markdown));
  // An index for language models, and the rule that search engines may index nothing but the documentation.
  for (const file of ['llms.txt', 'robots.txt'])
    answers.set(`/${file}`, createAnswer('text/plain', plainText.render(`${file}.njk`, common)));
  answers.set('/sitemap.xml', createAnswer('application/xml', show('sitemap.xml.njk', {})));

  let search: ReturnType<typeof createSearch> | undefined;
  async function find(query: string) {
    search ??= createSearch(pages);
    return (await search)(query);
  }
  return {
    answers,
    notFound: pageAnswer(show('problem.njk', { path: '', status: 404 }), { status: 404 }),
    wrongMethod: pageAnswer(show('problem.njk', { path: '', status: 405 }), { status: 405 }),
    async search(query: string) {
      const hits = query ? await find(query) : [];
      return pageAnswer(show('search.njk', { path: '/docs/search', query, hits }));
    },
  };
}

const pageAnswer = (html: string, { scripts = [] as readonly string[], status = 200 } = {}): Answer =>
  createAnswer('text/html', html, { status, headers: { 'Content-Security-Policy': policyWith(scripts) } });
