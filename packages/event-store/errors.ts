/** What an error of the EventStoreDB client means: it throws typed errors and raw gRPC errors alike. */
import {
  AccessDeniedError,
  isCommandError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
} from '@eventstore/db-client';
import { AppendRefused, EventStoreFull, WrongExpectedRevision } from './event-store.ts';

/** Whether the server has answered, and would answer the same again: what was to be appended is not stored. */
export function isDefinite(error: unknown): boolean {
  const isAnswer = [WrongExpectedRevision, AppendRefused, EventStoreFull].some(
    (type) => error instanceof type,
  );
  return isAnswer || isRefusal(error);
}

/** Whether the server refused a read, and would refuse again. */
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
