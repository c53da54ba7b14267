/** Signing in by a link that is sent to a known address, and signing out. There are no passwords. */
import { randomUUID } from 'node:crypto';
import type Router from '@koa/router';
import { userIdOf } from '../../../commands/user.ts';
import { maxEmailLength } from '../../../events/email-address.ts';
import { sessionStream } from '../../../events/session.ts';
import type { Account } from '../../../events/user.ts';
import { formBody } from '../../body.ts';
import { type Context, type RequestState, seeOther } from '../../context.ts';
import { signInPath } from '../frame/addresses.ts';
import { longestMs } from '../frame/cookie.ts';
import { readForm } from '../frame/form.ts';
import { staffCause } from '../frame/looks.ts';
import { withNotice } from '../frame/notices.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { loadAccount } from '../frame/session.ts';
import { createSignInLinks, type ReadLink } from './links.ts';
import { signInMessage } from './message.ts';
import { createRequestLimit } from './request-limits.ts';

/** A flood of links helps nobody; those that were sent still let in. */
const limits = {
  address: { most: 3, withinMs: 15 * 60_000 },
  client: { most: 30, withinMs: 15 * 60_000 },
};

const sendWithinMs = 30_000;

export function addSignInRoutes(router: Router<RequestState>, parts: ConsoleParts): void {
  const { checkOrigin, clock, console: own, cookies, eventStore, frame, log } = parts;
  const links = createSignInLinks({ ...parts.config, clock });
  const sendLink = createSendLink(parts, links);

  const readLink = async (ctx: Context): Promise<Exclude<ReadLink, string> & { account: Account }> => {
    const link = links.read(ctx.params.token ?? '');
    if (link === 'expired') throw new ConsoleProblem(410, 'This link has expired: ask for another');
    const account = link === 'invalid' ? null : await loadAccount(eventStore, link.userId);
    if (link === 'invalid' || !account?.active)
      throw new ConsoleProblem(404, 'This link is not valid: open it exactly as you received it');
    return { ...link, account };
  };

  router.get(signInPath, (ctx: Context) => frame.show(ctx, 'sign-in/sign-in.njk', { title: 'Sign in' }));

  // The answer waits for nothing, so that neither it nor its time tells whether the address is known.
  router.post(signInPath, checkOrigin, formBody, (ctx: Context) => {
    sendLink(readForm(ctx).email ?? '', ctx.ip).catch((err: unknown) =>
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
    const { sessionId, userId } = await readLink(ctx);
    const nowMs = clock().getTime();
    const endsAtMs = nowMs + longestMs;
    const at = new Date(nowMs).toISOString();
    const endsAt = new Date(endsAtMs).toISOString();
    await own.executeSession(
      sessionStream(sessionId),
      { type: 'SignIn', at, userId, endsAt },
      staffCause(ctx, { id: userId }),
      { creates: true },
    );
    cookies.issue(ctx, { sessionId, userId, endsAtMs });
    seeOther(ctx, '/console');
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
        await own.executeSession(sessionStream(staff.ticket.sessionId), command, staffCause(ctx, staff));
        cookies.clear(ctx);
        seeOther(ctx, withNotice(signInPath, 'signed-out'));
      },
    },
  ];
}

/** Sends a link to an address that is an active user's, within the limits; to any other, nothing. */
function createSendLink(
  { clock, config, console: own, eventStore, log }: ConsoleParts,
  links: ReturnType<typeof createSignInLinks>,
) {
  const isAddressWithin = createRequestLimit(limits.address, clock);
  const isClientWithin = createRequestLimit(limits.client, clock);
  return async (email: string, client: string): Promise<void> => {
    const address = email.trim().toLowerCase();
    if (address === '' || address.length > maxEmailLength || !isAddressWithin(address)) return;
    const account = await loadAccount(eventStore, userIdOf(config.transactionIdKey, address));
    // Counted for those who exist alone: behind a proxy all have one address, and noise must shut nobody out.
    if (!account?.active || !isClientWithin(client)) return;
    const url = `${config.baseUrl}${signInPath}/${links.issue(account.id)}`;
    const outcome = await own.mailer.send(
      // Named by chance, since the name of a file or a header is no place for a token.
      { id: `sign-in-${randomUUID()}`, to: account.email, ...signInMessage({ name: account.name, url }) },
      AbortSignal.timeout(sendWithinMs),
    );
    if (outcome.kind !== 'sent') log.warn({ reason: outcome.reason }, 'a link to sign in could not be sent');
  };
}
