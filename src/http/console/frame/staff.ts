/** Somebody who is signed in. */
import type { User } from '../../../events/user.ts';

/** What the cookie says; the rest is in the streams of the session and the user. */
export type Ticket = { sessionId: string; userId: string; endsAtMs: number };

export type Staff = User & { ticket: Ticket };
