/** Signing in with an emailed link, and signing out. There are no passwords. */
import { Refused } from '../../../commands/decider.ts';
import type { Head } from '../../../commands/execute.ts';
import { offerOf } from '../../../commands/session.ts';
import { type Session, sessionStream } from '../../../events/session.ts';
import type { Account } from '../../../events/user.ts';
import { type Context, causeOf, HttpProblem, seeOther } from '../../server/context.ts';
import { signInPath } from '../frame/addresses.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { loadHolder, loadSession, longestSessionMs, secretHashOf } from '../frame/session.ts';
import { sessionIdOf } from './request-link.ts';

export async function showSignIn(ctx: Context, { show }: PageDependencies): Promise<void> {
  await show(ctx, 'sign-in/sign-in.njk', { title: 'Sign in' });
}

/** Opening the link does not sign anybody in, because mail scanners open links. */
export async function showLink(ctx: Context, dependencies: PageDependencies): Promise<void> {
  const { account } = await readLink(ctx, dependencies);
  await dependencies.show(ctx, 'sign-in/confirm.njk', { title: 'Sign in', email: account.email });
}

export async function signIn(ctx: Context, dependencies: PageDependencies): Promise<void> {
  const { executeSession, returnTo, runtime, sessions } = dependencies;
  const { account, sessionId, head } = await readLink(ctx, dependencies);
  const now = runtime.now();
  const at = now.toISOString();
  const endsAt = new Date(now.getTime() + longestSessionMs).toISOString();
  const secret = runtime.randomBytes(32).toString('base64url');
  const command = { type: 'SignIn', at, endsAt, secretHash: secretHashOf(secret) } as const;
  await executeSession(sessionStream(sessionId), command, causeOf(ctx, `staff:${account.id}`), {
    from: head,
  });
  sessions.issue(ctx, { sessionId, secret }, endsAt);
  seeOther(ctx, returnTo.take(ctx));
}

/** Throws Refused if the link was used or has expired, HttpProblem if its user may not sign in. */
async function readLink(
  ctx: Context,
  { config, eventStore, runtime }: PageDependencies,
): Promise<{ sessionId: string; account: Account; head: Head<Session | null> }> {
  const sessionId = sessionIdOf(config.transactionIdKey, ctx.params.token ?? '');
  const found = await loadSession(eventStore, sessionId);
  const offer = offerOf(found?.session ?? null, runtime.now().toISOString());
  if (offer instanceof Refused) throw offer;
  const account = found && (await loadHolder(eventStore, found));
  if (!account) throw new HttpProblem(404, 'This link is no longer valid');
  return { sessionId, account, head: found.head };
}

export const signOut: Page = async (ctx, { executeSession, runtime, sessions }) => {
  const command = { type: 'SignOut', at: runtime.now().toISOString() } as const;
  const { head: from, ticket } = ctx.state.staff;
  await executeSession(sessionStream(ticket.sessionId), command, staffCause(ctx), { from });
  sessions.clear(ctx);
  leadTo(ctx, signInPath, 'signed-out');
};
