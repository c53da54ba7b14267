/** The one place where values become jsonb. */

/**
 * JSON text that Postgres takes as jsonb. Jsonb cannot hold U+0000 and half a surrogate pair, which people's
 * input can; they become U+FFFD, so that nobody's name stops a projection. The event keeps the original.
 */
export function toJsonb(value: unknown): string {
  // JSON.stringify writes both as escapes, and never a whole pair. Other escapes are matched to be stepped over:
  // in `\\u0000` the first two characters are a backslash, and the rest is plain text.
  return JSON.stringify(value).replace(/\\(?:u0000|ud[89a-f]..|.)/g, (found) =>
    /^\\u(0000|d)/.test(found) ? '\ufffd' : found,
  );
}
