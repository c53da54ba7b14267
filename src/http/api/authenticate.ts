/** Who may use /api/v1: whoever has one of API_KEYS; anybody where none is set, which production refuses. */
import type { Next } from 'koa';
import { bearerOf, digestOf, digestOfConfigured, isOneOf } from '../server/bearer.ts';
import type { Context } from '../server/context.ts';
import { ApiProblem } from './problem.ts';

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
