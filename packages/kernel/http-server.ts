/** How an HTTP server begins to listen, and how it ends without breaking off what it has begun. */
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { codeOf, reasonOf } from './reason-of.ts';
import type { Runtime } from './runtime.ts';

const noSuchAddress = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL'];

/** Why a server does not listen, with the variable that names its address if this machine has no such address yet. */
export function namingHost(error: unknown, variable: string): unknown {
  if (error instanceof Error && noSuchAddress.includes(codeOf(error)))
    error.message = `${variable} must be an address of this machine: ${reasonOf(error)}`;
  return error;
}

/**
 * Ends the server when it is called: requests that have begun are answered within `withinMs`, and each connection ends
 * with its last answer, which says so. A proxy would otherwise send the next request on a connection that is being closed.
 * Connections that wait for a request end after `idleMs` and the last answer. By then a proxy has noticed that no new ones are
 * taken; until then it may be sending a request.
 */
export function createDrain(server: Server, runtime: Pick<Runtime, 'setTimer'>) {
  /** The last answer of each connection: a client may send several requests without waiting for the first answer. */
  const underWay = new Map<Socket, ServerResponse>();
  let isEnding = false;
  let isIdleOver = false;
  const endWithAnswer = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  const closeIfDone = () => {
    if (isIdleOver && underWay.size === 0) server.close();
  };
  server.on('request', ({ socket }, response) => {
    const before = underWay.get(socket);
    underWay.set(socket, response);
    response.once('close', () => {
      if (underWay.get(socket) === response) underWay.delete(socket);
      closeIfDone();
    });
    if (!isEnding) return;
    if (before?.headersSent === false) before.removeHeader('Connection');
    endWithAnswer(response);
  });
  return async (withinMs: number, idleMs = 0): Promise<void> => {
    const closed = once(server, 'close');
    isEnding = true;
    for (const response of underWay.values()) endWithAnswer(response);
    // If the headers of an answer have left, its connection ends soon after it.
    server.keepAliveTimeout = 1;
    // No new connections. `close` of an HTTP server would break off an answer that is complete and has not left yet.
    NetServer.prototype.close.call(server);
    const cancelIdle = runtime.setTimer(idleMs, () => {
      isIdleOver = true;
      closeIfDone();
    });
    const cancelAll = runtime.setTimer(withinMs, () => server.closeAllConnections());
    await closed;
    cancelIdle();
    cancelAll();
  };
}
