/** Somebody who is signed in. */
import type { Head } from '../../../commands/execute.ts';
import type { Session } from '../../../events/session.ts';
import type { User } from '../../../events/user.ts';

/** What the cookie says. The secret is nowhere else: the session's stream has its hash. */
export type Ticket = { sessionId: string; secret: string };

export type Staff = User & {
  ticket: Ticket;
  session: Session;
  /** The end of the session's stream when the request came in. */
  head: Head<Session | null>;
};
