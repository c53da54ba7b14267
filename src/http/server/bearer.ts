/** Keys that callers present as `Authorization: Bearer`, compared in constant time. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Context } from './context.ts';

/** `''` when there is none. */
export function bearerOf(ctx: Context): string {
  return /^Bearer +(\S+)\s*$/i.exec(ctx.get('Authorization'))?.[1] ?? '';
}

/** Of a key as the configuration has it: `sha256:<64 hex digits>` or plain. */
export function digestOfConfigured(key: string): Buffer {
  return key.startsWith('sha256:') ? Buffer.from(key.slice('sha256:'.length), 'hex') : digestOf(key);
}

export function digestOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Looks at every digest, so that the time taken tells neither which matched nor how far. */
export function isOneOf(digests: readonly Buffer[], key: string): boolean {
  const given = digestOf(key);
  return digests.filter((digest) => timingSafeEqual(digest, given)).length > 0;
}
