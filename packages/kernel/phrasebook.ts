/** Sentences in another language, by those in which the program speaks. */
import { format } from './format.ts';

/**
 * Returns a function that translates a text, given the translations by their originals. A text that is not known stays as
 * it is. One of `messages` is also found when the places of its values, such as `{count}`, are filled in already, as in
 * the message of an error; one of `others` only as it is.
 */
export function createPhrasebook(
  messages: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>>,
): (text: string) => string {
  const known = new Map(Object.entries({ ...messages, ...others }));
  /** The messages with values, those with the most text of their own first. The parts of `a {b} c` are `a `, `b` and ` c`. */
  const patterns = Object.entries(messages)
    .filter(([original]) => original.includes('{'))
    .sort(([a], [b]) => b.replace(/\{\w+\}/g, '').length - a.replace(/\{\w+\}/g, '').length)
    .map(([original, translated]) => ({ translated, parts: original.split(/\{(\w+)\}/) }));

  /** A value may be a message with values, whose own values are looked up as they are. */
  function translate(text: string, depth: number): string {
    const own = known.get(text);
    if (own !== undefined || depth === 0) return own ?? text;
    for (const { translated, parts } of patterns) {
      const found = valuesIn(text, parts);
      if (!found) continue;
      const values = Array.from(found, ([name, value]) => [name, translate(value, depth - 1)]);
      return format(translated, Object.fromEntries(values));
    }
    return text;
  }

  return (text) => translate(text, 2);
}

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
