/** Proves that a form comes from a page that this service made recently for this payment. */
import { createExpiringSignatures } from '../../kernel/expiring-signature.ts';
import type { Runtime } from '../../kernel/runtime.ts';

const lifetimeMs = 60 * 60 * 1000;
const form = /^(\d{1,4})\.(.*)$/;

export type PageTokens = ReturnType<typeof createPageTokens>;

export function createPageTokens({
  transactionIdKey,
  runtime,
}: {
  transactionIdKey: string;
  runtime: Pick<Runtime, 'now'>;
}) {
  const signatures = createExpiringSignatures(transactionIdKey, 'payment page token');
  return {
    /** A token for the page that starts the payment's `attempt`. */
    issue(transactionId: string, attempt: number): string {
      const expiresAtMs = runtime.now().getTime() + lifetimeMs;
      return `${attempt}.${signatures.sign(`${transactionId}.${attempt}`, expiresAtMs)}`;
    },
    /** The attempt of a token, or why the token is invalid. */
    read(token: string, transactionId: string): { attempt: number } | 'expired' | 'invalid' {
      const [, attempt = '', signature = ''] = form.exec(token) ?? [];
      const checked = signatures.check(signature, `${transactionId}.${attempt}`, runtime.now());
      return checked === 'valid' ? { attempt: Number(attempt) } : checked;
    },
  };
}
