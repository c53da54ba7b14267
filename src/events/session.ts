/** What staff do in the console, from the link that lets them in to signing out, one stream per session. What may happen is decided in src/commands/session.ts. */
import { enums, nullable, object, optional, string } from 'superstruct';
import { type EventOf, utc } from '../kernel/structs.ts';

/** What of people can be looked at, and what staff took away with them. */
export const accessLogRoutes = ['payer', 'evidence', 'search', 'history', 'export'] as const;
export type AccessLogPage = (typeof accessLogRoutes)[number];

export const sessionEvents = {
  /** Recorded before it is sent. The stream's name is derived from the link's token, which is written nowhere. */
  SignInLinkIssued: object({ at: utc, userId: string(), expiresAt: utc }),
  /** `secretHash` is that of what the cookie holds, SHA-256 in hex; without one, as once was written, no cookie fits. */
  SignedIn: object({ at: utc, userId: string(), endsAt: utc, secretHash: optional(string()) }),
  /** Recorded before it is shown. */
  PersonalDataViewed: object({
    at: utc,
    userId: string(),
    what: enums(accessLogRoutes),
    /** Null where it was of several payments. */
    transactionId: nullable(string()),
    /** Which part or range, such as `event 3`; never the data itself, nor what was searched for. */
    detail: string(),
  }),
  SignedOut: object({ at: utc }),
};

export type SessionEvent = EventOf<typeof sessionEvents>;

export const sessionStreamPrefix = 'session-';
export const sessionStream = (id: string) => `${sessionStreamPrefix}${id}`;

export type Session = {
  userId: string;
  /** `offered` is a link that nobody has used yet. */
  status: 'offered' | 'open' | 'over';
  /** When it ends at the latest: the link, then the session. */
  endsAt: string;
  secretHash: string | null;
};

/** Null before the first event. Total: an event that makes no sense here changes nothing. */
export function evolveSession(state: Session | null, event: SessionEvent): Session | null {
  switch (event.type) {
    case 'SignInLinkIssued':
      return (
        state ?? {
          userId: event.data.userId,
          status: 'offered',
          endsAt: event.data.expiresAt,
          secretHash: null,
        }
      );
    case 'SignedIn': {
      if (state && state.status !== 'offered') return state;
      const { endsAt, secretHash = null, userId } = event.data;
      return { userId, status: 'open', endsAt, secretHash };
    }
    case 'PersonalDataViewed':
      return state;
    case 'SignedOut':
      return state && { ...state, status: 'over' };
    default:
      return event satisfies never;
  }
}
