/** Who is signed in. Asked of the streams at every request, so that what was taken away is gone at once, everywhere. */
import { hash, timingSafeEqual } from 'node:crypto';
import { type Head, headOf } from '../../../commands/execute.ts';
import { loadSessionEnds, sessionDecider } from '../../../commands/session.ts';
import { readUserEvent } from '../../../events/codec.ts';
import { type Session, sessionStream } from '../../../events/session.ts';
import { type Account, evolveUser, userStream } from '../../../events/user.ts';
import type { EventStore, RecordedEvent } from '../../../eventstore/event-store.ts';
import { isAfter } from '../../../eventstore/position.ts';
import type { Context } from '../../server/context.ts';
import type { SessionCookies } from './cookie.ts';
import type { Staff } from './staff.ts';

type Streams = Pick<EventStore, 'load' | 'loadLast'>;

/**
 * The function returned answers who a request comes from, null for nobody, and hands out a fresh cookie when it is time.
 * Throws EventStoreUnavailable.
 */
export function createFindStaff({
  clock,
  cookies,
  eventStore,
}: {
  clock: () => Date;
  cookies: SessionCookies;
  eventStore: Streams;
}) {
  return async (ctx: Context): Promise<Staff | null> => {
    const held = cookies.read(ctx);
    if (!held) return null;
    const { ticket, isDue } = held;
    const found = await loadSession(eventStore, ticket.sessionId);
    if (found?.session.status !== 'open' || !isSecretOf(found.session, ticket.secret)) return null;
    if (clock().toISOString() >= found.session.endsAt) return null;
    const account = await loadHolder(eventStore, found);
    if (!account) return null;
    if (isDue) cookies.issue(ctx, ticket, found.session.endsAt);
    const { active: _, ...user } = account;
    return { ...user, ticket, session: found.session, head: found.head };
  };
}

/** `begun` is the first event of its stream: that of its link. */
type Found = { session: Session; begun: RecordedEvent; head: Head<Session | null> };

/** The session of a stream, null where there is none. Throws EventStoreUnavailable. */
export async function loadSession(eventStore: Streams, id: string): Promise<Found | null> {
  const events = await loadSessionEnds(eventStore, sessionStream(id));
  const head = headOf(events, sessionDecider);
  const { state: session } = head;
  return session && events[0] ? { session, begun: events[0], head } : null;
}

/**
 * Whose session, or link, it is; null where the account is shut, or was since: nobody knows who by now holds what was
 * given out before, so whoever is let in again signs in again. Throws EventStoreUnavailable.
 */
export async function loadHolder(
  eventStore: Pick<EventStore, 'load'>,
  { begun, session }: Found,
): Promise<Account | null> {
  const history = await eventStore.load(userStream(session.userId));
  const account = accountOf(history);
  const shut = history.findLast(({ type }) => type === 'UserDeactivated');
  const wasShutSince = shut !== undefined && isAfter(shut.position, begun.position);
  return account?.active && !wasShutSince ? account : null;
}

/** As the stream has it, of what the cookie holds. */
export const secretHashOf = (secret: string): string => hash('sha256', secret);

function isSecretOf({ secretHash }: Session, secret: string): boolean {
  const [right, given] = [Buffer.from(secretHash ?? ''), Buffer.from(secretHashOf(secret))];
  return right.length === given.length && timingSafeEqual(right, given);
}

/** Null where there is no such user. Throws EventStoreUnavailable. */
export async function loadAccount(eventStore: Pick<EventStore, 'load'>, id: string): Promise<Account | null> {
  return accountOf(await eventStore.load(userStream(id)));
}

function accountOf(history: readonly RecordedEvent[]): Account | null {
  return history.map(readUserEvent).reduce<Account | null>(evolveUser, null);
}
