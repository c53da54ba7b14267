/** The redirect to a receipt after a write, and what its link says about the revision that was written. */
import type { Channel } from '../../events/payment.ts';
import type { ExpectedRevision } from '../../eventstore/event-store.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Links } from '../../receipts/payment-links.ts';
import { type Context, seeOther } from '../server/context.ts';
import { createRevisionTokens } from './page-token.ts';

export type LeadToReceipt = ReturnType<typeof createReceiptRedirect>['leadToReceipt'];

/**
 * The link carries the revision in `at`, so that the receipt shows what was just written, whichever process serves it and
 * however far its row is. The generic channel's address is documented without a query and stays so.
 */
export function createReceiptRedirect(
  channel: Channel,
  {
    config,
    links,
    runtime,
  }: { config: { transactionIdKey: string }; links: Links; runtime: Pick<Runtime, 'now'> },
) {
  const tokens = createRevisionTokens({ ...config, runtime });
  return {
    leadToReceipt(ctx: Context, transactionId: string, revision: ExpectedRevision): void {
      const url = new URL(links.receipt(transactionId));
      if (channel === 'landreg' && revision !== 'no_stream')
        url.searchParams.set('at', tokens.issue(transactionId, revision));
      seeOther(ctx, url.href);
    },

    /** The revision that a request's link proves, null if it proves none. */
    toldOf(ctx: Context, transactionId: string): number | null {
      const { at } = ctx.query;
      const read = tokens.read(typeof at === 'string' ? at : '', transactionId);
      return typeof read === 'object' ? read.number : null;
    },
  };
}
