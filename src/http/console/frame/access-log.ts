/** Looks at personal data: each is in its session's stream before anything is shown. */
import { type AccessLogPage, sessionStream } from '../../../events/session.ts';
import { type Context, causeOf } from '../../server/context.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { Staff } from './staff.ts';

export type Look = { what: AccessLogPage; transactionId: string | null; detail: string };

/** Await it before the data is read, and show nothing when it throws (EventStoreUnavailable, Refused). */
export type RecordAccess = (ctx: Context, staff: Staff, look: Look) => Promise<void>;

export function createRecordAccess({
  clock,
  executeSession,
}: {
  clock: () => Date;
  executeSession: ConsoleDependencies['console']['executeSession'];
}): RecordAccess {
  return async (ctx, staff, look) => {
    const { ticket, head } = staff;
    const command = { type: 'ViewPersonalData' as const, at: clock().toISOString(), ...look };
    await executeSession(sessionStream(ticket.sessionId), command, staffCause(ctx, staff), { from: head });
  };
}

/** What the events of an action name as their cause: `staff:<user id>`. */
export function staffCause(ctx: Context, staff: Pick<Staff, 'id'>) {
  return causeOf(ctx, `staff:${staff.id}`);
}
