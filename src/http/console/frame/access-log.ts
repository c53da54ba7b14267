/** Looks at personal data: each is in its session's stream before anything is shown. */
import { createViewPersonalData } from '../../../commands/view-personal-data.ts';
import type { AccessLogPage } from '../../../events/session.ts';
import type { EventStore } from '../../../eventstore/event-store.ts';
import { type Context, causeOf } from '../../server/context.ts';
import type { Staff } from './staff.ts';

export type Look = { what: AccessLogPage; transactionId: string | null; detail: string };

/** Await it before the data is read, and show nothing when it throws (EventStoreUnavailable, Refused). */
export type RecordAccess = (ctx: Context, staff: Staff, look: Look) => Promise<void>;

export function createRecordAccess({
  clock,
  eventStore,
}: {
  clock: () => Date;
  eventStore: Pick<EventStore, 'append' | 'loadLast'>;
}): RecordAccess {
  const view = createViewPersonalData({ eventStore });
  return (ctx, staff, look) => {
    const command = { type: 'ViewPersonalData' as const, at: clock().toISOString(), ...look };
    return view(staff.ticket.sessionId, staff.session, command, staffCause(ctx, staff));
  };
}

/** What the events of an action name as their cause: `staff:<user id>`. */
export function staffCause(ctx: Context, staff: Pick<Staff, 'id'>) {
  return causeOf(ctx, `staff:${staff.id}`);
}
