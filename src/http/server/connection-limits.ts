/** What a request may cost before anybody knows who sent it. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Next } from 'koa';
import { type Context, HttpProblem } from './context.ts';

/** Each may hold a body of 64 KiB. */
const maxConnections = 2_000;
/** Node answers 431 to more. The request line with its address counts, too. */
const maxHeaderBytes = 8 * 1024;
const maxQueryBytes = 2 * 1024;
const maxQueryParameters = 50;

/** Longer than any request takes before it sends something, such as a requery that waits for the registry. */
const idleMs = 60_000;

/** Closes connections beyond `maxConnections` immediately, and any that is idle for `timeoutMs`. */
export function createLimitedServer(handle: RequestListener, timeoutMs = idleMs): Server {
  const limits = {
    // Longer than a proxy keeps a connection for its next request, usually 60 s: what it sends while the connection is
    // being closed here fails, and it may not send a POST again.
    keepAliveTimeout: 75_000,
    requestTimeout: 30_000,
    headersTimeout: 10_000,
    // Node looks for timeouts only every 30 s by default.
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: maxHeaderBytes,
  };
  const server = createServer(limits, (request, response) => {
    cutOrigin(request);
    cutLongQuery(request);
    handle(request, response);
  });
  // An expectation that nobody knows is ignored, as HTTP allows: Node would answer 417, without a line in the log.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.maxConnections = maxConnections;
  server.timeout = timeoutMs;
  return server;
}

/** A request line may name the whole URL, as for a proxy. Koa would fail on one that it cannot parse, such as `http://[`. */
function cutOrigin(request: IncomingMessage): void {
  request.url = request.url?.replace(/^[a-z][^/?]*:\/\/[^/?]*\/?/i, '/');
}

/** Requests whose query was cut off. */
const cut = new WeakSet<IncomingMessage>();

/** Before Koa sees it: Koa parses the address several times, each in time quadratic in the number of parameters. */
function cutLongQuery(request: IncomingMessage): void {
  const { url = '' } = request;
  const start = url.indexOf('?');
  const query = start < 0 ? '' : url.slice(start + 1);
  const isLong =
    query.length > maxQueryBytes || query.split('&', maxQueryParameters + 1).length > maxQueryParameters;
  if (!isLong) return;
  request.url = url.slice(0, start);
  cut.add(request);
}

/** Before the refusal, so that a client that retries immediately cannot keep the process busy. */
const refusalPauseMs = 200;

/** Koa middleware. After a pause, throws HttpProblem 400 for a long query and 415 for an encoded body. */
export function createRefuseCostly(runtime: Pick<Runtime, 'sleep'>) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const problem = costlyProblem(ctx);
    if (problem === null) return await next();
    await runtime.sleep(refusalPauseMs);
    throw problem;
  };
}

function costlyProblem(ctx: Context): HttpProblem | null {
  if (cut.has(ctx.req)) {
    const message = `The address is too long: after the question mark it may have at most ${maxQueryBytes} bytes and ${maxQueryParameters} parameters`;
    return new HttpProblem(400, message, { code: 'invalid_parameter' });
  }
  if (!['', 'identity'].includes(ctx.get('Content-Encoding')))
    return new HttpProblem(415, 'The body must not have a Content-Encoding');
  return null;
}
