/**
 * The checksum that the service and the gateway put on everything they send each other. The service has its own
 * implementation; this second one is deliberate, so that two readings of the rule check each other.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The fields of a form; no name occurs twice. */
export type Fields = Readonly<Record<string, string>>;

/** The signed text: all fields except CHECKSUM, sorted by name, percent-encoded, as `NAME=value` joined with `&`. */
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

/** Whether `fields.CHECKSUM` is right; false if it is missing. Compares in constant time. */
export function hasRightChecksum(fields: Fields, secret: string): boolean {
  const given = Buffer.from(fields.CHECKSUM ?? '');
  const right = Buffer.from(checksumOf(fields, secret));
  return given.length === right.length && timingSafeEqual(given, right);
}

/** Encodes all but the unreserved characters of RFC 3986; encodeURIComponent leaves five more, from an older RFC. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
