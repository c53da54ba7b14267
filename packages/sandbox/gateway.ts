/**
 * A payment gateway for development, with its transaction registry. Like a real gateway it accepts orders, shows a
 * bank's page, and reports what the payer chose, both through the payer's browser and from its own server. A merchant,
 * a mailbox and a land registry run on the same port and receive what the service sends. All use only its interfaces.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { openDatabase } from './database.ts';
import { createOrders } from './orders.ts';
import { createRegistrations } from './registrations.ts';
import { createServerPosts } from './server-posts.ts';

/** How long `close` waits for requests in progress. */
const drainMs = 1_000;

/**
 * Starts the gateway on `port` of 127.0.0.1 (0: any free port), with its data in the SQLite `file`, and resumes posts that
 * an earlier run left due. `secret` is shared with the service. `registryToken` authenticates the service at the
 * transaction registry, under `/registry`, and at the land registry, which takes callbacks at `/land-registry/callback`.
 * Callbacks at `/merchant/callback` are checked with `webhookSecrets`. `outboxDir` holds the emails for `/mailbox`. Throws
 * if the port is taken or the file cannot be used.
 */
export async function startSandboxGateway(options: {
  port: number;
  secret: string;
  registryToken: string;
  webhookSecrets: readonly string[];
  outboxDir: string;
  file: string;
  log: Logger;
}): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const { secret, log } = options;
  const database = openDatabase(options.file);
  const orders = createOrders(database);
  const registrations = createRegistrations(database);
  const serverPosts = createServerPosts({ orders, secret, log });
  const server = createServer(createApp({ ...options, orders, registrations, serverPosts }).callback());
  server.listen(options.port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    database.close();
    throw error;
  }
  for (const order of orders.withDueResults()) serverPosts.start(order);

  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      const impatience = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(impatience);
      await serverPosts.close();
      database.close();
    },
  };
}
