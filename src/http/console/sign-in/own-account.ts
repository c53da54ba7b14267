/** /console/own-account: who is signed in, and their passkeys. */
import { passkeyUseFold, passkeyUseStream } from '../../../events/passkeys.ts';
import { userStream } from '../../../events/user.ts';
import { isMeant } from '../frame/confirm.ts';
import { readForm } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, staffCause } from '../frame/page.ts';

const path = '/console/own-account';

export const showOwnAccount: Page = async (ctx, { eventStore, passkeys, show }) => {
  const { staff } = ctx.state;
  const rows = staff.passkeys.map(async ({ id, name, registeredAt }) => {
    const last = await eventStore.loadLast(passkeyUseStream(staff.id, id));
    const usedAt = last && passkeyUseFold.read(last).data.at;
    return { id, name, registeredAt, usedAt, isCurrent: id === staff.session.passkey };
  });
  await show(ctx, 'sign-in/own-account.njk', {
    account: { name: staff.name, email: staff.email, role: staff.role, merchants: staff.merchants },
    rows: await Promise.all(rows),
    asked: passkeys.ask('register', staff.ticket.sessionId, staff),
  });
};

export const registerPasskey: Page = async (ctx, { passkeys }) => {
  const { staff } = ctx.state;
  await ctx.state.spend('rotations', `passkeys of ${staff.id}`);
  const { sessionId } = staff.ticket;
  const answer = { form: readForm(ctx), sessionId, isOpen: true, holder: staff, cause: staffCause(ctx) };
  await passkeys.take('register', answer);
  leadTo(ctx, path, 'passkey-registered');
};

/** Ends the sessions that were opened with it. */
export const removePasskey: Page = async (ctx, dependencies) => {
  const { config, passkeys, runtime } = dependencies;
  const { id: userId, passkeys: held, role } = ctx.state.staff;
  const keepsOne = config.passkeysRequired && role === 'admin';
  const { id = '' } = readForm(ctx);
  const name = held.find((each) => each.id === id)?.name ?? '';
  if (!(await isMeant(ctx, dependencies, 'removePasskey', { name, backUrl: path }))) return;
  const command = { type: 'RemovePasskeys', at: runtime.now().toISOString(), id, keepsOne } as const;
  await passkeys.execute(userStream(userId), command, staffCause(ctx));
  leadTo(ctx, path, 'passkey-removed');
};
