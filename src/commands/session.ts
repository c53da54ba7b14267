/** Decisions about a session of the console. The events are in src/events/session.ts. */
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { type Session, type SessionEvent, sessionFold } from '../events/session.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute } from './execute.ts';

type Viewed = Extract<SessionEvent, { type: 'PersonalDataViewed' }>['data'];

export type SessionCommand =
  /** Begins the session's stream, whose name is derived from the link: a link that was not issued opens nothing. */
  | { type: 'IssueSignInLink'; at: string; userId: string; expiresAt: string }
  /** `passkey` is the id of the one that was used; null: none was asked for. */
  | { type: 'SignIn'; at: string; endsAt: string; secretHash: string; passkey: string | null }
  | ({ type: 'ViewPersonalData' } & Omit<Viewed, 'userId'>)
  /** An access by a command, which has no session: `userId` is its actor, and it has a stream of its own. */
  | ({ type: 'RecordToolAccess' } & Viewed)
  | { type: 'SignOut'; at: string };

export const sessionDecider: Decider<Session | null, SessionCommand, SessionEvent> = {
  ...sessionFold,
  readsPart: true,
  decide(command, state) {
    switch (command.type) {
      case 'IssueSignInLink': {
        const { type: _, ...data } = command;
        return state ? [] : [{ type: 'SignInLinkIssued', data }];
      }
      case 'SignIn': {
        const offer = offerOf(state, command.at);
        if (offer instanceof Refused) return offer;
        const { at, endsAt, secretHash, passkey } = command;
        const data = { at, userId: offer.userId, endsAt, secretHash, ...(passkey !== null && { passkey }) };
        return [{ type: 'SignedIn', data }];
      }
      case 'ViewPersonalData': {
        if (state?.status !== 'open' || command.at >= state.endsAt)
          return new Refused('session_over', 'You are no longer signed in');
        const { type: _, ...viewed } = command;
        return [{ type: 'PersonalDataViewed', data: { ...viewed, userId: state.userId } }];
      }
      case 'RecordToolAccess': {
        const { type: _, ...data } = command;
        return [{ type: 'PersonalDataViewed', data }];
      }
      case 'SignOut':
        return state?.status === 'open' ? [{ type: 'SignedOut', data: { at: command.at } }] : [];
    }
  },
};

/**
 * The events that determine a session's state: the link, its use, and the last event, the only one that can have ended
 * it. In between, the session of an auditor's program may hold thousands of accesses. Throws EventStoreUnavailable.
 */
export async function loadSessionEnds(
  eventStore: Pick<EventStore, 'load' | 'loadLast'>,
  streamName: string,
): Promise<RecordedEvent[]> {
  // The last event first: an event that comes in between makes the append conflict, and the command loads again.
  const last = await eventStore.loadLast(streamName);
  return last ? [...(await eventStore.load(streamName, 0, 2)), last] : [];
}

export function createExecuteSession(eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast'>) {
  const load = (streamName: string) => loadSessionEnds(eventStore, streamName);
  return createExecute({ eventStore, decider: sessionDecider, load });
}

/** The session that a link opens at the time `at`, or why it opens none. */
export function offerOf(state: Session | null, at: string): Session | Refused {
  if (!state)
    return new Refused('unknown_link', 'This link is not valid: open it exactly as you received it');
  if (state.status !== 'offered') return new Refused('link_over', 'This link has been used already');
  return at < state.endsAt ? state : new Refused('link_over', 'This link has expired: ask for another');
}
