/** Signatures that expire: proof that this service said something, for one use alone, and not too long ago. */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';

const form = /^(\d{13})\.[\w-]{43}$/;

export type ExpiringSignatures = {
  sign(said: string, expiresAtMs: number): string;
  /** Compared in constant time; `expired` only of what was truly signed. */
  check(signature: string, said: string, now: Date): 'valid' | 'expired' | 'invalid';
};

/** The key of each use is derived from TRANSACTION_ID_KEY, so that no use weakens another. */
export function createExpiringSignatures(transactionIdKey: string, use: string): ExpiringSignatures {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', transactionIdKey, '', use, 32)));
  const signed = (said: string, expiresAtMs: string) =>
    `${expiresAtMs}.${createHmac('sha256', key).update(`${said}.${expiresAtMs}`).digest('base64url')}`;
  return {
    sign: (said, expiresAtMs) => signed(said, String(expiresAtMs)),
    check(signature, said, now) {
      const [, expiresAtMs = ''] = form.exec(signature) ?? [];
      const right = Buffer.from(signed(said, expiresAtMs));
      const given = Buffer.from(signature);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return 'invalid';
      return now.getTime() < Number(expiresAtMs) ? 'valid' : 'expired';
    },
  };
}
