/** Who is signed in. Asked of the streams at every request, so that what was taken away is gone at once, everywhere. */
import { readUserEvent } from '../../../events/recorded.ts';
import { sessionStream } from '../../../events/session.ts';
import { type Account, evolveUser, userStream } from '../../../events/user.ts';
import type { EventStore } from '../../../eventstore/event-store.ts';
import type { Context } from '../../context.ts';
import type { SessionCookies } from './cookie.ts';
import type { Staff } from './staff.ts';

type Streams = Pick<EventStore, 'load' | 'loadLast'>;

/**
 * The function returned answers who a request comes from, null for nobody, and hands out a fresh cookie when it is time.
 * Throws EventStoreUnavailable.
 */
export function createFindStaff({ eventStore, cookies }: { eventStore: Streams; cookies: SessionCookies }) {
  return async (ctx: Context): Promise<Staff | null> => {
    const held = cookies.read(ctx);
    if (!held) return null;
    const { ticket, isDue } = held;
    // However often its holder looked at something, the end of a session is its last event.
    const [last, account] = await Promise.all([
      eventStore.loadLast(sessionStream(ticket.sessionId)),
      loadAccount(eventStore, ticket.userId),
    ]);
    if (!last || last.type === 'SignedOut' || !account?.active) return null;
    if (isDue) cookies.issue(ctx, ticket);
    const { active: _, ...user } = account;
    return { ...user, ticket };
  };
}

/** Null where there is no such user. Throws EventStoreUnavailable. */
export async function loadAccount(eventStore: Pick<EventStore, 'load'>, id: string): Promise<Account | null> {
  const events = await eventStore.load(userStream(id));
  return events.map(readUserEvent).reduce<Account | null>(evolveUser, null);
}
