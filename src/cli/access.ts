/** The access log of commands: like the console's, recorded before anything is shown. */
import { createExecuteSession } from '../commands/session.ts';
import { type AccessKind, sessionStream } from '../events/session.ts';
import { type Context, staffCause } from './stores.ts';

/** The user is the account that is logged in on this machine, as `staff:<name>`. Throws EventStoreUnavailable. */
export async function recordToolAccess(
  { eventStore, runtime }: Pick<Context, 'eventStore' | 'runtime'>,
  access: { what: AccessKind; transactionId?: string | null; detail: string },
): Promise<void> {
  const cause = staffCause();
  const command = {
    type: 'RecordToolAccess',
    at: runtime.now().toISOString(),
    userId: cause.actor,
    transactionId: null,
    ...access,
  } as const;
  await createExecuteSession(eventStore)(sessionStream(cause.commandId), command, cause);
}
