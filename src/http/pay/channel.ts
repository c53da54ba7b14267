/** What the steps of a payment channel have in common; its routes.ts puts the steps in order. */
import { createFingerprint } from '@ledger/personal-data/fingerprint.ts';
import type { Next } from 'koa';
import { createQuarantine } from '../../commands/unmatched.ts';
import type { Channel } from '../../events/payment.ts';
import { createLinks } from '../../receipts/payment-links.ts';
import type { Context } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createReceiptRedirect } from './lead-to-receipt.ts';
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
    /** Who asked for each requery that is under way. */
    callers: [] as string[],
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
