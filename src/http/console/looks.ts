/** Looks at personal data: each is in its session's stream before anything is shown. */
import type { Execute } from '../../commands/execute.ts';
import type { SessionCommand } from '../../commands/session.ts';
import { type LookedAt, type Session, type SessionEvent, sessionStream } from '../../events/session.ts';
import { type Context, causeOf } from '../context.ts';
import type { Staff } from './staff.ts';

export type Look = { what: LookedAt; transactionId: string | null; detail: string };

/** Await it before the data is read, and show nothing when it throws (EventStoreUnavailable, Refused). */
export type RecordLook = (ctx: Context, staff: Staff, look: Look) => Promise<void>;

export function createRecordLook({
  clock,
  executeSession,
}: {
  clock: () => Date;
  executeSession: Execute<Session | null, SessionCommand, SessionEvent>;
}): RecordLook {
  return async (ctx, staff, look) => {
    const command = { type: 'ViewPersonalData' as const, at: clock().toISOString(), ...look };
    await executeSession(sessionStream(staff.ticket.sessionId), command, staffCause(ctx, staff));
  };
}

/** What the events of an action name as their cause: `staff:<user id>`. */
export function staffCause(ctx: Context, staff: Pick<Staff, 'id'>) {
  return causeOf(ctx, `staff:${staff.id}`);
}
