/** Keys that callers present as `Authorization: Bearer`. */
import { digestOfConfigured, isOneOf } from '@ledger/kernel/key-digest.ts';
import type { Context } from './context.ts';

/** The Bearer key of a request; `''` when there is none. */
export function bearerOf(ctx: Context): string {
  return /^Bearer +(\S+)\s*$/i.exec(ctx.get('Authorization'))?.[1] ?? '';
}

/** Whether the request has one of the keys, which are configured plain or as digests. Throws HttpProblem 429. */
export async function hasBearer(ctx: Context, of: string, keys: readonly string[]): Promise<boolean> {
  const key = bearerOf(ctx);
  return key !== '' && (await ctx.state.guess(of, () => isOneOf(keys.map(digestOfConfigured), key)));
}
