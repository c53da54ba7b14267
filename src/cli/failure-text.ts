/** The text on the terminal when a command fails, and its exit code. */
import { StartError } from '@ledger/embedded/start-error.ts';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { answerOf, isPostgresError, isRefusal } from '@ledger/postgres/error-codes.ts';
import { Refused } from '../commands/decider.ts';
import { ConfigError } from '../config/yaml-file.ts';
import { UnreadableExport } from '../reconciliation/export-format.ts';
import { ReadModelBehind } from '../reconciliation/reconcile.ts';

const expected = [Refused, ConfigError, StartError, EventStoreUnavailable, UnreadableExport, ReadModelBehind];

/** EX_CONFIG of sysexits.h: starting again does not help. */
const configurationExitCode = 78;

export function exitCodeOf(error: unknown): number {
  return error instanceof ConfigError ? configurationExitCode : 1;
}

/** Only the message for a fault of the configuration, machine or a file; anything else is a bug, with stack. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const answer = answerOf(error);
  if (answer !== null && (!isRefusal(error) || isPostgresError(error, 'insufficientPrivilege')))
    return `PostgreSQL refuses: ${answer}.`;
  const isExpected =
    expected.some((type) => error instanceof type) ||
    // Errors of the operating system have it. Errors about arguments have a `code` too, but not this.
    'syscall' in error;
  return isExpected ? error.message : (error.stack ?? error.message);
}
