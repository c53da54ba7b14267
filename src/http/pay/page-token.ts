/** Tokens by which a page or a link proves that this service made it recently, for one payment and with one number. */
import { knownForMs } from '@ledger/event-store/head-cache.ts';
import { createExpiringSignatures } from '@ledger/kernel/expiring-signature.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { LinkKeys } from '../../common/link-keys.ts';

const lifetimesMs = {
  /** For the form of the payment page; the number is the attempt that the page starts. */
  'payment page token': 60 * 60 * 1000,
  /** For the button that sends the receipt again; the number is how often it was tried, so that a token serves once. */
  'receipt email token': 60 * 60 * 1000,
  /** For a redirect after a write; the number is the revision that was written. After this time the page reads the stream. */
  'revision of a payment': knownForMs,
};

const form = /^(\d{1,9})\.(.*)$/;

export function createPageTokens(
  use: keyof typeof lifetimesMs,
  { linkKeys, runtime }: { linkKeys: LinkKeys; runtime: Pick<Runtime, 'now'> },
) {
  const signatures = createExpiringSignatures(linkKeys, use);
  return {
    issue(transactionId: string, number: number): string {
      const expiresAtMs = runtime.now().getTime() + lifetimesMs[use];
      return `${number}.${signatures.sign(`${transactionId}.${number}`, expiresAtMs)}`;
    },
    read(token: string, transactionId: string): { number: number } | 'expired' | 'invalid' {
      const [, number = '', signature = ''] = form.exec(token) ?? [];
      const checked = signatures.check(signature, `${transactionId}.${number}`, runtime.now());
      return checked === 'valid' ? { number: Number(number) } : checked;
    },
  };
}
