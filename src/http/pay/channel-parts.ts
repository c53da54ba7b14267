/** What the endpoints of a channel are made of: the same for both, but for the channel. */
import type { Channel } from '../../events/payment.ts';
import { createLinks } from '../../receipts/payment-links.ts';
import type { PayDependencies } from './dependencies.ts';
import { createPageTokens } from './page-token.ts';
import { createPayerPages } from './pages.ts';
import { createReadPayment } from './read-payment.ts';
import { createStartPayment } from './start-payment.ts';

export function createChannelParts(channel: Channel, dependencies: PayDependencies) {
  const { config, runtime } = dependencies;
  const clock = runtime.now;
  const links = createLinks({ ...config, runtime })[channel];
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
