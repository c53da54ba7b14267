/** Signing in with an emailed link and, where there is one or must be one, a passkey; and signing out. */
import { Refused } from '../../../commands/decider.ts';
import type { Head } from '../../../commands/execute.ts';
import { offerOf } from '../../../commands/session.ts';
import { type Session, sessionStream } from '../../../events/session.ts';
import { type Context, causeOf, HttpProblem, seeOther } from '../../server/context.ts';
import { signInPath } from '../frame/addresses.ts';
import { readForm } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { type Holder, loadHolder, loadSession, longestSessionMs, secretHashOf } from '../frame/session.ts';
import { texts } from '../texts.ts';
import { sessionIdOf } from './request-link.ts';

export async function showSignIn(ctx: Context, { show }: PageDependencies): Promise<void> {
  await show(ctx, 'sign-in/sign-in.njk', { title: 'Sign in' });
}

/** Asks for the passkey, if one is needed. Opening the link does not sign anybody in, because mail scanners open links. */
export async function showLink(ctx: Context, dependencies: PageDependencies): Promise<void> {
  const { passkeys, show } = dependencies;
  const { holder, sessionId } = await readLink(ctx, dependencies);
  const demand = {
    use: async () => ({ get: await passkeys.askForUse(sessionId, holder) }),
    register: async () => ({ create: await passkeys.askForNew(sessionId, holder) }),
    nothing: async () => ({}),
  }[passkeys.demandOn(holder)];
  const { email } = holder.account;
  await show(ctx, 'sign-in/confirm.njk', {
    title: 'Sign in',
    email,
    words: texts.passkeys,
    demand: await demand(),
  });
}

export async function signIn(ctx: Context, dependencies: PageDependencies): Promise<void> {
  const { executeSession, passkeys, returnTo, runtime, sessions } = dependencies;
  const { holder, sessionId, head } = await readLink(ctx, dependencies);
  const actor = `staff:${holder.account.id}`;
  const { name, response } = readForm(ctx);
  const answer = { sessionId, holder, cause: causeOf(ctx, actor), response };
  const demand = passkeys.demandOn(holder);
  const passkey =
    demand === 'nothing'
      ? null
      : await (demand === 'use' ? passkeys.use(answer) : passkeys.register(answer, name));
  const now = runtime.now();
  const at = now.toISOString();
  const endsAt = new Date(now.getTime() + longestSessionMs).toISOString();
  const secret = runtime.randomBytes(32).toString('base64url');
  const command = { type: 'SignIn', at, endsAt, secretHash: secretHashOf(secret), passkey } as const;
  await executeSession(sessionStream(sessionId), command, causeOf(ctx, actor), { from: head });
  sessions.issue(ctx, { sessionId, secret }, endsAt);
  seeOther(ctx, returnTo.take(ctx));
}

/** Throws Refused if the link was used or has expired, HttpProblem if its user may not sign in. */
async function readLink(
  ctx: Context,
  { config, eventStore, runtime }: PageDependencies,
): Promise<{ sessionId: string; holder: Holder; head: Head<Session | null> }> {
  const sessionId = sessionIdOf(config.transactionIdKey, ctx.params.token ?? '');
  const found = await loadSession(eventStore, sessionId);
  const offer = offerOf(found?.session ?? null, runtime.now().toISOString());
  if (offer instanceof Refused) throw offer;
  const holder = found && (await loadHolder(eventStore, found));
  if (!holder) throw new HttpProblem(404, 'This link is no longer valid');
  return { sessionId, holder, head: found.head };
}

export const signOut: Page = async (ctx, { executeSession, runtime, sessions }) => {
  const command = { type: 'SignOut', at: runtime.now().toISOString() } as const;
  const { head: from, ticket } = ctx.state.staff;
  await executeSession(sessionStream(ticket.sessionId), command, staffCause(ctx), { from });
  sessions.clear(ctx);
  leadTo(ctx, signInPath, 'signed-out');
};
