/** POST /console/sign-in: emails a link to an address that belongs to an active user. */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import type { Mail } from '@ledger/outbound/mailer.ts';
import { userIdOf } from '../../../commands/user.ts';
import { sessionStream } from '../../../events/session.ts';
import { maySignIn } from '../../../events/user.ts';
import { type Context, causeOf, languageOf } from '../../server/context.ts';
import { signInPath } from '../frame/addresses.ts';
import { readForm } from '../frame/forms-and-lists.ts';
import { leadTo, type PageDependencies } from '../frame/page.ts';
import { loadAccount } from '../frame/session.ts';
import { linkEmail } from './link-email.ts';

const linkLifetimeMs = 15 * 60_000;
const sendWithinMs = 30_000;
/** Before each further attempt at an email that a mail server does not take yet, while the link is still of use. */
const pausesMs = [15_000, 60_000, 4 * 60_000, 5 * 60_000];

/** The session that a link can open. The id is derived, so that the name of a stream reveals nothing about its link. */
export function sessionIdOf(transactionIdKey: string, token: string): string {
  return derivedId(transactionIdKey, ['session', token]);
}

/** Answers immediately, so that neither the answer nor its timing shows whether the address is known. */
export async function requestLink(ctx: Context, dependencies: PageDependencies): Promise<void> {
  await ctx.state.spend('signIns', '');
  sendLink(ctx, dependencies).catch((err: unknown) =>
    dependencies.log.warn({ err, requestId: ctx.state.requestId }, 'a link to sign in could not be sent'),
  );
  leadTo(ctx, signInPath, 'link-requested');
}

async function sendLink(ctx: Context, dependencies: PageDependencies): Promise<void> {
  const { config, eventStore, executeSession, runtime } = dependencies;
  const { email = '' } = readForm(ctx);
  const account = await loadAccount(eventStore, userIdOf(config.transactionIdKey, email.trim()));
  if (!account || !maySignIn(account)) return;
  await ctx.state.spend('links', account.id);
  const token = runtime.randomBytes(16).toString('base64url');
  const now = runtime.now();
  const [at, userId] = [now.toISOString(), account.id];
  const expiresAt = new Date(now.getTime() + linkLifetimeMs).toISOString();
  const command = { type: 'IssueSignInLink', at, userId, expiresAt } as const;
  const stream = sessionStream(sessionIdOf(config.transactionIdKey, token));
  await executeSession(stream, command, causeOf(ctx, 'anybody'), { creates: true });
  const url = `${config.baseUrl}${signInPath}/${token}`;
  // A random id, because it appears in file names and headers, where the token must not.
  const id = `sign-in-${runtime.uuid()}`;
  const message = linkEmail({ lang: languageOf(ctx), name: account.name, url });
  await sendEmail({ id, to: account.email, ...message }, dependencies);
}

async function sendEmail(mail: Mail, { closing, log, mailer, runtime }: PageDependencies): Promise<void> {
  for (const pauseMs of [...pausesMs, null]) {
    const until = runtime.timeout(sendWithinMs);
    const outcome = await mailer.send(mail, until);
    if (outcome.kind === 'sent') return;
    log.warn({ reason: outcome.reason }, 'a link to sign in could not be sent');
    // A server that is only slow may have taken the email, and would send a copy for each attempt.
    if (outcome.kind === 'refused' || until.aborted || pauseMs === null) return;
    await runtime.sleep(pauseMs, closing);
    if (closing.aborted) return;
  }
}
