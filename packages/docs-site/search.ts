/** The search: tolerates typing errors, matches beginnings of words, and finds sections as well as pages. */
import MiniSearch from 'minisearch';
import type { DocsFile } from './files.ts';
import type { Section } from './markdown.ts';

/** Longer queries and more hits cost time without helping a reader. */
const maxQueryLength = 100;
const maxTerms = 8;
const maxHits = 12;
const excerptLength = 160;

/** Takes about half a second; meanwhile the process does what else it has to. */
export async function createSearch(pages: readonly (DocsFile & { sections: readonly Section[] })[]) {
  // A page up to its first heading, or one of its sections; `about` is searched but not shown.
  const entries = pages.flatMap(({ url, title, description, tags, sections }) =>
    sections.map(({ id, heading, text, code }) => {
      const section = { url: `${url}#${id}`, title, heading, about: '', text, code };
      const about = [description, ...tags].join(' ');
      return id === '' ? { ...section, url, about, text: `${description} ${text}`.trim() } : section;
    }),
  );
  const index = new MiniSearch<(typeof entries)[number]>({
    idField: 'url',
    fields: ['title', 'heading', 'about', 'text', 'code'],
    processTerm: singular,
  });
  await index.addAllAsync(entries);
  const byUrl = new Map(entries.map((entry) => [entry.url, entry]));

  return (query: string) => {
    // Where the index splits words, too.
    const terms = query
      .slice(0, maxQueryLength)
      .split(/[\s\p{P}]+/u, maxTerms)
      .join(' ');
    return index
      .search(terms, {
        // Thousands of words begin with one or two of a few letters: eight of these took six times as long as eight words.
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 3 ? 0.2 : false),
        // What is said about a word helps more than the examples that use it.
        boost: { title: 3, heading: 3, about: 2, code: 0.2 },
        // If only the title matches, the page comes before its sections.
        boostDocument: (url) => (String(url).includes('#') ? 1 : 1.2),
      })
      .slice(0, maxHits)
      .flatMap(({ id, terms: matched }) => {
        const entry = byUrl.get(String(id));
        return entry ? [{ ...entry, excerpt: excerptOf(entry, matched) }] : [];
      });
  };
}

/** Reduces English plurals to the singular, so that prefixes and typing errors match both. */
function singular(term: string): string {
  const word = term.toLowerCase();
  return word.length > 3 ? word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '') : word;
}

/** About `excerptLength` characters around the first word that begins with one of the `terms`; such words are `marked`. */
function excerptOf({ text: prose, code }: { text: string; code: string }, terms: readonly string[]) {
  const words = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${words.join('|')})[\\p{L}\\p{N}]*)`, 'iu');
  const text = pattern.test(prose) || !pattern.test(code) ? prose : code;
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
