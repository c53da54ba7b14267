/** What an error of the EventStoreDB client means: it throws typed errors and raw gRPC errors alike. */
import {
  AccessDeniedError,
  isCommandError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
} from '@eventstore/db-client';
import { AppendRefused, EventStoreFull, WrongExpectedRevision } from './event-store.ts';

const refusals = [AccessDeniedError, MaxAppendSizeExceededError, StreamDeletedError];
const answers = [WrongExpectedRevision, AppendRefused, EventStoreFull, ...refusals];

/** Whether the server has answered, and would answer the same again: what was to be appended is not stored. */
export const isDefinite = (error: unknown): boolean => answers.some((type) => error instanceof type);

/** Whether the server said so, and not this process by itself, which may know only that the connection was lost. */
export const isAnswer = (error: unknown): boolean =>
  isDefinite(error) && !(error instanceof WrongExpectedRevision && error.actual === null);

/** Whether the server refused a read, and would refuse again. */
export const isReadRefusal = (error: unknown): boolean => refusals.some((type) => error instanceof type);

/** One line for messages and logs, the same for the same fault; several of the client's errors have an empty message. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message
    .replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/g, '')
    .replace(
      /^14 UNAVAILABLE: No connection established\. Last error: (?:Error: )?(.*)\. Resolution note: $/,
      '$1',
    );
  return message || (isCommandError(error) ? error.type : error.name);
}
