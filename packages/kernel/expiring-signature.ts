/** Signatures that expire: proof that this service issued a text for one use, and not too long ago. */
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { isSameText } from './same-text.ts';

const form = /^(\d{13})\.[\w-]{43}$/;

/** When a signature that is valid ends, in milliseconds since 1970. */
export const endOf = (signature: string) => Number.parseInt(signature, 10);

/** Each is a secret text. */
export type SigningKeys = {
  /** The key that signs. */
  current: string;
  /** Keys under which a signature is accepted as well. */
  others: readonly string[];
};

/** The keys of each use are derived from `keys`, so that no use weakens another. */
export function createExpiringSignatures(keys: SigningKeys, use: string) {
  const derive = (key: string) => createSecretKey(Buffer.from(hkdfSync('sha256', key, '', use, 32)));
  const current = derive(keys.current);
  const accepted = [current, ...keys.others.map(derive)];
  const signed = (text: string, expiresAtMs: string, key: KeyObject) =>
    `${expiresAtMs}.${createHmac('sha256', key).update(`${text}.${expiresAtMs}`).digest('base64url')}`;
  return {
    sign: (text: string, expiresAtMs: number) => signed(text, String(expiresAtMs), current),
    /** Compared in constant time; `expired` only when the signature is genuine. */
    check(signature: string, text: string, now: Date): 'valid' | 'expired' | 'invalid' {
      const [, expiresAtMs = ''] = form.exec(signature) ?? [];
      if (!accepted.some((key) => isSameText(signature, signed(text, expiresAtMs, key)))) return 'invalid';
      return now.getTime() < Number(expiresAtMs) ? 'valid' : 'expired';
    },
  };
}
