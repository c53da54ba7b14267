/** Ids that are derived, not random: the same parts give the same id, and nobody without the key can guess one. */
import { createHmac } from 'node:crypto';
import { base32crockford } from '@scure/base';

export const derivedIdPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** 32 zero bits and the 128 of an id make 32 digits; the last 26 hold the id and two of the zeros. */
const leadingZeros = new Uint8Array(4);

/**
 * 26 characters of Crockford base32: the first 128 bits of HMAC-SHA256, keyed with `key`, over the parts. Something that
 * must exist once is created by one append to the stream of its id, with "no stream" expected.
 */
export function derivedId(key: string, parts: readonly string[]): string {
  // JSON keeps the parts apart whatever characters they contain.
  const digest = createHmac('sha256', key).update(JSON.stringify(parts)).digest();
  return base32crockford.encode(Buffer.concat([leadingZeros, digest.subarray(0, 16)])).slice(-26);
}
