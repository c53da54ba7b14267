/** Proves that a form comes from a payment page that this service drew, for this payment, not long ago. */
import { createExpiringSignatures } from '../../kernel/expiring-signature.ts';

const lifetimeMs = 60 * 60 * 1000;
const form = /^(\d{1,4})\.(.*)$/;

export type PageTokens = {
  /** A token for the page that starts the payment's `attempt`. */
  issue(transactionId: string, attempt: number, now: Date): string;
  /** The attempt of a token, or what is wrong with it. */
  read(token: string, transactionId: string, now: Date): { attempt: number } | 'expired' | 'invalid';
};

export function createPageTokens(transactionIdKey: string): PageTokens {
  const signatures = createExpiringSignatures(transactionIdKey, 'payment page token');
  return {
    issue(transactionId, attempt, now) {
      const signature = signatures.sign(`${transactionId}.${attempt}`, now.getTime() + lifetimeMs);
      return `${attempt}.${signature}`;
    },
    read(token, transactionId, now) {
      const [, attempt = '', signature = ''] = form.exec(token) ?? [];
      const checked = signatures.check(signature, `${transactionId}.${attempt}`, now);
      return checked === 'valid' ? { attempt: Number(attempt) } : checked;
    },
  };
}
