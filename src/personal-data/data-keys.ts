/** Encryption of personal data, and of the keys for it. AES-256-GCM throughout, with a random nonce of 96 bits. */
import { createCipheriv, createDecipheriv, hash } from 'node:crypto';
import type { Runtime } from '../kernel/runtime.ts';

export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** DATA_KEY, or one that it replaced: the blocks of data keys are encrypted under it. */
export type WrappingKey = { id: string; key: Buffer };

export type WrappingKeys = { current: WrappingKey; all: ReadonlyMap<string, WrappingKey> };

/** `current` and `previous` are 32 bytes each, in base64, as in DATA_KEY and DATA_KEY_PREVIOUS. */
export function wrappingKeys(current: string, previous: readonly string[]): WrappingKeys {
  const [first, ...others] = [current, ...previous].map(wrappingKey);
  if (!first) throw new Error('There is no wrapping key');
  return { current: first, all: new Map([first, ...others].map((each) => [each.id, each])) };
}

/** The id is derived from the key: 32 bits of a digest, from which the key cannot be found. */
function wrappingKey(base64: string): WrappingKey {
  const key = Buffer.from(base64, 'base64');
  if (key.length !== keyBytes) throw new Error('A data key must have 32 bytes');
  const digest = hash('sha256', Buffer.concat([Buffer.from('payment ledger, id of a data key'), key]), 'hex');
  return { id: digest.slice(0, 8), key };
}

/** Nonce, ciphertext and tag. `place` is authenticated and not stored: decryption needs the same. */
export function encrypt(
  key: Buffer,
  plain: Buffer,
  place: string,
  runtime: Pick<Runtime, 'randomBytes'>,
): Buffer {
  const nonce = runtime.randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  const body = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, body, cipher.getAuthTag()]);
}

/** Throws Error when the key or the place is another, or a byte was changed. */
export function decrypt(key: Buffer, sealed: Buffer, place: string): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('A sealed value is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(-tagBytes));
  const plain = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
  decipher.final();
  return plain;
}
