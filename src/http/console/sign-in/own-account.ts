/** /console/own-account: who is signed in, and their passkeys. */
import { readPasskeyUse } from '../../../events/codec.ts';
import { passkeyUseStream } from '../../../events/passkeys.ts';
import { userStream } from '../../../events/user.ts';
import { HttpProblem } from '../../server/context.ts';
import { readForm } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, type PageDependencies, staffCause } from '../frame/page.ts';
import { type Holder, loadAccountWithPasskeys, type StaffContext } from '../frame/session.ts';
import { texts } from '../texts.ts';

const path = '/console/own-account';

export const showOwnAccount: Page = async (ctx, dependencies) => {
  const { eventStore, passkeys, show } = dependencies;
  const { session, ticket } = ctx.state.staff;
  const holder = await loadOwn(ctx, dependencies);
  const rows = holder.passkeys.map(async ({ id, name, registeredAt }) => {
    const last = await eventStore.loadLast(passkeyUseStream(holder.account.id, id));
    const usedAt = last ? readPasskeyUse(last).data.at : null;
    return { id, name, registeredAt, usedAt, isCurrent: id === session.passkey };
  });
  await show(ctx, 'sign-in/own-account.njk', {
    title: 'Your account',
    words: texts.passkeys,
    account: holder.account,
    rows: await Promise.all(rows),
    demand: { create: await passkeys.askForNew(ticket.sessionId, holder) },
  });
};

export const registerPasskey: Page = async (ctx, dependencies) => {
  const { name, response } = readForm(ctx);
  const holder = await loadOwn(ctx, dependencies);
  const { sessionId } = ctx.state.staff.ticket;
  await dependencies.passkeys.register({ sessionId, holder, cause: staffCause(ctx), response }, name);
  leadTo(ctx, path, 'passkey-registered');
};

/** Ends the sessions that were opened with it. */
export const removePasskey: Page = async (ctx, { config, passkeys, runtime }) => {
  const { id: userId, role } = ctx.state.staff;
  const command = {
    type: 'RemovePasskey',
    at: runtime.now().toISOString(),
    id: readForm(ctx).id ?? '',
    keepsOne: config.passkeysRequired && role === 'admin',
  } as const;
  await passkeys.execute(userStream(userId), command, staffCause(ctx));
  leadTo(ctx, path, 'passkey-removed');
};

async function loadOwn(ctx: StaffContext, { eventStore }: PageDependencies): Promise<Holder> {
  const holder = await loadAccountWithPasskeys(eventStore, ctx.state.staff.id);
  if (!holder) throw new HttpProblem(404, 'There is no such user');
  return holder;
}
