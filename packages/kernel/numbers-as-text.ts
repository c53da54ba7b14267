/** JSON whose numbers are kept as they were written, because a number of JavaScript loses digits and trailing zeros. */

/**
 * The value of a JSON text, with the text of each number in its place: `120.50` becomes `'120.50'`. `textOf` may change the
 * other texts. Throws SyntaxError.
 */
export function parseNumbersAsText(json: string, textOf = (text: string) => text): unknown {
  // The third argument is newer than the type of `JSON.parse`.
  const asText = (_: string, value: unknown, { source = '' }: { source?: string } = {}) => {
    if (typeof value === 'number') return source;
    return typeof value === 'string' ? textOf(value) : value;
  };
  return JSON.parse(json, asText);
}
