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
    const server = await listen(port, '127.0.0.1');
    if (!server) continue;
    server.close();
    await once(server, 'close');
    return port;
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
      const server = await listen(port, host).catch(() => undefined);
      if (server) servers.push(server);
      if (server !== null) continue;
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

/** Null if the port is in use. Throws any other error, such as that of too many open files. */
async function listen(port: number, host: string): Promise<Server | null> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return null;
    throw error;
  }
}
