/** Keys that callers present as `Authorization: Bearer`. */
import type { Context } from './context.ts';

/** The Bearer key of a request; `''` when there is none. */
export function bearerOf(ctx: Context): string {
  return /^Bearer +(\S+)\s*$/i.exec(ctx.get('Authorization'))?.[1] ?? '';
}
