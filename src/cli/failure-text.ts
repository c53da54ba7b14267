/** The text on the terminal when a command fails, and its exit code. */
import { StartError, StoreAway } from '@ledger/embedded/start-error.ts';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { codeOf, reasonOf } from '@ledger/kernel/reason-of.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import {
  answerOf,
  isConnectionFailure,
  isPostgresError,
  isRefusal,
  withoutStatement,
} from '@ledger/postgres/error-codes.ts';
import { PostgresUnavailable } from '@ledger/postgres/requirements.ts';
import { ExportImpossible } from '../audit/export/export.ts';
import { Unaccountable } from '../audit/seals/stored-seals.ts';
import { Refused } from '../commands/decider.ts';
import { UnreadableEvent } from '../events/codec.ts';
import { UnreadableExport } from '../reconciliation/export-format.ts';
import { ImportImpossible } from '../reconciliation/reconcile.ts';
import { configurationExitCode } from '../roles/lifecycle.ts';

const away = [EventStoreUnavailable, KeysUnavailable, PostgresUnavailable, StoreAway];
const expected = [...away, ConfigError, StartError, UnreadableExport, ImportImpossible];

/** EX_TEMPFAIL: the same command may succeed later. */
const unavailableExitCode = 75;

export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return configurationExitCode;
  return isAway(error) ? unavailableExitCode : 1;
}

const isAway = (error: unknown) =>
  away.some((type) => error instanceof type) ||
  isConnectionFailure(error) ||
  isPostgresError(error, 'readOnly', 'diskFull');

/** Their messages do not end with a full stop. */
const sentences = [ExportImpossible, Refused];

/** Only the message for a fault of the configuration, machine or a file; anything else is a bug, with stack. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (sentences.some((type) => error instanceof type)) return `${error.message}.`;
  if (error instanceof Unaccountable || error instanceof UnreadableEvent)
    return `${error.message}. Run \`ledger verify\`.`;
  const answer = answerOf(error);
  if (answer !== null && (!isRefusal(error) || isPostgresError(error, 'insufficientPrivilege')))
    return `PostgreSQL refuses: ${answer}.`;
  if (codeOf(error) === 'EADDRINUSE')
    return `${error.message}. Set PORT, SANDBOX_PORT or ADMIN_PORT to a free port.`;
  if (isConnectionFailure(error)) return withoutStatement(error);
  // Errors of the operating system have it. Errors about arguments have a `code` too, but not this.
  const isExpected = expected.some((type) => error instanceof type) || 'syscall' in error;
  return isExpected ? reasonOf(error) : (error.stack ?? error.message);
}
