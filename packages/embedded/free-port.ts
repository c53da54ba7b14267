/** Finds ports for the embedded servers, which keep their port when they are restarted. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Below those that systems give to connections: one of these could have the port while its server restarts. */
const [lowest, highest] = [20_000, 32_767];

/** A TCP port of 127.0.0.1 that is free at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    // The system chooses at random, among other ports.
    const chosen = await listenOnce(0);
    const port = lowest + (chosen % (highest - lowest + 1));
    const isFree = await listenOnce(port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
}

/** Listens for a moment and gives the port. Rejects if it is taken. */
async function listenOnce(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
