/**
 * A payment gateway for trying things out, with its transaction registry: takes orders, shows a bank's page, and reports
 * what the payer chose there through the payer's browser and from its own server, as real gateways do. On the same port
 * are those who hear of payments: a merchant, a mailbox, a land registry. They know the service only by its wire.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createApp, isLoopback } from './app.ts';
import { openOrders } from './orders.ts';
import { openRegistrations } from './registrations.ts';
import { createServerPosts } from './server-posts.ts';

/** How long `close` waits for requests that are being answered. */
const drainMs = 1_000;

/**
 * Starts the gateway on a loopback `host` and `port` (0: any free one), its books in the SQLite `file`, and takes up
 * posts that an earlier run left due. `secret` is the one shared with the service. `registryToken` is what the service
 * shows the transaction registry, which is under `/registry`, and the land registry, which takes callbacks at
 * `/land-registry/callback`; `outboxDir` has the emails for `/mailbox`. Throws when the host is not loopback, the secret
 * empty, the port taken or the file unusable.
 */
export async function startSandboxGateway(options: {
  host: string;
  port: number;
  secret: string;
  registryToken: string;
  outboxDir: string;
  file: string;
  log: Logger;
}): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const { host, secret, log } = options;
  if (!isLoopback(host)) throw new Error(`The sandbox gateway listens on loopback only, not on ${host}`);
  if (secret === '') throw new Error('The sandbox gateway needs a secret to sign its results');

  const orders = openOrders(options.file);
  const registrations = openRegistrations(options.file);
  const closeBooks = () => {
    orders.close();
    registrations.close();
  };
  const serverPosts = createServerPosts({ orders, secret, log });
  const server = createServer(createApp({ ...options, orders, registrations, serverPosts }).callback());
  server.listen(options.port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    closeBooks();
    throw error;
  }
  for (const order of orders.withDueResults()) serverPosts.start(order);

  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      const impatience = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(impatience);
      await serverPosts.close();
      closeBooks();
    },
  };
}
