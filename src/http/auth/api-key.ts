/** Who may use /api/v1: whoever has one of API_KEYS; anybody where none is set, which production refuses. */
import type { Next } from 'koa';
import { ApiProblem } from '../content/api-problem.ts';
import type { Context } from '../context.ts';
import { bearerOf, digestOf, digestOfConfigured, isOneOf } from './bearer.ts';

/** Koa middleware; throws ApiProblem 401. */
export function createApiKeyCheck(apiKeys: readonly string[]) {
  const digests = apiKeys.map(digestOfConfigured);
  return (ctx: Context, next: Next): Promise<unknown> => {
    if (digests.length === 0) return next();
    const key = bearerOf(ctx);
    if (!isOneOf(digests, key))
      throw new ApiProblem(401, 'unauthorized', 'An API key is needed: Authorization: Bearer <key>');
    // Says in the event which key it was, and gives nothing of it away.
    ctx.state.apiCaller = `api:${digestOf(key).toString('hex').slice(0, 8)}`;
    return next();
  };
}
