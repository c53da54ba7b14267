/** The lists of all pages for programs: /llms.txt for language models, /sitemap.xml for search engines. */
import { escapeHtml } from './escape-html.ts';
import type { DocsFile } from './files.ts';

/** The pages of one category, in order. */
export type Category = { name: string; pages: readonly DocsFile[] };

/** An index in markdown that links to the markdown of each page. */
export function llmsText(categories: readonly Category[], baseUrl: string): string {
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

export function sitemap(categories: readonly Category[], baseUrl: string): string {
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
