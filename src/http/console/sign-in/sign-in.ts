/** Signing in by a link that is sent to a known address, and signing out. There are no passwords. */
import { randomBytes, randomUUID } from 'node:crypto';
import type Router from '@koa/router';
import { Refused } from '../../../commands/decider.ts';
import type { Head } from '../../../commands/execute.ts';
import { offerOf } from '../../../commands/session.ts';
import { userIdOf } from '../../../commands/user.ts';
import { type Session, sessionStream } from '../../../events/session.ts';
import type { Account } from '../../../events/user.ts';
import { maxEmailLength } from '../../../kernel/email-address.ts';
import { formBody } from '../../server/body.ts';
import { type Context, causeOf, type RequestState, seeOther } from '../../server/context.ts';
import { staffCause } from '../frame/access-log.ts';
import { signInPath } from '../frame/addresses.ts';
import { longestMs } from '../frame/cookie.ts';
import { readForm } from '../frame/form.ts';
import { withNotice } from '../frame/notices.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { loadAccount, loadHolder, loadSession, secretHashOf } from '../frame/session.ts';
import { drawToken, linkLifetimeMs, sessionIdOf } from './links.ts';
import { signInMessage } from './message.ts';
import { createRequestLimit } from './request-limits.ts';

/**
 * A flood of links helps nobody, and those that were sent still let in. Counted of addresses that are known, and of each for
 * itself: behind a proxy all have one address, and whatever noise somebody makes must shut out nobody else.
 */
const limit = { most: 3, withinMs: linkLifetimeMs };

const sendWithinMs = 30_000;

export function addSignInRoutes(router: Router<RequestState>, parts: ConsoleParts): void {
  const { checkOrigin, clock, config, console: own, cookies, eventStore, frame, log, returnTo } = parts;
  const sendLink = createSendLink(parts);

  const readLink = async (
    ctx: Context,
  ): Promise<{ sessionId: string; account: Account; head: Head<Session | null> }> => {
    const sessionId = sessionIdOf(config.transactionIdKey, ctx.params.token ?? '');
    const found = await loadSession(eventStore, sessionId);
    const offer = offerOf(found?.session ?? null, clock().toISOString());
    if (offer instanceof Refused) throw offer;
    const account = found && (await loadHolder(eventStore, found));
    if (!account) throw new ConsoleProblem(404, 'This link is not valid any more');
    return { sessionId, account, head: found.head };
  };

  router.get(signInPath, (ctx: Context) => frame.show(ctx, 'sign-in/sign-in.njk', { title: 'Sign in' }));

  // The answer waits for nothing, so that neither it nor its time tells whether the address is known.
  router.post(signInPath, checkOrigin, formBody, (ctx: Context) => {
    sendLink(ctx).catch((err: unknown) =>
      log.warn({ err, requestId: ctx.state.requestId }, 'a link to sign in could not be sent'),
    );
    seeOther(ctx, withNotice(signInPath, 'link-requested'));
  });

  // Programs that look into emails open links: the link itself does nothing.
  router.get(`${signInPath}/:token`, async (ctx: Context) => {
    const { account } = await readLink(ctx);
    await frame.show(ctx, 'sign-in/confirm.njk', { title: 'Sign in', email: account.email });
  });

  router.post(`${signInPath}/:token`, checkOrigin, async (ctx: Context) => {
    const { account, sessionId, head } = await readLink(ctx);
    const nowMs = clock().getTime();
    const at = new Date(nowMs).toISOString();
    const endsAt = new Date(nowMs + longestMs).toISOString();
    const secret = randomBytes(32).toString('base64url');
    const command = { type: 'SignIn', at, endsAt, secretHash: secretHashOf(secret) } as const;
    await own.executeSession(sessionStream(sessionId), command, staffCause(ctx, account), { from: head });
    cookies.issue(ctx, { sessionId, secret }, endsAt);
    seeOther(ctx, returnTo.take(ctx));
  });
}

export function signOutRoutes({ clock, console: own, cookies }: ConsoleParts): ConsoleRoute[] {
  return [
    {
      method: 'post',
      path: '/console/sign-out',
      action: 'signOut',
      async handle(ctx, staff) {
        const command = { type: 'SignOut', at: clock().toISOString() } as const;
        const stream = sessionStream(staff.ticket.sessionId);
        await own.executeSession(stream, command, staffCause(ctx, staff), { from: staff.head });
        cookies.clear(ctx);
        seeOther(ctx, withNotice(signInPath, 'signed-out'));
      },
    },
  ];
}

/** Sends a link to an address that is an active user's, within the limit; to any other, nothing. */
function createSendLink({ clock, config, console: own, eventStore, log }: ConsoleParts) {
  const isWithin = createRequestLimit(limit, clock);
  return async (ctx: Context): Promise<void> => {
    const { email = '' } = readForm(ctx);
    const address = email.trim().toLowerCase();
    if (address === '' || address.length > maxEmailLength) return;
    const account = await loadAccount(eventStore, userIdOf(config.transactionIdKey, address));
    if (!account?.active || !isWithin(account.id)) return;
    const token = drawToken();
    const nowMs = clock().getTime();
    await own.executeSession(
      sessionStream(sessionIdOf(config.transactionIdKey, token)),
      {
        type: 'IssueSignInLink',
        at: new Date(nowMs).toISOString(),
        userId: account.id,
        expiresAt: new Date(nowMs + linkLifetimeMs).toISOString(),
      },
      causeOf(ctx, 'anybody'),
      { creates: true },
    );
    const url = `${config.baseUrl}${signInPath}/${token}`;
    const outcome = await own.mailer.send(
      // Named by chance, since the name of a file or a header is no place for a token.
      { id: `sign-in-${randomUUID()}`, to: account.email, ...signInMessage({ name: account.name, url }) },
      AbortSignal.timeout(sendWithinMs),
    );
    if (outcome.kind !== 'sent') log.warn({ reason: outcome.reason }, 'a link to sign in could not be sent');
  };
}
