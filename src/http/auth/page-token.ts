/** Proves that a form comes from a payment page that this service drew, for this payment, not long ago. */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';

const lifetimeMs = 60 * 60 * 1000;
const form = /^(\d{1,4})\.(\d{13})\.([\w-]{43})$/;

export type PageTokens = {
  /** A token for the page that starts the payment's `attempt`. */
  issue(transactionId: string, attempt: number, now: Date): string;
  /** The attempt of a token, or what is wrong with it. */
  read(token: string, transactionId: string, now: Date): { attempt: number } | 'expired' | 'invalid';
};

/** The key is derived from TRANSACTION_ID_KEY, so that neither use weakens the other. */
export function createPageTokens(transactionIdKey: string): PageTokens {
  const derived = hkdfSync('sha256', transactionIdKey, '', 'payment page token', 32);
  const key = createSecretKey(new Uint8Array(derived));
  const sign = (transactionId: string, attempt: string, expiresAtMs: string) =>
    createHmac('sha256', key).update(`${transactionId}.${attempt}.${expiresAtMs}`).digest();
  return {
    issue(transactionId, attempt, now) {
      const expiresAtMs = String(now.getTime() + lifetimeMs);
      const signature = sign(transactionId, String(attempt), expiresAtMs);
      return `${attempt}.${expiresAtMs}.${signature.toString('base64url')}`;
    },
    read(token, transactionId, now) {
      const [, attempt = '', expiresAtMs = '', signature = ''] = form.exec(token) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const right = sign(transactionId, attempt, expiresAtMs);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return 'invalid';
      return now.getTime() < Number(expiresAtMs) ? { attempt: Number(attempt) } : 'expired';
    },
  };
}
