/** Posts to addresses that other people chose. They cannot reach our own network, and every request has its limits. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import got, { type PlainResponse, RequestError, type Request as Stream, TimeoutError } from 'got';
import { AddressRefused, checkUrl, createGuardedLookup, type Resolve } from './address-guard.ts';
import outbound from './outbound.json' with { type: 'json' };

/** The receiver did not answer; the message says why in a few words, without the address. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  /** False: there was no connection, so nothing of the request can have arrived. */
  readonly wasConnected: boolean;
  constructor(message: string, wasConnected: boolean) {
    super(message);
    this.wasConnected = wasConnected;
  }
}

export type OutboundAnswer = {
  status: number;
  /** The header Retry-After; `''` where there is none. */
  retryAfter: string;
  /** UTF-8 without a byte order mark, at most 64 KiB; incomplete where the answer broke off. */
  body: string;
  /** Whether it was sent twice, because a kept connection was closed: the first may have arrived. */
  isRepeat: boolean;
};

export function isSuccess({ status }: Pick<OutboundAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

export type PostOutbound = (request: {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal;
}) => Promise<OutboundAnswer>;

const reasons: Readonly<Record<string, string>> = outbound.reasons;

const maxBodyBytes = 64 * 1024;
/** Of interim answers (1xx). HTTP sets no limit, and one receiver could send them fast enough to keep this process busy. */
const maxInterimAnswers = 20;
/** How long a connection serves new requests. After that, the name of the receiver may have another address. */
const keptForMs = 4_000;

/**
 * Makes the function that posts. `allowHosts` may be in our own network; all other hosts need a public address, and
 * https where `httpsOnly` is set. The function throws AddressRefused and NoAnswer. Redirects are not followed.
 */
export function createOutbound(options: {
  allowHosts: readonly string[];
  httpsOnly: boolean;
  runtime: Pick<Runtime, 'monotonicMs' | 'setTimer'>;
  connectTimeoutMs?: number;
  /** For the request and its answer. */
  timeoutMs?: number;
  /** How long the body is read after the status is known: closing at once would make some servers abort their work. */
  bodyTimeoutMs?: number;
  resolve?: Resolve;
}): PostOutbound {
  const { runtime, connectTimeoutMs = 10_000, timeoutMs = 30_000, bodyTimeoutMs = 5_000 } = options;
  const allowed = new Set(options.allowHosts);
  const client = got.extend({
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    // Called for each new connection.
    dnsLookup: createGuardedLookup(allowed, options.resolve),
    timeout: {
      lookup: connectTimeoutMs,
      connect: connectTimeoutMs,
      secureConnect: connectTimeoutMs,
      request: timeoutMs,
    },
  });

  let kept = { agent: createAgents(true), sinceMs: runtime.monotonicMs() };
  const keptAgents = () => {
    const nowMs = runtime.monotonicMs();
    if (nowMs - kept.sinceMs >= keptForMs) kept = { agent: createAgents(true), sinceMs: nowMs };
    return kept.agent;
  };

  const send = async (
    target: URL,
    outgoing: Parameters<PostOutbound>[0],
    agent = keptAgents(),
    isRepeat = false,
  ): Promise<OutboundAnswer> => {
    const { headers, body, signal } = outgoing;
    const sentMs = runtime.monotonicMs();
    const request = client.stream.post(target, { headers: { ...headers }, body, signal, agent });
    try {
      const { statusCode, headers: answered } = await responseOf(request);
      const { 'retry-after': retryAfter = '' } = answered;
      const cancelTimer = runtime.setTimer(bodyTimeoutMs, () => request.destroy());
      const body = await readBody(request).finally(cancelTimer);
      return { status: statusCode, retryAfter, body, isRepeat };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // The receiver has closed a connection that was idle. If it did read the request, it gets the same one again. One that
      // it has had for seconds was read: the attempt has failed, and is recorded before the next one.
      const isIdle = request.reusedSocket && runtime.monotonicMs() - sentMs < keptForMs;
      if (isIdle && closed.has(error.code)) return await send(target, outgoing, createAgents(false), true);
      throw asOutboundError(error, target, isRepeat);
    }
  };

  return async (request) => {
    const target = new URL(request.url);
    checkUrl(target, allowed, options.httpsOnly);
    return await send(target, request);
  };
}

const closed = new Set(['ECONNRESET', 'EPIPE']);

function createAgents(keepAlive: boolean) {
  // `timeout` is how long a connection may be idle.
  const settings = { keepAlive, timeout: keptForMs, maxFreeSockets: 8 };
  return { http: new HttpAgent(settings), https: new HttpsAgent(settings) };
}

/**
 * The answer to a stream of got as soon as its status is known. Rejects with a RequestError if there is none, caused by
 * NoAnswer if only interim answers came.
 */
export function responseOf(request: Stream): Promise<PlainResponse> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Kept, because an error after the status is known changes nothing, but unhandled it would end the process.
    request.on('error', reject);
    let interimAnswers = 0;
    const countInterim = () => {
      interimAnswers += 1;
      if (interimAnswers > maxInterimAnswers) request.destroy(new NoAnswer('only interim answers', true));
    };
    request.on('continue', countInterim).on('information', countInterim);
  });
}

async function readBody(request: Stream): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBodyBytes) break;
    }
  } catch {
    // The connection broke: the status still counts.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBodyBytes));
}

function asOutboundError(error: RequestError, { protocol }: URL, isRepeat: boolean): Error {
  if (error.cause instanceof AddressRefused || error.cause instanceof NoAnswer) return error.cause;
  const connect = protocol === 'https:' ? 'secureConnect' : 'connect';
  const wasConnected = isRepeat || error.timings?.[connect] !== undefined;
  if (error instanceof TimeoutError)
    return new NoAnswer(wasConnected ? 'no answer in time' : 'no connection in time', wasConnected);
  const { syscall = '' } = Object(error.cause) as { syscall?: string };
  // The name server refused the connection, and nothing is known of the receiver.
  const code = error.code === 'ECONNREFUSED' && syscall.startsWith('query') ? 'ESERVFAIL' : error.code;
  return new NoAnswer(reasons[code] ?? `no answer (${code})`, wasConnected);
}
