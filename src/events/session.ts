/** What staff do in the console, from signing in to signing out, one stream per session. What may happen is decided in src/commands/session.ts. */
import { enums, type Infer, nullable, object, string } from 'superstruct';
import { utc } from './structs.ts';

/** What of people can be looked at, and what staff took away with them. */
export const lookedAt = ['payer', 'evidence', 'search', 'history', 'export', 'statement'] as const;
export type LookedAt = (typeof lookedAt)[number];

export const sessionEvents = {
  SignedIn: object({ at: utc, userId: string(), endsAt: utc }),
  /** Recorded before it is shown. */
  PersonalDataViewed: object({
    at: utc,
    userId: string(),
    what: enums(lookedAt),
    /** Null where it was of several payments. */
    transactionId: nullable(string()),
    /** Which part or range, such as `event 3`; never the data itself, nor what was searched for. */
    detail: string(),
  }),
  SignedOut: object({ at: utc }),
};

type DataOf = { [Type in keyof typeof sessionEvents]: Infer<(typeof sessionEvents)[Type]> };
export type SessionEvent = { [Type in keyof DataOf]: { type: Type; data: DataOf[Type] } }[keyof DataOf];

export const sessionStreamPrefix = 'session-';
export const sessionStream = (id: string) => `${sessionStreamPrefix}${id}`;

/** `endsAt` is when it ends at the latest. */
export type Session = { userId: string; endsAt: string; isOpen: boolean };

/** Null before the first event. Total: an event that makes no sense here changes nothing. */
export function evolveSession(state: Session | null, event: SessionEvent): Session | null {
  switch (event.type) {
    case 'SignedIn':
      return state ?? { userId: event.data.userId, endsAt: event.data.endsAt, isOpen: true };
    case 'PersonalDataViewed':
      return state;
    case 'SignedOut':
      return state && { ...state, isOpen: false };
    default:
      return event satisfies never;
  }
}
