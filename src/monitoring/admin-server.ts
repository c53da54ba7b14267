/** The admin port of a process, for whoever watches it: /livez, /readyz and /metrics. Never reachable for the public. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../kernel/log.ts';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import type { Look } from './look.ts';
import type { Metrics } from './metrics.ts';

type Dependencies = {
  host: string;
  port: number;
  /** Where the port is taken, another one is used. */
  anyPort: boolean;
  look(): Promise<Look>;
  /** Why the process cannot do its work; none if it can. */
  reasonsOf(look: Look): readonly string[];
  metrics: Pick<Metrics, 'contentType' | 'text'>;
  about: { role: string; version: string };
  log: Log;
};

/** Resolves when it listens. It does not keep the process from ending. */
export async function startAdminServer(dependencies: Dependencies) {
  const { host, port, anyPort, look, reasonsOf, metrics, about, log } = dependencies;

  async function answer(path: string, response: ServerResponse): Promise<void> {
    if (path === '/livez') return send(response, 200, 'text/plain', 'alive\n');
    if (path === '/metrics') return send(response, 200, metrics.contentType, await metrics.text());
    if (path !== '/readyz')
      return send(response, 404, 'text/plain', 'Here are /livez, /readyz and /metrics\n');
    const { status: health, at, ...found } = await look();
    const reasons = reasonsOf({ status: health, at, ...found });
    const isReady = reasons.length === 0;
    const timestamp = toIsoWithOffset(at.toISOString());
    const body = { status: isReady ? 'ready' : 'not ready', reasons, ...about, timestamp, health, ...found };
    send(response, isReady ? 200 : 503, 'application/json', `${JSON.stringify(body)}\n`);
  }

  const server = createServer((request, response) => {
    answer(request.url?.split('?', 1)[0] ?? '', response).catch((error) => {
      log.warn({ reason: reasonOf(error) }, 'the admin port could not answer');
      response.destroy();
    });
  });
  server.unref();
  const listen = (chosen: number) => once(server.listen(chosen, host), 'listening');
  await listen(port).catch((error: unknown) => {
    if (!anyPort || Reflect.get(Object(error), 'code') !== 'EADDRINUSE') throw error;
    return listen(0);
  });
  const listening = server.address() as AddressInfo;
  log.info({ address: `http://${host}:${listening.port}` }, 'admin port listening');
  return {
    port: listening.port,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}
