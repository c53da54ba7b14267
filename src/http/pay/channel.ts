/** What the steps of a payment channel have in common; its routes.ts puts the steps in order. */
import type { ExpectedRevision } from '@ledger/event-store/event-store.ts';
import { knownForMs } from '@ledger/event-store/known-heads.ts';
import type { Next } from 'koa';
import { createFingerprint } from '../../commands/fingerprint.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import { createQuarantine } from '../../commands/unmatched.ts';
import type { Channel } from '../../events/payment.ts';
import { createLinks, type Links } from '../../receipts/payment-links.ts';
import { type Context, seeOther } from '../server/context.ts';
import { createCookie } from '../server/cookie.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createReadPayment } from './load-payment.ts';
import { createPageTokens } from './page-token.ts';

/** Every step receives all of it and names the few things that it uses. */
export type PaymentChannel = ReturnType<typeof createChannel>;

export function createChannel(channel: Channel, dependencies: Dependencies) {
  const { config, eventStore, personalData, runtime } = dependencies;
  const links = createLinks({ ...config, runtime })[channel];
  const fingerprint = createFingerprint(config.transactionIdKey);
  return {
    ...dependencies,
    ...createReceiptRedirect(dependencies, links),
    channel,
    links,
    fingerprint,
    quarantine: createQuarantine({ eventStore, seal: personalData.seal, fingerprint }),
    readPayment: createReadPayment(channel, dependencies),
    tokens: createPageTokens('payment page token', { ...config, runtime }),
    emailTokens: createPageTokens('receipt email token', { ...config, runtime }),
  };
}

/** A step as Koa middleware. */
export const stepsOf =
  (channel: PaymentChannel) =>
  <State, Result>(step: (ctx: Context<State>, channel: PaymentChannel, next: Next) => Result) =>
  (ctx: Context<State>, next: Next): Result =>
    step(ctx, channel, next);

/** The redirect sets a signed cookie with the revision that was written: for a few seconds, pages show at least that. */
function createReceiptRedirect({ config, runtime }: Dependencies, links: Links) {
  const tokens = createPageTokens('revision of a payment', { ...config, runtime });
  const cookieOf = (transactionId: string) => createCookie(config.baseUrl, `written-${transactionId}`, '/');
  return {
    /** `endsAtMs`: of the link to this receipt that the request was made with, if it was. */
    leadToReceipt(ctx: Context, transactionId: string, revision: ExpectedRevision, endsAtMs?: number): void {
      if (revision !== 'no_stream')
        cookieOf(transactionId).set(ctx, tokens.issue(transactionId, revision), knownForMs / 1000);
      seeOther(ctx, links.receipt(transactionId, undefined, endsAtMs));
    },

    toldOf(ctx: Context, transactionId: string): number | null {
      if (!transactionIdPattern.test(transactionId)) return null;
      const read = tokens.read(cookieOf(transactionId).read(ctx), transactionId);
      return typeof read === 'object' ? read.number : null;
    },
  };
}
