/** Gives every request an id, and a line in the log when it is answered: no body, no query, no full path. */
import { randomUUID } from 'node:crypto';
import type { Next } from 'koa';
import type { Log } from '../../kernel/log.ts';
import type { Context } from './context.ts';

/** An id that a caller may bring: nothing that could pretend to be more than an id in a log or a header. */
const requestIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** Ids in paths are capabilities: this much of one is enough to find a payment, and too little to open it. */
const shownIdLength = 6;

/** Koa middleware; takes the caller's X-Request-Id when it is sane. */
export function createRequestLog(log: Log) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const startedAt = performance.now();
    const given = ctx.get('X-Request-Id');
    const requestId = requestIdPattern.test(given) ? given : randomUUID();
    ctx.state.requestId = requestId;
    ctx.set('X-Request-Id', requestId);
    try {
      await next();
    } finally {
      log.info(
        {
          requestId,
          method: ctx.method,
          route: ctx._matchedRoute,
          id: ctx.params?.id?.slice(0, shownIdLength),
          merchant: ctx.state.merchantCode,
          staff: ctx.state.staff?.id,
          status: ctx.status,
          durationMs: Math.round(performance.now() - startedAt),
        },
        'request',
      );
    }
  };
}
