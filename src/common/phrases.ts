/** The console's sentences in Malay. The key of each is the English one, as templates and the program say it. */
import { format } from '@ledger/kernel/format.ts';
import ms from '../../content/texts/phrases.ms.json' with { type: 'json' };
import type { Language } from './languages.ts';

const known = new Map(Object.entries({ ...ms.messages, ...ms.templates }));

/** The messages with values, those with the most text of their own first. The parts of `a {b} c` are `a `, `b` and ` c`. */
const patterns = Object.entries(ms.messages)
  .filter(([english]) => english.includes('{'))
  .sort(([a], [b]) => b.replace(/\{\w+\}/g, '').length - a.replace(/\{\w+\}/g, '').length)
  .map(([english, malay]) => ({ malay, parts: english.split(/\{(\w+)\}/) }));

/** What a text has in the places of a pattern's values. (A regular expression takes seconds where a text is long.) */
function valuesIn(text: string, [first = '', ...rest]: readonly string[]): Map<string, string> | undefined {
  if (!text.startsWith(first)) return undefined;
  const values = new Map<string, string>();
  let start = first.length;
  for (let index = 0; index < rest.length; index += 2) {
    const [name = '', words = ''] = rest.slice(index, index + 2);
    const end = index + 2 < rest.length ? text.indexOf(words, start + 1) : text.length - words.length;
    if (end <= start || !text.startsWith(words, end)) return undefined;
    values.set(name, text.slice(start, end));
    start = end + words.length;
  }
  return values;
}

/**
 * An English sentence in another language, with its placeholders filled. A message that has its values already, such as
 * that of an error, is found by the words around them. A text that is not ours stays as it is.
 */
export function phrase(lang: Language, text: string, values: Readonly<Record<string, unknown>> = {}): string {
  return format(lang === 'en' ? text : inMalay(text), values);
}

/** A value may be a message with values, whose own values are looked up as they are. */
function inMalay(text: string, depth = 2): string {
  const own = known.get(text);
  if (own !== undefined || depth === 0) return own ?? text;
  for (const { malay, parts } of patterns) {
    const found = valuesIn(text, parts);
    if (!found) continue;
    const values = Array.from(found, ([name, value]) => [name, inMalay(value, depth - 1)]);
    return format(malay, Object.fromEntries(values));
  }
  return text;
}
