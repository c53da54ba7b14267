/** Ids that are derived, not drawn: the same parts give the same id, and nobody without the key can guess one. */
import { createHmac } from 'node:crypto';

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export const derivedIdPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/**
 * 26 characters of Crockford base32: the first 128 bits of HMAC-SHA256, keyed with TRANSACTION_ID_KEY, over the
 * parts. What must be there only once is created by one append to the stream of its id, with "no stream" expected.
 */
export function derivedId(key: string, parts: readonly string[]): string {
  // JSON keeps the parts apart whatever characters they contain.
  const digest = createHmac('sha256', key).update(JSON.stringify(parts)).digest();
  let bits = BigInt(`0x${digest.subarray(0, 16).toString('hex')}`);
  let id = '';
  for (let place = 0; place < 26; place += 1) {
    id = crockford.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return id;
}
