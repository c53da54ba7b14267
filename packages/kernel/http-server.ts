/** How an HTTP server begins to listen, and how it ends without breaking off what it has begun. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
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
 * `listener` is for the server that `drain` ends; `handle` answers its requests, and resolves when it has done all that they
 * ask for. When `drain` is called, requests that have begun are answered within `withinMs`, and each connection ends with its
 * last answer, which says so. A proxy would otherwise send the next request on a connection that is being closed.
 * Connections that wait for a request end after `idleMs` and the last answer. By then a proxy has noticed that no new ones are
 * taken; until then it may be sending a request. What clients have asked for who have left is done within `withinMs`, too.
 */
export function createDrain(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  runtime: Pick<Runtime, 'setTimer'>,
) {
  /** The last answer of each connection: a client may send several requests without waiting for the first answer. */
  const underWay = new Map<Socket, ServerResponse>();
  const begun = new Set<Promise<unknown>>();
  let isEnding = false;
  /** Set once connections that wait for a request may end. */
  let idle: Server | null = null;
  const closeIfDone = () => {
    if (underWay.size === 0) idle?.close();
  };
  const endWithAnswer = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  return {
    listener(request: IncomingMessage, response: ServerResponse): void {
      const { socket } = request;
      const before = underWay.get(socket);
      underWay.set(socket, response);
      response.once('close', () => {
        if (underWay.get(socket) === response) underWay.delete(socket);
        closeIfDone();
      });
      if (isEnding) {
        if (before?.headersSent === false) before.removeHeader('Connection');
        endWithAnswer(response);
      }
      const done = Promise.resolve(handle(request, response)).finally(() => begun.delete(done));
      begun.add(done);
    },

    async drain(server: Server, withinMs: number, idleMs = 0): Promise<void> {
      const closed = once(server, 'close');
      isEnding = true;
      for (const response of underWay.values()) endWithAnswer(response);
      // If the headers of an answer have left, its connection ends soon after it.
      server.keepAliveTimeout = 1;
      // No new connections. `close` of an HTTP server would break off an answer that is complete and has not left yet.
      NetServer.prototype.close.call(server);
      const cancelIdle = runtime.setTimer(idleMs, () => {
        idle = server;
        closeIfDone();
      });
      const late = Promise.withResolvers<void>();
      const cancelAll = runtime.setTimer(withinMs, () => {
        server.closeAllConnections();
        late.resolve();
      });
      await closed;
      cancelIdle();
      await Promise.race([Promise.allSettled(begun), late.promise]);
      cancelAll();
    },
  };
}
