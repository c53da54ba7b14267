/** Who is signed in, and where a request keeps it. */
import type { Head } from '../../../commands/execute.ts';
import type { Session } from '../../../events/session.ts';
import type { User } from '../../../events/user.ts';
import type { Context } from '../../server/context.ts';

/** What the cookie says. The secret is nowhere else: the session's stream has its hash. */
export type Ticket = { sessionId: string; secret: string };

export type Staff = User & {
  ticket: Ticket;
  session: Session;
  /** The end of the session's stream when the request came in. */
  head: Head<Session | null>;
};

const signedIn = new WeakMap<Context, Staff>();

/** Keeps who a request comes from; its line in the log names the id. */
export function setStaff(ctx: Context, staff: Staff): void {
  signedIn.set(ctx, staff);
  ctx.state.logFields = { staff: staff.id };
}

/** Null where nobody is signed in. */
export function staffOf(ctx: Context): Staff | null {
  return signedIn.get(ctx) ?? null;
}
