/**
 * The checksum both sides put on what they hand each other. The service has its own: this one is written again
 * on purpose, as the other side would have it, so that two readings of one rule check each other.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Fields of a form as they travel: every name once, every value a text. */
export type Fields = Readonly<Record<string, string>>;

/** The text that is signed: all fields but CHECKSUM, sorted by name, percent-encoded, joined as `NAME=value` with `&`. */
export function signedText(fields: Fields): string {
  return Object.keys(fields)
    .filter((name) => name !== 'CHECKSUM')
    .sort()
    .map((name) => `${percentEncoded(name)}=${percentEncoded(fields[name] ?? '')}`)
    .join('&');
}

/** Lower-case hex HMAC-SHA256 over `signedText`. */
export function checksumOf(fields: Fields, secret: string): string {
  return createHmac('sha256', secret).update(signedText(fields)).digest('hex');
}

/** Whether `fields.CHECKSUM` is right; false when it is missing. Takes the same time wherever it first differs. */
export function hasRightChecksum(fields: Fields, secret: string): boolean {
  const given = Buffer.from(fields.CHECKSUM ?? '');
  const right = Buffer.from(checksumOf(fields, secret));
  return given.length === right.length && timingSafeEqual(given, right);
}

/** RFC 3986: only unreserved characters stay. encodeURIComponent leaves five more, from an older RFC. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
