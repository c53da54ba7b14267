/** Finds ports for the embedded servers, which keep their port when they are restarted. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to connections: one of these could have the port while its server restarts. */
const [lowest, highest] = [20_000, 32_767];

/** Leaves free what goes with a port: ADMIN_PORT is PORT + 2 by default. */
const step = 5;
/** Each process begins elsewhere, so that two of them do not choose the same before they listen. */
let next = lowest + ((process.pid * 257) % (highest - lowest + 1));

/** A TCP port of 127.0.0.1 that is free at this moment, and another one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + step <= highest ? port + step : lowest;
    if (await isFree(port)) return port;
  }
}

/** Throws if it cannot be found out, because there are too many open files for example. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
