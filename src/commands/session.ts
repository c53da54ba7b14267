/** What staff may do with a session of the console. The events are in src/events/session.ts. */
import { evolveSession, type LookedAt, type Session, type SessionEvent } from '../events/session.ts';
import { type Decider, Refused } from './decider.ts';

/** Creates the session: its stream's id comes from the link, so that a link makes one session and no more. */
export type SignIn = { type: 'SignIn'; at: string; userId: string; endsAt: string };

export type ViewPersonalData = {
  type: 'ViewPersonalData';
  at: string;
  what: LookedAt;
  transactionId: string | null;
  detail: string;
};

export type SignOut = { type: 'SignOut'; at: string };

export type SessionCommand = SignIn | ViewPersonalData | SignOut;

export const sessionDecider: Decider<Session | null, SessionCommand, SessionEvent> = {
  initial: null,
  evolve: evolveSession,
  decide(command, state) {
    switch (command.type) {
      case 'SignIn': {
        if (state) return new Refused('link_used', 'This link has been used already');
        const { type: _, ...data } = command;
        return [{ type: 'SignedIn', data }];
      }
      case 'ViewPersonalData': {
        if (!state?.isOpen || command.at >= state.endsAt)
          return new Refused('session_over', 'You are no longer signed in');
        const { at, what, transactionId, detail } = command;
        return [
          { type: 'PersonalDataViewed', data: { at, userId: state.userId, what, transactionId, detail } },
        ];
      }
      case 'SignOut':
        return state?.isOpen ? [{ type: 'SignedOut', data: { at: command.at } }] : [];
      default:
        return command satisfies never;
    }
  },
};
