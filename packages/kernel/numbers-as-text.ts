/** JSON whose numbers are kept as they were written, because a number of JavaScript loses digits and trailing zeros. */

/** The value of a JSON text, with the text of each number in its place: `120.50` becomes `'120.50'`. Throws SyntaxError. */
export function parseNumbersAsText(json: string): unknown {
  // The third argument is newer than the type of `JSON.parse`.
  const textOf = (_: string, value: unknown, { source = '' }: { source?: string } = {}) =>
    typeof value === 'number' ? source : value;
  return JSON.parse(json, textOf);
}
