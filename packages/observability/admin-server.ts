/** The admin port of a process, for monitoring: /livez, /readyz and /metrics. Never reachable by the public. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

/** Resolves when it listens. It does not keep the process from ending. */
export async function startAdminServer({
  host,
  port,
  anyPort,
  readiness,
  metrics,
  onError,
}: {
  host: string;
  port: number;
  /** Where the port is taken, another one is used. */
  anyPort: boolean;
  /** Why the process cannot do its work, if it cannot, and what else is known. JSON. */
  readiness(): Promise<{ reasons: readonly string[] }>;
  metrics: Pick<Metrics, 'contentType' | 'text'>;
  onError(error: unknown): void;
}) {
  async function answer(path: string, response: ServerResponse): Promise<void> {
    if (path === '/livez') return send(response, 200, 'text/plain', 'alive\n');
    if (path === '/metrics') return send(response, 200, metrics.contentType, await metrics.text());
    if (path !== '/readyz')
      return send(response, 404, 'text/plain', 'Here are /livez, /readyz and /metrics\n');
    const found = await readiness();
    const isReady = found.reasons.length === 0;
    const body = { status: isReady ? 'ready' : 'not ready', ...found };
    send(response, isReady ? 200 : 503, 'application/json', `${JSON.stringify(body)}\n`);
  }

  const server = createServer((request, response) => {
    answer(request.url?.split('?', 1)[0] ?? '', response).catch((error) => {
      onError(error);
      response.destroy();
    });
  });
  server.unref();
  const listen = (chosen: number) => once(server.listen(chosen, host), 'listening');
  await listen(port).catch((error: unknown) => {
    if (!anyPort || Reflect.get(Object(error), 'code') !== 'EADDRINUSE') throw error;
    return listen(0);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}
