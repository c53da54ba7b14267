/** Keys that callers present, compared by their digests in constant time. */
import { hash, timingSafeEqual } from 'node:crypto';

/** The digest of a configured key, which is `sha256:<64 hex digits>` or plain. */
export function digestOfConfigured(key: string): Buffer {
  const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(key) ?? [];
  return hex === undefined ? digestOf(key) : Buffer.from(hex, 'hex');
}

export function digestOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Compares every digest, so that the time taken discloses nothing about a match. */
export function isOneOf(digests: readonly Buffer[], key: string): boolean {
  const given = digestOf(key);
  return digests.filter((digest) => timingSafeEqual(digest, given)).length > 0;
}
