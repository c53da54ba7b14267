/** The token of a link to sign in: drawn by chance, known to the email alone, and the key to the one session that it can make. */
import { randomBytes } from 'node:crypto';
import { derivedId } from '../../../kernel/derived-id.ts';

export const linkLifetimeMs = 15 * 60_000;

export const drawToken = (): string => randomBytes(16).toString('base64url');

/** Derived, so that who sees the name of a stream has no part of a link. */
export function sessionIdOf(transactionIdKey: string, token: string): string {
  return derivedId(transactionIdKey, ['session', token]);
}
