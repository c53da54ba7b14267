/** The redirect to a receipt after a write, and what the browser remembers of it. */
import type { ExpectedRevision } from '@ledger/event-store/event-store.ts';
import { knownForMs } from '@ledger/event-store/head-cache.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { askedLanguage, type Context, seeOther } from '../server/context.ts';
import { createCookie } from '../server/cookie.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createPageTokens } from './page-token.ts';

/** The redirect sets a signed cookie with the revision that was written: for a few seconds, pages show at least that. */
export function createReceiptRedirect({ config, runtime }: Dependencies, links: Links) {
  const tokens = createPageTokens('revision of a payment', { ...config, runtime });
  const cookieOf = (transactionId: string) => createCookie(config.baseUrl, `written-${transactionId}`, '/');
  return {
    /** `endsAtMs` is the end of the link to this receipt with which the request was made, if there was one. */
    leadToReceipt(ctx: Context, transactionId: string, revision: ExpectedRevision, endsAtMs?: number): void {
      if (revision !== 'no_stream')
        cookieOf(transactionId).set(ctx, tokens.issue(transactionId, revision), knownForMs / 1000);
      seeOther(ctx, links.receipt(transactionId, askedLanguage(ctx), endsAtMs));
    },

    toldOf(ctx: Context, transactionId: string): number | null {
      if (!transactionIdPattern.test(transactionId)) return null;
      const read = tokens.read(cookieOf(transactionId).read(ctx), transactionId);
      return typeof read === 'object' ? read.number : null;
    },
  };
}
