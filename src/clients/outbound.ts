/** Posts to addresses that others chose: guarded against reaching into our own network, and bounded in every way. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP } from 'node:net';
import got, { type PlainResponse, RequestError, type Request as Stream, TimeoutError } from 'got';
import { AddressRefused, createGuardedLookup, isPublicAddress, type Resolve } from './address-guard.ts';

/** The receiver did not answer; the message says why in a few words, without the address. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

export type OutboundRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal;
};

export type OutboundAnswer = {
  status: number;
  /** The header Retry-After; `''` where there is none. */
  retryAfter: string;
};

export type PostOutbound = (request: OutboundRequest) => Promise<OutboundAnswer>;

const connectTimeoutMs = 10_000;
const totalTimeoutMs = 30_000;
/** What a receiver may still say once its status is known: hanging up at once would end some servers' work. */
const courtesyMs = 5_000;
const courtesyBytes = 64 * 1024;

/**
 * Makes the function that posts. `allowHosts` may be anywhere, also in our own network; all others need a public
 * address, and https where `httpsOnly`. The function throws AddressRefused, and NoAnswer when there was none.
 * Redirects are answers like any other: they are not followed.
 */
export function createOutbound(options: {
  allowHosts: readonly string[];
  httpsOnly: boolean;
  resolve?: Resolve;
}): PostOutbound {
  const allowed = new Set(options.allowHosts);
  const client = got.extend({
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    dnsLookup: createGuardedLookup(allowed, options.resolve),
    // A connection per request: one that is kept could lead where the name no longer points.
    agent: { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) },
    timeout: { lookup: connectTimeoutMs, connect: connectTimeoutMs, request: totalTimeoutMs },
  });

  return async ({ url, headers, body, signal }) => {
    checkUrl(new URL(url), allowed, options.httpsOnly);
    const request = client.stream.post(url, { headers: { ...headers }, body, signal });
    try {
      const { statusCode, headers: answered } = await responseOf(request);
      const { 'retry-after': retryAfter = '' } = answered;
      await hearOut(request);
      return { status: statusCode, retryAfter };
    } catch (error) {
      throw error instanceof RequestError ? meaningOf(error) : error;
    } finally {
      request.destroy();
    }
  };
}

/** No look-up is made of an address that stands in the URL itself: it is checked here. Throws AddressRefused. */
function checkUrl({ protocol, hostname }: URL, allowed: ReadonlySet<string>, httpsOnly: boolean): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isAllowed = allowed.has(host);
  if (protocol !== 'https:' && !(protocol === 'http:' && (isAllowed || !httpsOnly)))
    throw new AddressRefused('The address is not https');
  if (isIP(host) !== 0 && !isAllowed && !isPublicAddress(host))
    throw new AddressRefused('The address is not public');
}

/** Resolves once the status is known, rejects with a RequestError when there is none. */
function responseOf(request: Stream): Promise<PlainResponse> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Stays: what goes wrong after the status was heard changes nothing, but must not end the process.
    request.on('error', reject);
  });
}

async function hearOut(request: Stream): Promise<void> {
  let heardBytes = 0;
  const impatience = setTimeout(() => request.destroy(), courtesyMs);
  try {
    for await (const chunk of request) {
      heardBytes += chunk.length;
      if (heardBytes > courtesyBytes) return;
    }
  } catch {
    // Cut off in the middle: the status stands.
  } finally {
    clearTimeout(impatience);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed before an answer',
  EPIPE: 'connection closed before an answer',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'no such host',
  ENODATA: 'no such host',
  EAI_AGAIN: 'name server did not answer',
  ESERVFAIL: 'name server did not answer',
  ETIMEOUT: 'name server did not answer',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate not trusted',
  CERT_HAS_EXPIRED: 'certificate expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate of another host',
};

function meaningOf(error: RequestError): Error {
  if (error.cause instanceof AddressRefused) return error.cause;
  if (error instanceof TimeoutError)
    return new NoAnswer(error.event === 'request' ? 'no answer in time' : 'no connection in time');
  if (error.code === 'ERR_ABORTED') return new NoAnswer('given up');
  return new NoAnswer(reasons[error.code] ?? `no answer (${error.code})`);
}
