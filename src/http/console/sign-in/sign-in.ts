/** Signing in with an emailed link and, where there is or must be one, a passkey; and signing out. */
import { Refused } from '../../../commands/decider.ts';
import type { Head } from '../../../commands/execute.ts';
import { offerOf } from '../../../commands/session.ts';
import { type Session, sessionStream } from '../../../events/session.ts';
import { type Context, causeOf, HttpProblem, seeOther } from '../../server/context.ts';
import { signInPath } from '../frame/addresses.ts';
import { readForm } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { type Holder, loadHolder, loadSession, longestSessionMs, secretHashOf } from '../frame/session.ts';
import { sessionIdOf } from './request-link.ts';

export async function showSignIn(ctx: Context, { show }: PageDependencies): Promise<void> {
  await show(ctx, 'sign-in/sign-in.njk', {});
}

/** Asks for the passkey, if one is needed. Opening the link does not sign anybody in, because mail scanners open links. */
export async function showLink(ctx: Context, dependencies: PageDependencies): Promise<void> {
  const { passkeys, show } = dependencies;
  const { account, sessionId } = await readLink(ctx, dependencies);
  const { email } = account;
  const asked = passkeys.ask(passkeys.demandOn(account), sessionId, account);
  await show(ctx, 'sign-in/confirm.njk', { email, asked });
}

export async function signIn(ctx: Context, dependencies: PageDependencies): Promise<void> {
  const { executeSession, passkeys, returnTo, runtime, sessions } = dependencies;
  const { account, sessionId, head } = await readLink(ctx, dependencies);
  const cause = () => causeOf(ctx, `staff:${account.id}`);
  const answer = { form: readForm(ctx), sessionId, isOpen: false, holder: account, cause: cause() };
  const passkey = await passkeys.take(passkeys.demandOn(account), answer);
  const now = runtime.now();
  const at = now.toISOString();
  const endsAt = new Date(now.getTime() + longestSessionMs).toISOString();
  const secret = runtime.randomBytes(32).toString('base64url');
  const command = { type: 'SignIn', at, endsAt, secretHash: secretHashOf(secret), passkey } as const;
  await executeSession(sessionStream(sessionId), command, cause(), { from: head });
  sessions.issue(ctx, { sessionId, secret }, endsAt);
  seeOther(ctx, returnTo.take(ctx));
}

/** Throws Refused if the link was used or has expired, HttpProblem if its user may not sign in. */
async function readLink(
  ctx: Context,
  { config, eventStore, runtime }: PageDependencies,
): Promise<{ sessionId: string; account: Holder; head: Head<Session | null> }> {
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
