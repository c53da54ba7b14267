/** Somebody who is signed in. */
import type { Session } from '../../../events/session.ts';
import type { User } from '../../../events/user.ts';

/** What the cookie says. The secret is nowhere else: the session's stream has its hash. */
export type Ticket = { sessionId: string; secret: string };

export type Staff = User & { ticket: Ticket; session: Session };
