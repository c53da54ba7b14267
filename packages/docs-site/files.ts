/** Reads the content files, checks their front matter, and gives each its address and its place in the order. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { ConfigError, checkYaml } from '@ledger/kernel/yaml-file.ts';
import { array, number, object, optional, pattern, string, trimmed } from 'superstruct';
import { firstHeading } from './markdown.ts';

export type DocsFile = ReturnType<typeof readDocsFile>;

const slugPattern = /^[a-z0-9]+(?:[-_][a-z0-9]+)*(?:\/[a-z0-9]+(?:[-_][a-z0-9]+)*)*$/;
const text = trimmed(pattern(string(), /\S/));
const frontMatter = object({
  title: optional(text),
  description: optional(text),
  category: optional(text),
  lang: optional(pattern(string(), /^[a-z]{2}$/)),
  order: optional(number()),
  slug: optional(pattern(string(), slugPattern)),
  tags: optional(array(text)),
});

/** First segments of paths below /docs/ that are not content. */
const reserved = new Set(['assets', 'search']);

export type Source = { file: string; source: string };

/** What a site is made of, and how its content is ordered. */
export type Content = {
  folder: string;
  /** How faults name the folder. */
  folderName: string;
  /** Other categories follow these, by name. */
  categories: readonly string[];
  /** Addresses in the files, and what readers are shown instead: where this server is. */
  addresses: Readonly<Record<string, string>>;
  /** Pages beside those of the folder. */
  generated: readonly Source[];
};

/**
 * Reads every .md file below `folder`, sorted by category, then `order` (files without one come last), then title.
 * Throws a ConfigError that names every fault by file and key.
 */
export function readDocsFiles({ addresses, categories, folder, folderName, generated }: Content): DocsFile[] {
  const faults: string[] = [];
  const found: DocsFile[] = [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const written = names
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ file: name.replaceAll(sep, '/'), source: readFileSync(join(folder, name), 'utf8') }));
  const shown = (text: string) =>
    Object.entries(addresses).reduce((result, [from, to]) => result.replaceAll(from, to), text);
  for (const { file, source } of [...written, ...generated]) {
    try {
      found.push(readDocsFile(file, shown(source)));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
    }
  }
  const bySlug = new Map<string, string>();
  for (const { file, slug } of found) {
    const other = bySlug.get(slug);
    if (other !== undefined) faults.push(`${file}: slug ${slug} is also the slug of ${other}`);
    bySlug.set(slug, file);
  }
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${folderName}/${fault}`));
  const rank = ({ category }: DocsFile) => categories.indexOf(category) + 1 || categories.length + 1;
  return found.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      a.category.localeCompare(b.category, 'en') ||
      a.order - b.order ||
      a.title.localeCompare(b.title, 'en', { numeric: true }),
  );
}

/** `source` is the content of `file`, relative to the content folder: `decisions/0001-event-store.md`. Throws ConfigError. */
function readDocsFile(file: string, source: string) {
  const plain = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [whole = '', yaml = ''] = /^---[ \t]*\n(.*?\n)??---[ \t]*(?:\n|$)/s.exec(plain) ?? [];
  const matter = checkYaml(file, () => yaml || '{}', frontMatter);
  const markdown = plain.slice(whole.length);
  const title = matter.title ?? firstHeading(markdown);
  if (title === '') throw new ConfigError([`${file}: title is missing, and there is no heading`]);
  const slug = matter.slug ?? file.slice(0, -'.md'.length);
  if (!slugPattern.test(slug))
    throw new ConfigError([`${file}: slug is missing, and the file name is not a valid lower-case address`]);
  if (reserved.has(slug.split('/')[0] ?? ''))
    throw new ConfigError([`${file}: slug is not valid (/docs/${slug} is taken)`]);
  return {
    file,
    /** Path below /docs/. */
    slug,
    url: `/docs/${slug}`,
    title,
    description: matter.description ?? '',
    category: matter.category ?? folderName(file),
    /** A screen reader reads the page in this language. */
    lang: matter.lang ?? 'en',
    order: matter.order ?? Number.POSITIVE_INFINITY,
    tags: matter.tags ?? [],
    source,
    markdown,
  };
}

/** `land-registry/x.md` belongs to "Land registry"; a file outside any folder belongs to "General". */
function folderName(file: string): string {
  const name = posix.dirname(file).split('/')[0]?.replaceAll('-', ' ') ?? '.';
  return name === '.' ? 'General' : name.charAt(0).toUpperCase() + name.slice(1);
}
