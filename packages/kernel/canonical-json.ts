/**
 * JSON with the keys of every object sorted by code unit, no white space, and `undefined` members left out:
 * what RFC 8785 prescribes for the values we store. Two values with the same meaning give the same text.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let members = '';
  if (Array.isArray(value)) {
    for (const entry of value) members += `${members === '' ? '' : ','}${canonicalJson(entry ?? null)}`;
    return `[${members}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) members += `${members === '' ? '' : ','}${quote(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** JSON escapes nothing in such a text; most texts are like this, and quoting them ourselves takes half the time. */
const unescaped = /^[ !#-[\]-~]*$/;
const quote = (text: string) => (unescaped.test(text) ? `"${text}"` : JSON.stringify(text));
