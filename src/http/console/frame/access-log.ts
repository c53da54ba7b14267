/** The access log: each time staff see personal data, that is in the stream of their session before it is shown. */
import { createViewPersonalData } from '../../../commands/view-personal-data.ts';
import type { AccessLogPage } from '../../../events/session.ts';
import type { EventStore } from '../../../eventstore/event-store.ts';
import type { Runtime } from '../../../kernel/runtime.ts';
import { causeOf } from '../../server/context.ts';
import type { StaffContext } from './page.ts';

type Access = { what: AccessLogPage; transactionId: string | null; detail: string };

/** Await it before the data is shown; when it throws (EventStoreUnavailable, Refused), show nothing. */
export type RecordAccess = (ctx: StaffContext, access: Access) => Promise<void>;

export function createRecordAccess({
  eventStore,
  runtime,
}: {
  eventStore: Pick<EventStore, 'append' | 'loadLast'>;
  runtime: Pick<Runtime, 'now'>;
}): RecordAccess {
  const viewPersonalData = createViewPersonalData({ eventStore });
  return (ctx, access) => {
    const { session, ticket } = ctx.state.staff;
    const command = { type: 'ViewPersonalData' as const, at: runtime.now().toISOString(), ...access };
    return viewPersonalData(ticket.sessionId, session, command, staffCause(ctx));
  };
}

/** The cause of the events of an action; its actor is `staff:<user id>`. */
export function staffCause(ctx: StaffContext) {
  return causeOf(ctx, `staff:${ctx.state.staff.id}`);
}
