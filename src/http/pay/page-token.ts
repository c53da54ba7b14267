/** Tokens by which a page or a link proves that this service made it recently, for one payment and with one number. */
import { knownForMs } from '@ledger/event-store/known-heads.ts';
import { createExpiringSignatures } from '@ledger/kernel/expiring-signature.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { LinkKeys } from '../../common/link-keys.ts';

const form = /^(\d{1,9})\.(.*)$/;

type Dependencies = { linkKeys: LinkKeys; runtime: Pick<Runtime, 'now'> };

export type PageTokens = ReturnType<typeof createTokens>;

/** For the form of the payment page; the number is the attempt that the page starts. */
export const createPageTokens = (dependencies: Dependencies): PageTokens =>
  createTokens('payment page token', 60 * 60 * 1000, dependencies);

/** For the button that sends the receipt again; the number is how often it was tried, so that a token serves once. */
export const createEmailTokens = (dependencies: Dependencies): PageTokens =>
  createTokens('receipt email token', 60 * 60 * 1000, dependencies);

/**
 * For a redirect after a write; the number is the revision that was written. It expires when the head of a stream would
 * not count as known any more: from then on the page reads the stream.
 */
export const createRevisionTokens = (dependencies: Dependencies): PageTokens =>
  createTokens('revision of a payment', knownForMs, dependencies);

function createTokens(use: string, lifetimeMs: number, { linkKeys, runtime }: Dependencies) {
  const signatures = createExpiringSignatures(linkKeys, use);
  return {
    issue(transactionId: string, number: number): string {
      const expiresAtMs = runtime.now().getTime() + lifetimeMs;
      return `${number}.${signatures.sign(`${transactionId}.${number}`, expiresAtMs)}`;
    },
    /** The number of a token, or why the token is invalid. */
    read(token: string, transactionId: string): { number: number } | 'expired' | 'invalid' {
      const [, number = '', signature = ''] = form.exec(token) ?? [];
      const checked = signatures.check(signature, `${transactionId}.${number}`, runtime.now());
      return checked === 'valid' ? { number: Number(number) } : checked;
    },
  };
}
