/** The access log: each time staff see personal data, that is in the stream of their session before it is shown. */
import { type AccessKind, sessionStream } from '../../../events/session.ts';
import { causeOf } from '../../server/context.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { StaffContext } from './session.ts';

type Access = { what: AccessKind; transactionId: string | null; detail: string };

/** Await it before the data is shown; when it throws (EventStoreUnavailable, Refused), show nothing. */
type RecordAccess = (ctx: StaffContext, access: Access) => Promise<void>;

export function createRecordAccess({
  console: { executeSession },
  runtime,
}: ConsoleDependencies): RecordAccess {
  return async (ctx, access) => {
    const { head: from, ticket } = ctx.state.staff;
    const command = { type: 'ViewPersonalData' as const, at: runtime.now().toISOString(), ...access };
    await executeSession(sessionStream(ticket.sessionId), command, staffCause(ctx), { from });
  };
}

/** The cause of the events of an action; its actor is `staff:<user id>`. */
export function staffCause(ctx: StaffContext) {
  return causeOf(ctx, `staff:${ctx.state.staff.id}`);
}
