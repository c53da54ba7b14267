/** Finds ports for the embedded servers, which keep their port when they are restarted, and those that are taken. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { codeOf } from '@ledger/kernel/reason-of.ts';
import { StartError } from './start-error.ts';

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

type Planned = { variable: string; host: string; port: number };

/**
 * Throws StartError that names the variable of a port which another program has, or another variable. Other errors are
 * left to whoever listens there.
 */
export async function assertPortsFree(planned: readonly Planned[]): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const { variable, host, port } of planned) {
      const server = createServer().listen(port, host);
      servers.push(server);
      const code = await once(server, 'listening').then(() => '', codeOf);
      if (code !== 'EADDRINUSE') continue;
      const same = planned.find((other) => other.port === port && other.variable !== variable);
      const why = same
        ? `${same.variable} and ${variable} are both ${port}`
        : `Port ${port} of ${host} is in use`;
      throw new StartError(`${why}. Set ${variable} to another port.`);
    }
  } finally {
    for (const server of servers) server.close();
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
