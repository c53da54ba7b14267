/** What an error of the EventStoreDB client means: it throws typed errors and raw gRPC errors alike. */
import {
  AccessDeniedError,
  isCommandError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
} from '@eventstore/db-client';

/**
 * Whether the error is the server's answer to one append, and not a failure of the call that all appends share. Only
 * the latter has a gRPC code, and the outcome of each append is then unknown.
 */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && isCommandError(error) && error.code === undefined;
}

/** Whether the server refused, and would refuse again. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof AccessDeniedError ||
    error instanceof MaxAppendSizeExceededError ||
    error instanceof StreamDeletedError
  );
}

/** One line for messages and logs; several of the client's errors have an empty message. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (isCommandError(error) ? error.type : error.name);
}
