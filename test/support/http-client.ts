// Sends requests: proper ones with Node's client, anything else as bytes on a connection.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export type Call = { method: string; path: string; headers: Record<string, string>; body?: string | Buffer };
export type Answer = { status: number; headers: Record<string, unknown>; body: string; tookMs: number };

/** After this time an answer counts as missing. */
const neverMs = 60_000;

/** Rejects if there is no answer. Not with fetch, which sends no body with GET. */
export async function send(url: string, { method, path, headers, body }: Call): Promise<Answer> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const startedAt = performance.now();
  const outgoing = request(url, {
    // As it is: a URL would resolve the dots in it.
    path,
    // A connection of its own: one that is kept may be closed in the moment in which the next request is sent.
    agent: false,
    method: method.toUpperCase(),
    headers: { ...headers, ...length },
    signal: AbortSignal.timeout(neverMs),
  }).end(body);
  const [incoming] = await once(outgoing, 'response');
  const answer = { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
  return { ...answer, tookMs: performance.now() - startedAt };
}

export type Bytes = {
  parts: readonly (string | Buffer)[];
  /** Between two parts. */
  pauseMs?: number;
  /** `cut`: the connection is destroyed without waiting. `half`: nothing more is sent. */
  end?: 'cut' | 'half';
  /** How many answers there must be, unless the connection is closed before; 1 if it is not given. */
  answers?: number;
};

/** Resolves when all answers have begun or the connection is closed. Rejects if neither happens. */
export async function exchange(port: number, bytes: Bytes): Promise<{ statuses: number[]; tookMs: number }> {
  const { parts, pauseMs = 0, end, answers = 1 } = bytes;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  const statuses = () =>
    Array.from(received.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z][\w' -]*\r\n/g), ([, status]) => Number(status));
  const { promise: done, resolve } = Promise.withResolvers<void>();
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk;
    if (statuses().filter((status) => status >= 200).length >= answers) resolve();
  });
  // A reset is a way to refuse what is no HTTP.
  for (const over of ['error', 'end', 'close']) socket.on(over, () => resolve());
  let startedAt = performance.now();
  for (const part of parts) {
    socket.write(part, 'latin1');
    if (pauseMs > 0) await sleep(pauseMs);
  }
  if (pauseMs > 0) startedAt = performance.now();
  if (end === 'half') socket.end();
  const never = async () => {
    await sleep(neverMs, null, { ref: false });
    throw new Error('no answer, and no end');
  };
  await (end === 'cut' ? sleep(1) : Promise.race([done, never()]));
  socket.destroy();
  return { statuses: statuses(), tookMs: performance.now() - startedAt };
}
