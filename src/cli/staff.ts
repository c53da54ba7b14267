/** What commands of staff share: the connection, and who they say they are in the events. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { Refused } from '../commands/decider.ts';
import { InvalidFields } from '../commands/fields.ts';
import type { Config } from '../config/config.ts';
import type { Cause } from '../events/envelope.ts';
import { connectEventStore } from '../eventstore/client.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { createLog } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { UsageError } from './command.ts';

/** A command given by whoever is logged in on this machine. */
export function staffCause(): Cause {
  const commandId = randomUUID();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: `staff:${userName()}`,
  };
}

/** In a container an account may have a number and no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}

/**
 * Runs `work` on a connection of its own and prints the sentence it resolves to; resolves to the exit code. A refusal
 * is a sentence, too; fields at fault are a UsageError.
 */
export async function asStaff(
  work: (eventStore: EventStore, config: Config) => Promise<string>,
): Promise<number> {
  const config = loadRoleConfig();
  const eventStore = connectEventStore({
    url: config.esdbUrl,
    log: createLog('warn', 'staff'),
    runtime: systemRuntime,
  });
  try {
    process.stdout.write(`${await work(eventStore, config)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof InvalidFields) throw new UsageError(error.message);
    if (!(error instanceof Refused)) throw error;
    process.stderr.write(`${error.message}.\n`);
    return 1;
  } finally {
    await eventStore.close();
  }
}
