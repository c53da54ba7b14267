/** Gives every request an id, and a line in the log when it is answered: no body, no query, no full path. */
import { inSpan } from '@ledger/kernel/tracing.ts';
import type { Next } from 'koa';
import type { Context } from './context.ts';
import type { Dependencies } from './dependencies.ts';
import { isInDoubt, sourceAddress } from './source-address.ts';

/** An id that a caller may send: it can contain nothing that would break a log line or a header. */
const requestIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** An id in a path opens its page: this much of it is enough to find a payment, and too little to open one. */
const shownIdLength = 6;

/** Koa middleware; accepts the caller's X-Request-Id when it has the form of an id. */
export function createRequestLog({ config: { trustedProxies }, countRequest, log, runtime }: Dependencies) {
  let isTold = false;
  return async (ctx: Context, next: Next): Promise<void> => {
    const startedMs = runtime.monotonicMs();
    const given = ctx.get('X-Request-Id');
    const requestId = requestIdPattern.test(given) ? given : runtime.uuid();
    ctx.state.requestId = requestId;
    ctx.state.newId = runtime.uuid;
    ctx.state.address = sourceAddress(ctx);
    if (!isTold && isInDoubt(ctx, trustedProxies)) {
      isTold = true;
      log.warn({ trustedProxies }, 'TRUSTED_PROXIES does not fit the proxies that a request has passed');
    }
    ctx.set('X-Request-Id', requestId);
    const about = { 'http.request.method': ctx.method, 'ledger.correlation_id': requestId };
    try {
      await inSpan(
        'request',
        about,
        async (note) => {
          await next();
          note({ 'http.route': String(ctx._matchedRoute ?? ''), 'http.response.status_code': ctx.status });
        },
        ctx.headers,
      );
    } finally {
      const durationMs = runtime.monotonicMs() - startedMs;
      const { _matchedRoute: route = null, method, status } = ctx;
      countRequest?.({ method, route: route && String(route), status, durationMs });
      log.info(
        {
          requestId,
          address: ctx.state.address,
          method: ctx.method,
          route: ctx._matchedRoute,
          id: ctx.params?.id?.slice(0, shownIdLength),
          ...ctx.state.logFields,
          status: ctx.status,
          durationMs: Math.round(durationMs),
        },
        'request',
      );
    }
  };
}
