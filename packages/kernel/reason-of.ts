import { constants } from 'node:os';

/** Node has no name for the error of a disk quota that is used up. */
const unnamedQuota = `Unknown system error ${-constants.errno.EDQUOT}`;

/** An error whose message holds no values, and with them no personal data: it may be stored and shown to staff. */
export class ErrorWithoutValues extends Error {}

/** What went wrong, in a few words for a log line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message === 'fetch failed' && error.cause) return reasonOf(error.cause);
  // A refused connection to several addresses has no message of its own.
  return error.message.replaceAll(unnamedQuota, 'EDQUOT') || codeOf(error);
}

/** The same without the message, in which libraries quote values. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error ? String(Reflect.get(error, 'code') ?? error.name) : typeof error;
  return code === unnamedQuota ? 'EDQUOT' : code;
}
