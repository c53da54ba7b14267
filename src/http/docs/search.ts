/** The search: forgives typing errors, finds beginnings of words, and answers with headings rather than pages. */
import MiniSearch from 'minisearch';
import type { DocsFile } from './files.ts';
import type { Section } from './markdown.ts';

/** A piece of text, marked where it matches. */
export type Piece = { text: string; marked: boolean };
export type Hit = { url: string; title: string; heading: string; excerpt: Piece[] };
export type Search = (query: string) => Hit[];

type Entry = Section & { url: string; title: string; about: string };

/** What is beyond these does not help a reader, and costs. */
const maxQueryLength = 100;
const maxTerms = 8;
const maxHits = 12;
const excerptLength = 160;

/** `url` is where the page is. */
export function createSearch(
  pages: readonly { file: DocsFile; url: string; sections: readonly Section[] }[],
): Search {
  const entries: Entry[] = pages.flatMap(({ file, url, sections }) => {
    const { title, description } = file;
    const page = { url, title, id: '', heading: '', about: [description, ...file.tags].join(' ') };
    const beginning = sections.find(({ id }) => id === '');
    const parts = sections.filter(({ id }) => id !== '');
    return [
      { ...page, text: `${description} ${beginning?.text ?? ''}`.trim() },
      ...parts.map((part) => ({ ...part, title, url: `${url}#${part.id}`, about: '' })),
    ];
  });
  const index = new MiniSearch<Entry>({
    idField: 'url',
    fields: ['title', 'heading', 'about', 'text'],
    processTerm: singular,
  });
  index.addAll(entries);
  const byUrl = new Map(entries.map((entry) => [entry.url, entry]));

  return (query) => {
    const terms = query.slice(0, maxQueryLength).split(/\s+/, maxTerms).join(' ');
    return index
      .search(terms, {
        prefix: true,
        fuzzy: (term) => (term.length > 3 ? 0.2 : false),
        boost: { title: 3, heading: 3, about: 2 },
        // The page before its parts, where only its title matches.
        boostDocument: (url) => (String(url).includes('#') ? 1 : 1.2),
      })
      .slice(0, maxHits)
      .flatMap(({ id, terms: matched }) => {
        const entry = byUrl.get(String(id));
        return entry ? [{ ...entry, excerpt: excerptOf(entry.text, matched) }] : [];
      })
      .map(({ url, title, heading, excerpt }) => ({ url, title, heading, excerpt }));
  };
}

/** English plurals count as what they are of, so that a typing error may be in a word as well. */
function singular(term: string): string {
  const word = term.toLowerCase();
  return word.length > 3 ? word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '') : word;
}

/** About `excerptLength` characters around the first of the `terms`, which are beginnings of words of the text. */
function excerptOf(text: string, terms: readonly string[]): Piece[] {
  const words = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${words.join('|')})[\\p{L}\\p{N}]*)`, 'iu');
  const at = Math.max(0, text.search(pattern));
  const from = at < excerptLength / 2 ? 0 : text.indexOf(' ', at - excerptLength / 3) + 1;
  const end = from + excerptLength;
  const space = text.lastIndexOf(' ', end);
  const to = end < text.length && space > from ? space : end;
  const shown = [from > 0 ? '… ' : '', text.slice(from, to), to < text.length ? ' …' : ''].join('');
  return shown
    .split(new RegExp(pattern, 'giu'))
    .map((piece, index) => ({ text: piece, marked: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
