/** Who may use /api/v1: callers with one of API_KEYS, and everybody where none is set, which production refuses. */
import { digestOf } from '@ledger/kernel/key-digest.ts';
import type { Next } from 'koa';
import { bearerOf, hasBearer } from '../server/bearer.ts';
import type { Context } from '../server/context.ts';
import { apiProblem } from './errors.ts';

/** Koa middleware; throws HttpProblem 401 and 429. */
export function createApiKeyCheck(apiKeys: readonly string[]) {
  return async (ctx: Context<{ apiCaller?: string }>, next: Next): Promise<unknown> => {
    if (apiKeys.length === 0) return next();
    // The keys may change while the process runs.
    if (!(await hasBearer(ctx, 'key of /api/v1', apiKeys)))
      throw apiProblem(401, 'unauthorized', 'An API key is needed: Authorization: Bearer <key>');
    // Events name the key by the beginning of its digest, which does not disclose it.
    ctx.state.apiCaller = `api:${digestOf(bearerOf(ctx)).toString('hex').slice(0, 8)}`;
    await ctx.state.spend('calls', ctx.state.apiCaller);
    return next();
  };
}
