/** What the endpoints of a channel are made of: the same for both, but for the channel. */
import type { Quarantine } from '../../commands/unmatched.ts';
import type { Channel } from '../../events/payment.ts';
import { createLinks } from '../../receipts/payment-links.ts';
import type { Dependencies } from '../dependencies.ts';
import { createPageTokens } from './page-token.ts';
import { createPayerPages } from './pages.ts';
import { createReadPayment } from './read-payment.ts';
import { createStartPayment } from './start-payment.ts';

export type ChannelDependencies = Dependencies & { quarantine: Quarantine };

export function createChannelParts(channel: Channel, dependencies: ChannelDependencies) {
  const { config, clock = () => new Date() } = dependencies;
  const links = createLinks({ ...config, runtime: { now: clock } })[channel];
  const tokens = createPageTokens(config.transactionIdKey);
  const pages = createPayerPages({ config, links, tokens, clock });
  return {
    ...dependencies,
    channel,
    clock,
    links,
    tokens,
    pages,
    readPayment: createReadPayment(channel, dependencies),
    startPayment: createStartPayment({ ...dependencies, links, pages }),
  };
}
