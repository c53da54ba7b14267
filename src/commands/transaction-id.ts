/** A payment's id is derived, not drawn: the same request gives the same id, and nobody without the key can guess one. */
import { createHmac } from 'node:crypto';
import type { Channel } from '../events/payment.ts';

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export const transactionIdPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/**
 * 26 characters of Crockford base32: the first 128 bits of HMAC-SHA256, keyed with TRANSACTION_ID_KEY, over
 * channel, merchant code and the merchant's reference. Creating is therefore one append with "no stream"
 * expected, and requery by reference needs no look-up.
 */
export function transactionIdOf(
  key: string,
  channel: Channel,
  merchantCode: string,
  reference: string,
): string {
  // JSON keeps the parts apart whatever characters they contain.
  const digest = createHmac('sha256', key)
    .update(JSON.stringify([channel, merchantCode, reference]))
    .digest();
  let bits = BigInt(`0x${digest.subarray(0, 16).toString('hex')}`);
  let id = '';
  for (let place = 0; place < 26; place += 1) {
    id = crockford.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return id;
}
