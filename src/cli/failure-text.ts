/** What a person at the terminal is told when a command fails. */

import { StartError } from '@ledger/embedded/start-error.ts';
import { ConfigError } from '../config/config-error.ts';
import { EventStoreUnavailable } from '../eventstore/event-store.ts';
import { UnreadableExport } from '../reconciliation/export-format.ts';
import { ReadModelBehind } from '../reconciliation/read-models.ts';

const expected = [ConfigError, StartError, EventStoreUnavailable, UnreadableExport, ReadModelBehind];

/** A sentence for a fault of the configuration, the machine or a file; anything else is a bug and shows its stack. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected =
    expected.some((type) => error instanceof type) ||
    // The mark of what the operating system refused; a code alone is also on errors of wrong arguments.
    'syscall' in error;
  return isExpected ? error.message : (error.stack ?? error.message);
}
