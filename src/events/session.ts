/** A console session, from the sign-in link to signing out, in its own stream. Decisions: src/commands/session.ts. */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { enums, nullable, object, optional, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

/** The kinds of access to personal data that are recorded. */
const accessKinds = [
  'payer',
  'evidence',
  'search',
  'history',
  'export',
  /** An export with personal data. */
  'exportOpened',
  'subjectAccess',
] as const;
export type AccessKind = (typeof accessKinds)[number];

export const sessionEvents = {
  /** Recorded before it is sent. The stream's name is derived from the link's token, which is stored nowhere. */
  SignInLinkIssued: object({ at: utc, userId: string(), expiresAt: utc }),
  /**
   * `secretHash` is the SHA-256, in hex, of the cookie's secret; old events have none, and no cookie opens their session.
   * `passkey` is the id of the one that was used.
   */
  SignedIn: object({
    at: utc,
    userId: string(),
    endsAt: utc,
    secretHash: optional(string()),
    passkey: optional(string()),
  }),
  /** Recorded before it is shown. */
  PersonalDataViewed: object({
    at: utc,
    userId: string(),
    what: enums(accessKinds),
    /** Null where several payments were shown. */
    transactionId: nullable(string()),
    /** Which part or range, such as `event 3`; never the data itself or a search text. */
    detail: string(),
  }),
  SignedOut: object({ at: utc }),
};

export type SessionEvent = EventOf<typeof sessionEvents>;

export type Session = {
  userId: string;
  /** `offered` is a link that nobody has used yet. */
  status: 'offered' | 'open' | 'over';
  /** When the link, then the session, ends at the latest. */
  endsAt: string;
  secretHash: string | null;
  /** Null: the link alone opened it. */
  passkey: string | null;
};

export const sessionFold: Fold<Session | null, SessionEvent> = {
  prefix: 'session-',
  initial: null,
  read: readerOf(sessionEvents),
  evolve(state, event) {
    switch (event.type) {
      case 'SignInLinkIssued': {
        const { expiresAt: endsAt, userId } = event.data;
        return state ?? { userId, status: 'offered', endsAt, secretHash: null, passkey: null };
      }
      case 'SignedIn': {
        if (state && state.status !== 'offered') return state;
        const { endsAt, secretHash = null, passkey = null, userId } = event.data;
        return { userId, status: 'open', endsAt, secretHash, passkey };
      }
      case 'PersonalDataViewed':
        return state;
      case 'SignedOut':
        return state && { ...state, status: 'over' };
    }
  },
};
export const sessionStream = (id: string) => `${sessionFold.prefix}${id}`;
