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
  let id = '';
  let held = 0;
  // 26 digits of 5 bits hold two more than the 128: the first digit begins with two zeros.
  let heldBits = 2;
  for (const byte of digest.subarray(0, 16)) {
    held = (held << 8) | byte;
    heldBits += 8;
    for (; heldBits >= 5; heldBits -= 5) id += crockford.charAt((held >> (heldBits - 5)) & 31);
  }
  return id;
}
