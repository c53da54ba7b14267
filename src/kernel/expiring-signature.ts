/** Signatures that expire: proof that this service issued a text for one use, and not too long ago. */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';

const form = /^(\d{13})\.[\w-]{43}$/;

/** When a signature that is valid ends, in milliseconds since 1970. */
export const endOf = (signature: string) => Number.parseInt(signature, 10);

type ExpiringSignatures = {
  sign(text: string, expiresAtMs: number): string;
  /** Compared in constant time; `expired` only when the signature is genuine. */
  check(signature: string, text: string, now: Date): 'valid' | 'expired' | 'invalid';
};

/** The key of each use is derived from TRANSACTION_ID_KEY, so that no use weakens another. */
export function createExpiringSignatures(transactionIdKey: string, use: string): ExpiringSignatures {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', transactionIdKey, '', use, 32)));
  const signed = (text: string, expiresAtMs: string) =>
    `${expiresAtMs}.${createHmac('sha256', key).update(`${text}.${expiresAtMs}`).digest('base64url')}`;
  return {
    sign: (text, expiresAtMs) => signed(text, String(expiresAtMs)),
    check(signature, text, now) {
      const [, expiresAtMs = ''] = form.exec(signature) ?? [];
      const right = Buffer.from(signed(text, expiresAtMs));
      const given = Buffer.from(signature);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return 'invalid';
      return now.getTime() < Number(expiresAtMs) ? 'valid' : 'expired';
    },
  };
}
