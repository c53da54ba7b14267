/** The content files as readers find them: pages under categories. */
import type { DocsFile } from './files.ts';

/** A page in a list. */
export type PageLink = { url: string; title: string; description: string };
export type Category = { name: string; pages: PageLink[] };

export const urlOf = ({ slug }: DocsFile): string => `/docs/${slug}`;

export const linkTo = (file: DocsFile): PageLink => ({
  url: urlOf(file),
  title: file.title,
  description: file.description,
});

/** `files` are in order, and so are the categories. */
export function groupByCategory(files: readonly DocsFile[]): Category[] {
  const groups = Map.groupBy(files, ({ category }) => category);
  return Array.from(groups, ([name, pages]) => ({ name, pages: pages.map(linkTo) }));
}
