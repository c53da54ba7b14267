// A merchant's server, real down to the socket: tests say how it answers and see what it was sent.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export type Received = {
  atMs: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
};

export type Answer = (response: ServerResponse, received: Received) => void;

export type Receiver = {
  url: string;
  /** Scheme, host and port. */
  origin: string;
  received: Received[];
  /** How it answers from now on. */
  answer: Answer;
};

export const ok: Answer = (response) => response.end('ok');
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end('no');
export const hang: Answer = () => undefined;

/** Starts a receiver on a port of its own; it ends with the test, whatever hangs on it. */
export async function startReceiver(
  t: Pick<ExecutionContext, 'teardown'>,
  answer: Answer = ok,
): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { url = '', headers } = request;
    const received = { atMs: performance.now(), path: url, headers, body };
    receiver.received.push(received);
    receiver.answer(response, received);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: Receiver = { url: `${origin}/callback`, origin, received: [], answer };
  t.teardown(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return receiver;
}

/** Answers only once it is let go. */
export function held(): { answer: Answer; release(): void } {
  const waiting: (() => void)[] = [];
  return {
    answer: (response) => void waiting.push(() => response.end()),
    release: () => {
      for (const answerNow of waiting.splice(0)) answerNow();
    },
  };
}
