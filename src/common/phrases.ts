/** The console's sentences in Malay. The key of each is the English one, as templates and the program say it. */
import { format } from '@ledger/kernel/format.ts';
import ms from '../../content/texts/phrases.ms.json' with { type: 'json' };
import type { Language } from './languages.ts';

const known = new Map(Object.entries({ ...ms.messages, ...ms.templates }));

/** The messages with values, those that say most themselves first. */
const patterns = Object.entries(ms.messages)
  .filter(([english]) => english.includes('{'))
  .sort(([a], [b]) => b.replace(/\{\w+\}/g, '').length - a.replace(/\{\w+\}/g, '').length)
  .map(([english, malay]) => ({ malay, pattern: patternOf(english) }));

function patternOf(english: string): RegExp {
  const parts = english.split(/\{(\w+)\}/);
  const sources = parts.map((part, index) => (index % 2 === 0 ? RegExp.escape(part) : `(?<${part}>.+?)`));
  return new RegExp(`^${sources.join('')}$`, 's');
}

/**
 * An English sentence in another language, with its placeholders filled. A message that has its values already, such as
 * that of an error, is found by the words around them. A text that is not ours stays as it is.
 */
export function phrase(lang: Language, text: string, values: Readonly<Record<string, unknown>> = {}): string {
  return format(lang === 'en' ? text : inMalay(text), values);
}

function inMalay(text: string): string {
  const own = known.get(text);
  if (own !== undefined) return own;
  for (const { malay, pattern } of patterns) {
    const found = pattern.exec(text)?.groups;
    if (!found) continue;
    const values = Object.entries(found).map(([name, value]) => [name, inMalay(value)]);
    return format(malay, Object.fromEntries(values));
  }
  return text;
}
